package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestCodexCommand(t *testing.T) {
	settings := []string{
		"-c", "allow_login_shell=false", "-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false", "-c", "features.apps=false", "-c", "features.plugins=false",
		"-c", "shell_environment_policy.ignore_default_excludes=true", "-c", `shell_environment_policy.exclude=["CODEX_API_KEY","CODEX_ACCESS_TOKEN"]`,
	}
	for _, c := range []struct {
		name string
		call Call
		want []string
	}{
		{"by its name", Call{}, slices.Concat([]string{"HOOK", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access"}, settings, []string{"--json", "-"})},
		{"with a provider", Call{Args: []string{"-c", `model_provider="x"`}, Launch: ledger.Launch{Model: "gpt-x", Effort: "high"}},
			slices.Concat([]string{"-c", `model_provider="x"`, "HOOK", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access"}, settings, []string{"--json", "--model", "gpt-x", "-c", `model_reasoning_effort="high"`, "-"})},
		{"a whole command", Call{Args: []string{"exec", "--json", "-"}, Launch: ledger.Launch{Model: "gpt-x"}}, []string{"exec", "--json", "-", "HOOK", "--model", "gpt-x"}},
		{"a whole command without a stream", Call{Args: []string{"exec", "--oss"}}, []string{"exec", "--oss", "HOOK", "--json", "-"}},
		{"with tools of MCP", Call{Args: []string{"exec", "--json", "-"}, MCP: true, Hat: "/it's/hat"},
			[]string{"exec", "--json", "-", "-c", `mcp_servers.nightporter={command="/it's/hat",args=["mcp"],env_vars=["HAT_SOCKET","HAT_TOKEN","HAT_TASK"]}`, "HOOK"}},
	} {
		hook, err := codexStopHook(c.call)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(c.want, "HOOK")
		got, stdin, err := codex.CommandLine(c.call)
		if d := cmp.Diff(slices.Concat(c.want[:at], hook, c.want[at+1:]), got); d != "" || !stdin || err != nil {
			t.Errorf("%s: stdin %v, %v, -want +got:\n%s", c.name, stdin, err, d)
		}
	}
}

// TestCodexHookHash: the program trusts what has the hash that it tells of a hook
// (hooks/list of its app-server).
func TestCodexHookHash(t *testing.T) {
	const told = "sha256:6980480c0e8ed2ed390e9007eed6563d340275e101823b3578ff08b08d48c42b"
	if got, err := codexHookHash("hat hook stop"); got != told || err != nil {
		t.Errorf("%s, %v, want %s", got, err, told)
	}
}

// TestCodexRead reads output of possible other releases and of rare events.
func TestCodexRead(t *testing.T) {
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	self := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended}
	said := `{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Done."}}` + "\n"
	usage := func(fields string) string { return `{"type":"turn.completed","usage":{` + fields + `}}` + "\n" }
	full := usage(`"input_tokens":100,"cached_input_tokens":90,"output_tokens":5,"reasoning_output_tokens":5`)
	retry := `{"type":"error","message":"Reconnecting... 2/5 (unexpected status 503 Service Unavailable)"}` + "\n"
	for _, c := range []struct {
		name, stream string
		exit         ledger.Exit
		want         Verdict
	}{
		{"a later turn counts all", said + usage(`"input_tokens":1,"output_tokens":1`) + full, self, Verdict{Turns: 1, Tokens: 105, CostUSD: -1}},
		{"a turn that has begun", said + full + `{"type":"turn.started"}` + "\n", self, Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"fewer after a later turn", said + full + usage(`"input_tokens":1,"output_tokens":1`), self, Verdict{Uncounted: true, Turns: 1, Tokens: -1, CostUSD: -1}},
		{"a new kind of tokens", said + usage(`"input_tokens":100,"output_tokens":5,"tool_tokens":7`), self, Verdict{Uncounted: true, Turns: 1, Tokens: -1, CostUSD: -1}},
		{"cached tokens apart", said + usage(`"input_tokens":100,"cached_input_tokens":9000,"output_tokens":5`), self, Verdict{Uncounted: true, Turns: 1, Tokens: -1, CostUSD: -1}},
		{"no usage", said + `{"type":"turn.completed"}` + "\n", self, Verdict{Uncounted: true, Turns: 1, Tokens: -1, CostUSD: -1}},
		{"usage in words", said + `{"type":"turn.completed","usage":"much"}` + "\n", self, Verdict{Uncounted: true, Turns: 1, Tokens: -1, CostUSD: -1}},
		{"a provider that counts nothing", said + usage(`"input_tokens":0,"output_tokens":0`), self, Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"subagents", `{"type":"item.completed","item":{"id":"i0","type":"collab_tool_call","tool":"spawn_agent"}}` + "\n" + said + full, self, Verdict{Turns: 2, Tokens: -1, CostUSD: -1}},
		{"trying again", said + retry, ledger.Exit{Reason: ledger.ExitStall, Code: -1, Ended: ended},
			Verdict{Failure: ledger.FailureNetwork, Text: "Reconnecting... 2/5 (unexpected status 503 Service Unavailable)", Turns: 1, Tokens: -1, CostUSD: -1}},
		{"trying again, ended by nightporter", said + retry, ledger.Exit{Reason: ledger.ExitAsked, Code: -1, Ended: ended}, Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"tried again", retry + said + full, self, Verdict{Turns: 1, Tokens: 105, CostUSD: -1}},
		{"logged out", `{"type":"turn.failed","error":{"message":"Your access token could not be refreshed because your refresh token was revoked. Please log out and sign in again."}}`, self,
			Verdict{Failure: ledger.FailureAuth, Text: "Your access token could not be refreshed because your refresh token was revoked. Please log out and sign in again.", Tokens: -1, CostUSD: -1}},
		{"limit of a model", `{"type":"turn.failed","error":{"message":"You’ve hit your usage limit for gpt-x. Switch to another model now, or try again at 5:00 PM (UTC)."}}`, self,
			Verdict{Failure: ledger.FailureLimit, Until: ended.Add(time.Hour), Text: "You’ve hit your usage limit for gpt-x. Switch to another model now, or try again at 5:00 PM (UTC).", Tokens: -1, CostUSD: -1}},
		{"a line longer than is read", `{"type":"item.completed","item":{"id":"i0","type":"command_execution","aggregated_output":"` + strings.Repeat("x", longestLine) + `"}}` + "\n" + said + full, self, Verdict{Turns: 2, Tokens: 105, CostUSD: -1}},
	} {
		if d := cmp.Diff(c.want, codex.Judge(strings.NewReader(c.stream), c.exit), withoutKinds); d != "" {
			t.Errorf("%s, -want +got:\n%s", c.name, d)
		}
	}
}

// madeCodexLogin returns an auth.json in Codex's format.
func madeCodexLogin(access, refresh, refreshed string) string {
	return `{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"i","access_token":"` + access + `","refresh_token":"` + refresh + `","account_id":"acc"},"last_refresh":"` + refreshed + `"}`
}

func TestCodexFromHome(t *testing.T) {
	whole := madeCodexLogin("a", "r", "2026-11-20T10:00:00.5Z")
	for _, c := range []struct {
		name, file string
		kind, want string
	}{
		{"account", whole, codexAccount, whole},
		{"account with other things", strings.Replace(whole, "{", `{"agent_identity":{"x":1},`, 1), codexAccount, whole},
		{"key", `{"OPENAI_API_KEY":"sk-madeup"}`, codexKey, "sk-madeup\n"},
		{"nothing there", "", "", "does not exist"},
		{"no JSON", "{", "", "not a login"},
		{"neither", `{"OPENAI_API_KEY":null,"tokens":null}`, "", "neither an account nor a key"},
	} {
		home := t.TempDir()
		if c.file != "" {
			if err := os.Mkdir(filepath.Join(home, ".codex"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, ".codex", "auth.json"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		files, note, err := codexFromHome(home, time.Time{})
		if c.kind == "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || len(files) != 1 || string(files[c.kind]) != c.want || strings.Contains(note, "madeup") {
			t.Errorf("%s: %s, %q, %v", c.name, files, note, err)
		}
	}
}

func TestCodexFromToken(t *testing.T) {
	for text, ok := range map[string]bool{"sk-proj-abc\n": true, "": false, "sk-abc sk-def": false, "hello": false, "sk-ant-abc": false, "sk-" + strings.Repeat("x", 5000): false} {
		files, _, err := codexFromToken([]byte(text))
		if (err == nil) != ok || ok && string(files[codexKey]) != strings.TrimSpace(text)+"\n" {
			t.Errorf("%.30q: %s, %v", text, files, err)
		}
		if err != nil && strings.Contains(err.Error(), "abc") {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}

func TestCodexRenewed(t *testing.T) {
	began := madeCodexLogin("a", "r", "2026-11-20T10:00:00Z")
	for left, want := range map[string]bool{
		madeCodexLogin("b", "s", "2026-11-20T11:00:00Z"): true,
		began: false,
		madeCodexLogin("b", "s", "2026-11-20T09:00:00Z"): false,
		madeCodexLogin("b", "", "2026-11-20T11:00:00Z"):  false,
		madeCodexLogin("b", "s", "2999-11-20T11:00:00Z"): false, // no later one would count as newer
		"{":  false,
		"{}": false,
	} {
		if got := codexRenewed([]byte(began), []byte(left)); (got != nil) != want || want && string(got) != left {
			t.Errorf("%s: %s", left, got)
		}
	}
}

func TestCodexOwnModels(t *testing.T) {
	for args, want := range map[string]bool{
		`-c model_provider="x"`: true, "--oss": true, "--profile work": true, `--config=model_provider="x"`: true,
		"": false, `-c model="x"`: false, "exec --json -": false,
	} {
		if got := codexOwnModels(strings.Fields(args)); got != want {
			t.Errorf("%q: %v", args, got)
		}
	}
}
