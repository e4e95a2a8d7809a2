package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nightporter/nightporter/loop/ledger"
)

// setupSite makes a folder with two repositories and a config's other
// surroundings, and changes to it.
func setupSite(t *testing.T) string {
	t.Helper()
	return writeFiles(t, []txtar.File{
		{Name: "shop/.git/HEAD", Data: []byte("ref: refs/heads/main\n")},
		{Name: "blog/.git/HEAD", Data: []byte("ref: refs/heads/main\n")},
		{Name: "blog/src/a.go"},
		{Name: "telegram.token", Data: []byte("t\n")},
		{Name: "github.token", Data: []byte("t\n")},
		{Name: "gitea.token", Data: []byte("t\n")},
		{Name: "slack-app.token", Data: []byte("t\n")},
		{Name: "secrets/slack-bot.token", Data: []byte("t\n")},
		{Name: "mine.env", Data: []byte("KEY=v\n")},
		{Name: "hats/README.md"},
		{Name: "patterns/.hidden.toml", Data: []byte("no pattern")},
	})
}

// setupFullExample writes the example that uses every key.
func setupFullExample(t *testing.T) string {
	t.Helper()
	from, err := filepath.Abs("testdata/whole")
	if err != nil {
		t.Fatal(err)
	}
	dir := setupSite(t)
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		write(t, filepath.Join(dir, rel), string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "setup-home"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T) *Config {
	t.Helper()
	cfg, err := Load("nightporter.toml")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func ptr[T any](v T) *T { return &v }

// TestSpecExample loads a configuration with the keys that scripts rely on
// (docs/spec 17).
func TestSpecExample(t *testing.T) {
	dir := setupSite(t)
	write(t, dir+"/slack-bot.token", "t\n")
	if err := os.Chmod(dir+"/slack-bot.token", 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/nightporter.toml", `# nightporter.toml
timezone = "Europe/Berlin"
max_sessions = 1

[telegram]
token_file = "telegram.token"          # or the systemd credential telegram-token
api = "https://api.telegram.org"

[slack]
app_token_file = "slack-app.token"
bot_token_file = "slack-bot.token"
api = "https://slack.com/api/"

[digest]
at = "07:30"
quiet = "23:00-07:00"

[agents.mine]
command = ["./my-agent", "--fast"]

[[project]]
name = "shop"
repo = "`+dir+`/shop"
source = "plan:.agents/plans/in-progress/checkout.md"
profile = "overnight"
pattern = "plan-build-review"
agent = "claude"
setup = ["npm ci"]
verify = ["npm test"]
protected = ["main"]
push = "never"
`)
	want := &Config{
		Timezone: "Europe/Berlin", MaxSessions: ptr(1),
		Telegram: &Telegram{TokenFile: dir + "/telegram.token", API: "https://api.telegram.org"},
		Slack:    &Slack{AppTokenFile: dir + "/slack-app.token", BotTokenFile: dir + "/slack-bot.token", API: "https://slack.com/api/"},
		Digest:   Digest{At: Clock{true, 7, 30}, Quiet: Hours{Clock{true, 23, 0}, Clock{true, 7, 0}}},
		Agents:   map[string]Agent{"mine": {Command: []string{dir + "/my-agent", "--fast"}}},
		Projects: []Project{{
			Name: "shop", Repo: dir + "/shop", Source: Source{"plan", ".agents/plans/in-progress/checkout.md"},
			Profile: "overnight", Pattern: "plan-build-review", Agent: "claude", Setup: []string{"npm ci"},
			Verify: []Verify{{Run: "npm test"}}, Protected: []string{"main"}, Push: "never",
		}},
		File: dir + "/nightporter.toml",
	}
	if d := cmp.Diff(want, load(t), cmpopts.IgnoreUnexported(Config{}, Project{})); d != "" {
		t.Errorf("config (-want +got):\n%s", d)
	}
}

func TestWhole(t *testing.T) {
	dir := setupFullExample(t)
	want := &Config{
		Timezone: "Europe/Berlin", MaxSessions: ptr(3), MaxLoad: 6.5, Boundary: "required", SessionUser: "65533",
		InhibitSleep:    new(false),
		Transcribe:      []string{dir + "/words.sh", "--language", "de"},
		QuestionTimeout: QuestionTimeout{After: ledger.Duration(45 * time.Minute), Then: "pause"},
		Telegram:        &Telegram{TokenFile: dir + "/telegram.token", API: "http://127.0.0.1:8081"},
		Slack:           &Slack{AppTokenFile: dir + "/slack-app.token", BotTokenFile: dir + "/secrets/slack-bot.token", API: "https://slack.example.com/api/"},
		GitHub:          &Forge{TokenFile: dir + "/github.token", API: "https://github.example.com/api/v3/"},
		Gitea:           &Forge{TokenFile: dir + "/gitea.token", API: "https://git.example.com/"},
		Retention:       Retention{Sessions: 21, Messages: 60, Effects: 45, Inputs: 7, CacheSize: 1.5e12, Backups: ptr(5)},
		Digest:          Digest{At: Clock{true, 6, 45}, Weekly: WeekTime{time.Sunday, Clock{true, 18, 30}}, Quiet: Hours{Clock{true, 22, 30}, Clock{true, 6, 30}}, Urgent: []string{"standstill", "question"}},
		Budget:          Budget{USDDay: 40, TokensDay: 90000000},
		Limits:          Limits{Memory: Memory{Set: true, Bytes: 8e9}, Processes: ptr(2000), Files: ptr(20000)},
		Agents: map[string]Agent{
			"mine": {
				Command: []string{dir + "/my-agent", "--fast"}, MCP: true, EventBlock: true, Terminal: true, Prompt: "file", Output: "claude", EnvFile: dir + "/mine.env",
				PassEnv: []string{"HTTPS_PROXY", "GOPROXY"}, USDEstimate: 0.75, Fallback: Words{"codex", "claude"}, Reserve: 0.2,
				Tiers: &Tiers{Strong: "big-1", Fast: "small-1", Light: "tiny-1"}, CoAuthor: ptr("Mine <mine@example.com>"), Network: "none", Hosts: []string{"models.example.com"}, MaxSessions: ptr(2),
			},
			"codex": {EnvFile: dir + "/mine.env"},
		},
		Projects: []Project{{
			Name: "shop", Repo: dir + "/shop", Source: Source{"plan", ".agents/plans/in-progress/checkout.md"},
			Profile: "overnight", Pattern: "quick", Agent: "mine", Setup: []string{"npm ci"},
			SetupEnvFile: dir + "/mine.env", SetupHome: dir + "/setup-home", VerifyEnvFile: dir + "/mine.env", PassEnv: []string{"HTTPS_PROXY"}, RoomFiles: []string{".env", "config/*.local"},
			Verify:     []Verify{{Run: "npm test"}, {"npm run e2e", "final", ledger.Duration(20 * time.Minute), true}},
			Screenshot: &Screenshot{Run: "npm start", URL: "http://127.0.0.1:3000/", Wait: ledger.Duration(30 * time.Second)},
			Base:       "develop", Remote: "upstream", Forge: "gitea", WatchPR: "night", PR: PR{Per: "task", Draft: true, Labels: []string{"night"}, Reviewers: []string{"mira"}}, Allow: []string{"npm publish"}, Protected: []string{"main", "release/*"}, Push: "end", OnBlocked: "stop", Unproved: "allow", Proof: "checks",
			Queue: "each", Order: "score", Tests: []string{"checks/**"}, Shared: []string{"/srv/notes"},
			MaxTasks: ptr(7), MaxIterations: ptr(70), MaxWaves: ptr(2), MaxNewFiles: ptr(5000), Batch: ptr(3), Parallel: ptr(4), Domains: []string{"shop.example.com"}, StaleClaim: ledger.Duration(36 * time.Hour), Start: "0 22 * * 1-5", Until: Clock{true, 7, 0},
			Read: []string{"/usr/share/dict", dir + "/shared"}, Cache: []string{dir + "/caches/npm"},
			Network: "none", SetupNetwork: "ports", VerifyNetwork: "none", Ports: []int{443, 8443},
			Hosts: []string{"api.example.com", "*.example.com:443", "git.example.com=10.0.0.5"}, ReadOnlyHosts: []string{"packages.example.com"}, Services: []string{"127.0.0.1:5432"},
			Layout:       Layout{[]string{"src/**", "test/**"}},
			CommitStatus: true, CloseIssues: new(false), Learn: new(false), TrustRepo: true, Hooks: true, Sign: true, Consensus: true, PlanApproval: true, ReplanAfter: 2, AllowMerge: true,
			TelegramTopic: Topic{Chat: -1001234567890, Thread: 42}, SlackChannel: "C0123456",
			Cloud:  &Cloud{Agent: "copilot", Every: ledger.Duration(15 * time.Minute), State: dir + "/shop/state/.docs-state.json", Ralph: "docs", Remote: "upstream", API: "https://github.example.com/api/v3/", TokenFile: dir + "/mine.env"},
			Budget: ProjectBudget{15, 4.5, 1.25, 5000000},
			Hat:    map[string]HatOverride{"builder": {Agent: "codex", Model: "gpt-x", Effort: "high", Escalate: ptr(true), Fallback: Words{"claude"}}},
		}, {
			Name: "blog", Repo: dir + "/blog", Source: Source{"bugs", "forge:bug"}, MaxTasks: ptr(0), Until: Clock{true, 23, 30}, Start: "auto", Screenshot: &Screenshot{Command: "make picture"},
			Hat: map[string]HatOverride{"reviewer": {Model: "strong"}},
		}, {
			Name: "knots", Repo: dir + "/blog", Source: Source{"beads", ".beads/issues.jsonl"}, BdWrite: true,
		}},
		Bugs: &Bugs{Listen: "127.0.0.1:8787", TokenFile: dir + "/mine.env", Project: "shop"},
		Hooks: []Hook{
			{On: []string{"task.done", "run.ended", "alive"}, Post: "https://example.com/hooks/4711", Project: "shop"},
			{On: []string{"question.asked"}, Run: []string{"/bin/sh", "-c", "cat >/dev/null"}},
		},
		File: dir + "/nightporter.toml",
	}
	if d := cmp.Diff(want, load(t), cmpopts.IgnoreUnexported(Config{}, Project{})); d != "" {
		t.Errorf("config (-want +got):\n%s", d)
	}
}

// TestFullExampleUsesEveryKey fails when a key is added that the example does
// not use.
func TestFullExampleUsesEveryKey(t *testing.T) {
	for file, root := range map[string]reflect.Type{
		"nightporter.toml":   reflect.TypeFor[Config](),
		"hats/reviewer.toml": reflect.TypeFor[hatFile](),
	} {
		doc, problems := readDocument(filepath.Join("testdata/whole", file), maxConfigBytes)
		if doc == nil {
			t.Fatal(problems)
		}
		var walk func(typ reflect.Type, path string)
		walk = func(typ reflect.Type, path string) {
			for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
				if typ.Kind() != reflect.Pointer {
					path += "/*"
				}
				typ = typ.Elem()
			}
			if typ.Kind() != reflect.Struct || reflect.PointerTo(typ).Implements(reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()) {
				return
			}
			for key, f := range fieldsOf(typ) {
				below := strings.TrimPrefix(path+"/"+key, "/")
				found := false
				for at := range doc.keys() {
					if ok, err := filepath.Match(below, strings.ReplaceAll(at, "\x00", "/")); err == nil && ok {
						found = true
					}
				}
				if !found {
					t.Errorf("%s lacks %s", file, below)
				}
				walk(f.Type, below)
			}
		}
		walk(root, "")
	}
}

func TestShortForms(t *testing.T) {
	dir := setupSite(t)
	for text, want := range map[string]QuestionTimeout{
		`question_timeout = "10m"`:                 {After: ledger.Duration(10 * time.Minute)},
		`question_timeout = "abort"`:               {Then: "abort"},
		`question_timeout = { then = "continue" }`: {Then: "continue"},
	} {
		write(t, dir+"/nightporter.toml", text+"\n")
		if got := load(t).QuestionTimeout; got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	write(t, dir+"/nightporter.toml", "question_timeout = \"abrot\"\n")
	if _, err := Load("nightporter.toml"); err == nil || !strings.Contains(err.Error(), `meant "abort"?`) {
		t.Errorf("abrot: %v", err)
	}
	write(t, dir+"/nightporter.toml", "\ufeffmax_sessions = 2\r\n") // with a byte order mark, as some editors save it
	if got := load(t).Sessions(ledger.Settings{}); got != 2 {
		t.Errorf("with a byte order mark: %d", got)
	}
}

// TestCredential: a systemd credential replaces the token file that the config
// does not name.
func TestCredential(t *testing.T) {
	dir := setupSite(t)
	write(t, dir+"/creds/telegram-token", "t") // accepted with any mode, because systemd protects it
	t.Setenv("CREDENTIALS_DIRECTORY", dir+"/creds")
	write(t, dir+"/nightporter.toml", "[telegram]\n")
	if got := load(t).Telegram.TokenFile; got != dir+"/creds/telegram-token" {
		t.Errorf("token file %q", got)
	}
	write(t, dir+"/nightporter.toml", "[telegram]\ntoken_file = \"telegram.token\"\n")
	if got := load(t).Telegram.TokenFile; got != dir+"/telegram.token" {
		t.Errorf("named token file %q", got)
	}
}

// TestTokenModes: nobody but the owner may have access to a token, not even the
// group.
func TestTokenModes(t *testing.T) {
	dir := setupSite(t)
	write(t, dir+"/nightporter.toml", "[telegram]\n")
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o620: false} {
		if err := os.Chmod(dir+"/telegram.token", mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Load("nightporter.toml"); (err == nil) != ok {
			t.Errorf("%#o: %v", mode, err)
		}
	}
}

// TestNoTokenIsShown: no message shows any part of a token, wherever a person
// put it.
func TestNoTokenIsShown(t *testing.T) {
	dir := setupSite(t)
	for _, text := range []string{
		"[telegram]\ntoken = \"12345678:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc\"\n",
		"[telegram]\ntoken_file = \"12345678:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc\"\n",
		"[telegram]\ntoken = AAEhBOweik6ad9r\n",
		"[telegram]\n12345678:AAEhBOweik6ad9r\n",
		"[slack]\nbot_token_file = \"xoxb-AAEhBOweik6ad9r\"\n",
		"agents = { x = { api_key = \"AAEhBOweik6ad9r\", command = [] } }\n",
		"password = \"AAEhBOweik6ad9r\"\n",
		"[agents.x]\ncommand = [\"a\"]\nfallback = \"sk-AAEhBOweik6ad9r\"\n",
		"[[project]]\nname = \"ghp_AAEhBOweik6ad9r\"\n",
	} {
		write(t, dir+"/nightporter.toml", text)
		_, err := Load("nightporter.toml")
		var bad *Error
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", text, err)
		} else if s := strings.ToLower(err.Error()); strings.Contains(s, "aaeh") || strings.Contains(s, "ad9r") || strings.Contains(s, "12345678") {
			t.Errorf("%s is shown:\n%s", text, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, name := range []string{"testdata/whole/nightporter.toml", "testdata/whole/hats/reviewer.toml", "testdata/whole/patterns/quick.toml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	cases, _ := filepath.Glob("testdata/bad/*.txtar")
	for _, name := range cases {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range ar.Files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, problems := parseDocument("f.toml", data)
		if doc != nil {
			cfg := &Config{}
			c := &checker{doc: doc, cfg: cfg}
			problems = bind(doc, cfg)
			c.shared()
			c.agents()
			for i := range cfg.Projects {
				c.project(i)
			}
			_, _, hat := readHat(doc)
			_, p, pattern := readPattern(doc)
			problems = append(problems, c.problems...)
			problems = append(append(problems, hat...), append(pattern, p.check(catalogue{})...)...)
		}
		lines := strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")
		for _, p := range problems {
			if p.Line > len(lines) || p.Line > 0 && (p.Excerpt.Col < 1 || p.Excerpt.Len < 1 || strings.TrimSuffix(lines[p.Line-1], "\r") != p.Excerpt.Source) {
				t.Fatalf("%+v", p)
			}
			if s := p.String(); strings.Count(s, "\n") > 3 || strings.ContainsAny(s, "\r\x1b\x00") {
				t.Fatalf("breaks the frame: %q", s)
			}
		}
	})
}
