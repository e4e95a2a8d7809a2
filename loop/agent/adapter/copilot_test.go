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

func TestCopilotCommand(t *testing.T) {
	args, stdin, err := copilot.CommandLine(Call{Launch: ledger.Launch{Model: "m", Effort: "low"}})
	if err != nil || !stdin || args[0] != "--allow-all" || !slices.Contains(args, "--disable-builtin-mcps") || !slices.Contains(args, "--model=m") || !slices.Contains(args, "--reasoning-effort=low") {
		t.Errorf("%q, stdin %v, %v", args, stdin, err)
	}
	own, _, err := copilot.CommandLine(Call{Args: []string{"--allow-tool", "shell(git:*)", "--output-format=json"}})
	if d := cmp.Diff([]string{"--allow-tool", "shell(git:*)", "--output-format=json"}, own); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
}

// TestCopilotErrors reads the kinds of errors that the program's own schema has.
func TestCopilotErrors(t *testing.T) {
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		data  string
		want  ledger.FailureClass
		until time.Time
	}{
		{`"errorType":"quota","message":"You have no quota left this month."`, ledger.FailureLimit, time.Time{}},
		{`"errorType":"quota","statusCode":402,"message":"You have no quota left."`, ledger.FailureLimit, time.Time{}},
		{`"errorType":"rate_limit","errorCode":"user_weekly_rate_limited","statusCode":429,"message":"You are rate limited. Please try again in 3 days."`, ledger.FailureLimit, ended.Add(72 * time.Hour)},
		{`"errorType":"rate_limit","errorCode":"user_global_rate_limited","message":"Too many requests. Try again in 2 hours."`, ledger.FailureLimit, ended.Add(2 * time.Hour)},
		{`"errorType":"rate_limit","message":"Slow down."`, ledger.FailureNetwork, time.Time{}},
		{`"errorType":"authentication","message":"Who are you?"`, ledger.FailureAuth, time.Time{}},
		{`"errorType":"policy","message":"Not here."`, ledger.FailureAuth, time.Time{}},
		{`"errorType":"context_limit","statusCode":413,"message":"Too long."`, "", time.Time{}},
		{`"errorType":"query","statusCode":502,"message":"Bad gateway"`, ledger.FailureNetwork, time.Time{}},
		{`"errorType":["new"],"message":{"text":"?"}`, "", time.Time{}},
		{``, "", time.Time{}},
	} {
		v := judge(&copilot, []byte(`{"type":"session.error","data":{`+c.data+`}}`+"\n"+`{"type":"result","exitCode":1}`), ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended})
		if v.Failure != c.want || !v.Until.Equal(c.until) || v.Tokens != -1 || v.CostUSD != -1 {
			t.Errorf("%s: %+v", c.data, v)
		}
	}
}

// TestCopilotRetry: a session that was ended while its program asked again says why.
func TestCopilotRetry(t *testing.T) {
	stream := []byte(`{"type":"model.call_failure","data":{"statusCode":429,"errorMessage":"{\"message\":\"Rate limit reached\"}"}}`)
	if v := judge(&copilot, stream, ledger.Exit{Reason: ledger.ExitStall, Code: -1}); v.Failure != ledger.FailureNetwork {
		t.Errorf("stalled: %+v", v)
	}
	if v := judge(&copilot, stream, ledger.Exit{Reason: ledger.ExitAsked, Code: -1}); v.Failure != "" {
		t.Errorf("ended by nightporter: %+v", v)
	}
}

func TestCopilotLogin(t *testing.T) {
	for token, ok := range map[string]bool{"github_pat_x": true, "gho_x": true, "ghp_x": false, "": false, "a b": false, "x": false} {
		files, _, err := copilotFromToken([]byte(token + "\n"))
		if (err == nil) != ok || ok && string(files[copilotToken]) != token+"\n" {
			t.Errorf("%q: %q, %v", token, files, err)
		}
	}
	home := t.TempDir()
	if _, _, err := copilotFromHome(home, time.Time{}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without a file: %v", err)
	}
	path := filepath.Join(home, ".copilot", "config.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]string{
		`{"copilotTokens":{"https://github.com:mira":"gho_a"}}`:  "gho_a\n",
		`{"copilot_tokens":{"https://github.com:mira":"gho_b"}}`: "gho_b\n",
		`{"copilotTokens":{"x":"two words"}}`:                    "",
		`{"loggedInUsers":[]}`:                                   "",
		`{`:                                                      "",
	} {
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		files, _, err := copilotFromHome(home, time.Time{})
		if string(files[copilotToken]) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", config, files, err)
		}
	}
}
