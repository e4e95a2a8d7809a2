package propose_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/loop/ledger"
)

// load writes text to a configuration file and loads that.
func load(t *testing.T, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nightporter.toml")
	for name, content := range map[string]string{file: text, filepath.Join(filepath.Dir(file), "telegram.token"): "1:a"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatalf("it does not load:\n%v\n\n%s", err, text)
	}
	return cfg
}

// repository makes a folder that nightporter accepts as a repository.
func repository(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func proposal(t *testing.T, repo string) propose.Project {
	t.Helper()
	return propose.Project{
		Name: "shop", Repo: repo, Source: "plan:.agents/plans/in-progress/a.md", SourceWhy: "2 tasks.", Others: []string{"plan:b.md (1 task)"},
		Agent: "claude", AgentWhy: "Found.", Protected: []string{"main", `odd"name`},
		Found: propose.Found{
			Tests: []string{"qa/**"},
			Setup: []propose.Command{{Run: "npm ci", Why: "package-lock.json"}},
			Verify: []propose.Command{
				{Run: `go test $(go list -f '{{.Dir}}/...' -m)`, Why: "go.work"},
				{Run: "npm run lint", When: "code", Why: "package.json"},
				{Run: "make test", Why: "Makefile", Off: "not now"},
			},
			Agents: []string{"AGENTS.md"},
		},
		Network: propose.Network{Mode: "none", Reached: []string{"for claude: api.anthropic.com"}},
	}
}

// TestFileLoads checks that a proposal loads with exactly the proposed values.
func TestFileLoads(t *testing.T) {
	p := proposal(t, repository(t, "shop"))
	text := propose.File(propose.Global{Timezone: "Europe/Berlin", ZoneWhy: "The host's.", Folder: "/etc/nightporter"}, p)
	cfg := load(t, text)
	if cfg.Timezone != "Europe/Berlin" || cfg.Telegram != nil || len(cfg.Agents) != 0 {
		t.Errorf("timezone %q, telegram %v, agents %v", cfg.Timezone, cfg.Telegram, cfg.Agents)
	}
	s, err := cfg.Projects[0].Settings(cfg, config.Overrides{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	want := ledger.Settings{
		Project: "shop", Repo: p.Repo, Source: ledger.SourceRef{Kind: "plan", Path: ".agents/plans/in-progress/a.md"}, Profile: "overnight", Agent: "claude",
		Setup:     []ledger.Command{{Run: "npm ci"}},
		Verify:    []ledger.Command{{Run: `go test $(go list -f '{{.Dir}}/...' -m)`}, {Run: "npm run lint", When: "code"}},
		Protected: []string{"main", `odd"name`}, Push: "never", Tests: []string{"qa/**"},
		Network: ledger.NetworkRules{Mode: ledger.NetworkNone, Agents: map[string]ledger.AgentNetwork{"claude": {Hosts: cfg.AgentNetwork("claude").Hosts}}},
	}
	got := ledger.Settings{
		Project: s.Project, Repo: s.Repo, Source: s.Source, Profile: s.Profile, Agent: s.Agent,
		Setup: s.Setup, Verify: s.Verify, Protected: s.Protected, Push: s.Push, Tests: s.Tests, Network: s.Network,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, line := range []string{"# Also there: plan:b.md (1 task)", `  # "make test",`, "# Makefile: left out, not now", "# AGENTS.md may name others.", `# token_file = "telegram.token"`, "@BotFather"} {
		if !strings.Contains(text, line) {
			t.Errorf("it lacks %q:\n%s", line, text)
		}
	}
	// With the # taken away, the sections for the phone are right too.
	text = strings.NewReplacer("# [telegram]", "[telegram]", "# token_file", "token_file", "# [digest]", "[digest]", "# at =", "at =", "# quiet =", "quiet =").Replace(text)
	if cfg := load(t, text); cfg.Telegram == nil || cfg.Digest.At.String() != propose.UsualDigest || cfg.Digest.Quiet.String() != propose.UsualQuiet {
		t.Errorf("with a phone: %+v\n%s", cfg, text)
	}
}

// TestPhone checks that the sections of a phone are live in a new file and at the end of
// an existing one, each setting by itself.
func TestPhone(t *testing.T) {
	first := proposal(t, repository(t, "shop"))
	for _, c := range []propose.Phone{
		{TokenFile: "telegram.token", API: "http://127.0.0.1:8081", Digest: "06:45", Quiet: "22:00-06:00"},
		{TokenFile: "telegram.token", Quiet: "22:00-06:00"},
		{TokenFile: "telegram.token", Digest: "06:45"},
		{TokenFile: "telegram.token"},
	} {
		whole := propose.File(propose.Global{Timezone: "UTC", Folder: "/etc", Phone: c}, first)
		later := propose.File(propose.Global{Timezone: "UTC", Folder: "/etc"}, first) + "\n" + propose.Chat(c)
		for _, text := range []string{whole, later} {
			cfg := load(t, text)
			if cfg.Telegram == nil || filepath.Base(cfg.Telegram.TokenFile) != "telegram.token" || cfg.Telegram.API != c.API ||
				cfg.Digest.At.String() != c.Digest || cfg.Digest.Quiet.String() != c.Quiet {
				t.Errorf("%+v: %+v %+v\n%s", c, cfg.Telegram, cfg.Digest, text)
			}
		}
	}
}

// TestNothingFound: no zone, no commands, and it loads all the same.
func TestNothingFound(t *testing.T) {
	p := proposal(t, repository(t, "shop"))
	p.Found = propose.Found{Verify: []propose.Command{{Run: "x", Off: "no"}}}
	cfg := load(t, propose.File(propose.Global{}, p))
	if pr := cfg.Projects[0]; cfg.Timezone != "" || len(pr.Verify)+len(pr.Setup) != 0 {
		t.Errorf("%+v", cfg)
	}
}

// TestHostileNames: whatever files and folders are called, nothing of it
// becomes a setting.
func TestHostileNames(t *testing.T) {
	const evil = "x\n[agents.evil]\ncommand = [\"sh\"]\n# \r\u202e\u2028\x7f\x01\"\\ \U000e0001"
	p := proposal(t, repository(t, "a \"b\"\n[telegram]\n\u202e\\c\t'd'\U000e0001\x01"))
	want := p.Repo
	p.Others, p.SourceWhy, p.AgentWhy = []string{evil}, evil, evil
	for i := range p.Found.Verify {
		p.Found.Verify[i].Why, p.Found.Verify[i].Off = evil, evil
	}
	p.Found.Setup[0].Why = evil
	p.Found.Agents = []string{evil}
	p.Network = propose.Network{Mode: "none", Reached: []string{evil}}
	for name, text := range map[string]string{
		"file":  propose.File(propose.Global{Timezone: "UTC", ZoneWhy: evil, Folder: evil}, p),
		"block": propose.Block(p),
	} {
		cfg := load(t, text)
		if len(cfg.Agents) != 0 || cfg.Telegram != nil || len(cfg.Projects) != 1 || cfg.Projects[0].Repo != want || len(cfg.Projects[0].Verify) != 0 {
			t.Errorf("%s: %+v\n%s", name, cfg, text)
		}
	}
}

// TestNetwork: each proposal of a network loads as what it says.
func TestNetwork(t *testing.T) {
	p := proposal(t, repository(t, "shop"))
	for name, c := range map[string]struct {
		network propose.Network
		want    string
	}{
		"closed":       {propose.Network{Mode: "none", Reached: []string{"for npm, to read from: registry.npmjs.org"}}, "none"},
		"yours":        {propose.Network{Mode: "ports", Why: "Yours."}, "ports"},
		"open":         {propose.Network{Mode: "open", Why: "Yours."}, "open"},
		"not possible": {propose.Network{Why: "No user namespaces\nnetwork = \"none\""}, ""},
		"none":         {propose.Network{}, ""},
	} {
		p.Network = c.network
		text := propose.File(propose.Global{Timezone: "UTC"}, p)
		if got := load(t, text).Projects[0].Network; got != c.want && (c.want != "" || got != "open") {
			t.Errorf("%s: %q, want %q\n%s", name, got, c.want, text)
		}
	}
}

// TestBlockIsAppended: a block goes to the end of any other file.
func TestBlockIsAppended(t *testing.T) {
	first, second := proposal(t, repository(t, "shop")), proposal(t, repository(t, "blog"))
	second.Name = "blog"
	cfg := load(t, propose.File(propose.Global{Timezone: "UTC"}, first)+"\n"+propose.Block(second))
	if len(cfg.Projects) != 2 || cfg.Projects[1].Name != "blog" || cfg.Projects[1].Repo != second.Repo {
		t.Errorf("%+v", cfg.Projects)
	}
}
