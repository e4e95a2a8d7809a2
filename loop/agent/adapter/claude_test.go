package adapter

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestClaudeRead judges streams of the real program, which the e2e tests
// recorded (-claude.record).
func TestClaudeRead(t *testing.T) {
	ended := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	const cost, one = 0.00375, 1050 // cost in USD and tokens of one turn
	failed := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended}
	fine := ledger.Exit{Reason: ledger.ExitSelf, Ended: ended}
	type row struct {
		file string
		exit ledger.Exit
		want Verdict // Text is compared as a substring; a non-zero Until stands for any time
	}
	some := time.Unix(1, 0)
	none := func(turns int, tokens int64) Verdict {
		return Verdict{Turns: turns, Tokens: tokens, CostUSD: float64(turns) * cost}
	}
	bad := func(trouble ledger.FailureClass, turns int, text string) Verdict {
		v := none(turns, int64(turns)*one)
		v.Failure, v.Text = trouble, text
		return v
	}
	until := func(v Verdict) Verdict {
		v.Until = some
		return v
	}
	rows := []row{
		{"works-level3", fine, Verdict{Turns: 4, Tokens: 3*one + 118, CostUSD: 3*cost + 0.0004428}},
		{"stophook-heeds-true", fine, none(3, 3*one)},
		{"stophook-heeds-false", fine, none(2, 2*one)},
		{"background-after-the-event", ledger.Exit{Reason: ledger.ExitAsked, Code: 143, Ended: ended}, none(3, 3*one)},
		{"background-without-one", ledger.Exit{Reason: ledger.ExitWall, Code: 143, Ended: ended}, bad("", 3, "background command")},
		{"denied-rm-rf-keep", fine, bad("", 3, "1 tool call was denied: Bash")},
		{"denied-write-out-of-scope", fine, none(5, 5*one)},
		{"faults-429-once-at-turn-2", fine, none(3, 3*one)},
		{"faults-stream-cut-once-at-turn-2", fine, none(3, 3*one)},
		{"faults-prompt-too-long-at-turn-2", failed, bad("", 1, "Prompt is too long")},
	}
	for _, step := range []int{1, 2} {
		for _, f := range []struct {
			name string
			want Verdict
		}{
			{"429-without-reset", bad(ledger.FailureNetwork, step-1, "429")},
			{"five-hour-limit-with-reset", until(bad(ledger.FailureLimit, step-1, "hit your 5-hour limit"))},
			{"weekly-limit-with-reset", until(bad(ledger.FailureLimit, step-1, "hit your weekly limit"))},
			{"529", bad(ledger.FailureNetwork, step-1, "529")},
			{"500", bad(ledger.FailureNetwork, step-1, "500")},
			{"connection-reset", bad(ledger.FailureNetwork, step-1, "ECONNRESET")},
			{"server-hangs", bad(ledger.FailureNetwork, step-1, "timed out")},
			{"401", bad(ledger.FailureAuth, step-1, "Invalid API key")},
			{"401-with-a-token", bad(ledger.FailureAuth, step-1, "Not logged in")},
			{"no-credit", bad(ledger.FailureAuth, step-1, "Credit balance is too low")},
			{"unknown-model", bad(ledger.FailureAuth, step-1, "selected model")},
		} {
			rows = append(rows, row{fmt.Sprintf("faults-%s-at-turn-%d", f.name, step), failed, f.want})
		}
	}
	for _, r := range rows {
		t.Run(r.file, func(t *testing.T) {
			got := claude.Judge(open(t, r.file), r.exit)
			if !strings.Contains(got.Text, r.want.Text) || (got.Text == "") != (r.want.Text == "") {
				t.Errorf("text %q, want %q in it", got.Text, r.want.Text)
			}
			if got.Until.IsZero() != r.want.Until.IsZero() {
				t.Errorf("until %v", got.Until)
			}
			got.Text, got.Until, r.want.Text, r.want.Until = "", time.Time{}, "", time.Time{}
			near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
			got.Window, got.Windows = nil, nil // TestClaudeWindow
			if d := cmp.Diff(r.want, got, near, withoutKinds); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
	// A stream that is cut off gives the same verdict up to the cut.
	t.Run("without its result", func(t *testing.T) {
		data, err := io.ReadAll(open(t, "works-level3"))
		if err != nil {
			t.Fatal(err)
		}
		cut := string(data[:strings.LastIndex(string(data), `{"duration_api_ms"`)])
		want := Verdict{Turns: 4, Tokens: -1, CostUSD: -1}
		for _, why := range []ledger.ExitReason{ledger.ExitAsked, ledger.ExitLost, ledger.ExitMemory, ledger.ExitStall} {
			if got := claude.Judge(strings.NewReader(cut), ledger.Exit{Reason: why, Code: -1}); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v", why, got)
			}
		}
		// The session continued after a result, so the result's numbers are
		// incomplete.
		if got := claude.Judge(strings.NewReader(string(data)+cut), fine); !reflect.DeepEqual(got, want) {
			t.Errorf("two conversations: %+v", got)
		}
	})
	t.Run("while it tries again", func(t *testing.T) {
		data, err := io.ReadAll(open(t, "faults-529-at-turn-2"))
		if err != nil {
			t.Fatal(err)
		}
		cut := string(data[:strings.LastIndex(string(data), `{"type":"assistant"`)])
		got := claude.Judge(strings.NewReader(cut), ledger.Exit{Reason: ledger.ExitStall, Code: -1})
		if got.Failure != ledger.FailureNetwork || got.Turns != 1 || got.Tokens != -1 {
			t.Errorf("%+v", got)
		}
	})
}

func open(t *testing.T, name string) io.Reader {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "claude", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestClaudeReadTolerates reads output of possible other releases.
func TestClaudeReadTolerates(t *testing.T) {
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	failed := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended}
	const turn = `{"message":{"id":"msg_1","model":"claude-x","content":[]},"type":"assistant"}` + "\n"
	result := func(fields string) string {
		return `{"total_cost_usd":0.5,"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1},` + fields + `,"type":"result"}` + "\n"
	}
	for _, c := range []struct {
		name, stream string
		exit         ledger.Exit
		want         Verdict
	}{
		{"nothing", "", ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Turns: 0, Tokens: -1, CostUSD: -1}},
		{"unknown lines", "\n\n{}\n[1]\nnull\n{\"type\":\"new\",\"x\":1}\n" + turn + "{\"type\":7}\n{bro", ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Uncounted: true, Turns: 1, Tokens: -1, CostUSD: -1}},
		{"fields of another type", turn + `{"type":"result","is_error":false,"modelUsage":7,"errors":"x","usage":{"input_tokens":3,"output_tokens":4},"total_cost_usd":"free"}`,
			ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Uncounted: true, Turns: 1, Tokens: -1, CostUSD: -1}},
		{"a message in several lines", turn + turn + strings.Replace(turn, "msg_1", "msg_2", 1), ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Turns: 2, Tokens: -1, CostUSD: -1}},
		{"limit in words alone", turn + result(`"is_error":true,"result":"Claude AI usage limit reached|1795190000"`), failed,
			Verdict{Failure: ledger.FailureLimit, Until: time.Unix(1795190000, 0).UTC(), Text: "Claude AI usage limit reached|1795190000", Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"limit of an organisation", result(`"is_error":true,"api_error_status":400,"result":"You've hit your org's monthly usage limit"`), failed,
			Verdict{Failure: ledger.FailureLimit, Text: "You've hit your org's monthly usage limit", Tokens: 2, CostUSD: 0.5}},
		{"limit that was over again", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795190000}}` + "\n" + turn + result(`"is_error":false,"result":"You've hit your limit"`),
			ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"budget", turn + result(`"is_error":true,"subtype":"error_max_budget_usd","terminal_reason":"budget_exhausted"`), failed,
			Verdict{Text: "ended by budget exhausted", Turns: 1, Tokens: 2, CostUSD: 0.5, OverBudget: true}},
		{"turns, in an older release", turn + result(`"is_error":true,"subtype":"error_max_turns"`), failed,
			Verdict{Text: "ended by max turns", Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"prompt too long at once", `{"total_cost_usd":0.5,"is_error":true,"terminal_reason":"prompt_too_long","result":"Prompt is too long","usage":{},"type":"result"}`, failed,
			Verdict{Text: "Prompt is too long", Turns: 1, Tokens: -1, CostUSD: 0.5, Uncounted: true}},
		{"429 in its own message, ended as a success", turn + `{"type":"assistant","error":"rate_limit","message":{"model":"<synthetic>","content":[{"text":"API Error: 429"}]}}` + "\n" + result(`"is_error":false,"result":"API Error: 429"`),
			ledger.Exit{Reason: ledger.ExitSelf, Ended: ended}, Verdict{Failure: ledger.FailureNetwork, Text: "API Error: 429", Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"429 with a wait", result(`"is_error":true,"api_error_status":429,"result":"API Error: 429 · try again in 2 hours"`), ledger.Exit{Reason: ledger.ExitSelf, Ended: ended},
			Verdict{Failure: ledger.FailureLimit, Until: ended.Add(2 * time.Hour), Text: "API Error: 429 · try again in 2 hours", Tokens: 2, CostUSD: 0.5}},
		{"standard error before an answer", "You've hit your limit · resets 7pm (UTC)\n" + turn, failed, Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"403", result(`"is_error":true,"api_error_status":403,"result":"Request not allowed"`), failed,
			Verdict{Failure: ledger.FailureAuth, Text: "Request not allowed", Tokens: 2, CostUSD: 0.5}},
		{"a kind of error that is new", turn + result(`"is_error":true,"api_error_status":418,"result":"I'm a teapot"`), failed,
			Verdict{Text: "I'm a teapot", Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"what the model wrote is no limit", turn + `{"type":"user","message":{"content":[{"text":"You've hit your limit"}]}}` + "\n", failed, Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"the model's own words of success", turn + result(`"is_error":false,"result":"API Error: 429 is handled. You've hit your limit · resets 7pm is shown."`),
			ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"words of a limit in a tool's result", turn + `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"rate_limit_error\nYou've hit your limit"}]}}` + "\n" + result(`"is_error":false,"result":"done"`),
			ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"limit in the program's own message, ended as a success", turn + `{"type":"assistant","message":{"model":"<synthetic>","content":[{"text":"Claude AI usage limit reached|1795190000"}]}}` + "\n" + result(`"is_error":false,"subtype":"success","result":"Claude AI usage limit reached|1795190000"`),
			ledger.Exit{Reason: ledger.ExitSelf, Ended: ended}, Verdict{Failure: ledger.FailureLimit, Until: time.Unix(1795190000, 0).UTC(), Text: "Claude AI usage limit reached|1795190000", Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"rejected, ended as a success", turn + `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795190000}}` + "\n" + result(`"is_error":false,"subtype":"success","result":""`),
			ledger.Exit{Reason: ledger.ExitSelf, Ended: ended}, Verdict{Failure: ledger.FailureLimit, Until: time.Unix(1795190000, 0).UTC(), Turns: 1, Tokens: 2, CostUSD: 0.5}},
		{"limit on standard error, exit 0", "You've hit your limit · resets 7pm (UTC)\n", ledger.Exit{Reason: ledger.ExitSelf, Ended: ended},
			Verdict{Failure: ledger.FailureLimit, Until: time.Date(2026, 11, 20, 19, 0, 0, 0, time.UTC), Text: "You've hit your limit · resets 7pm (UTC)", Unverified: true, Tokens: -1, CostUSD: -1}},
		{"standard error of a hook", "hook: want rate_limit_error\n  You've hit your limit · resets 7pm\n", failed, Verdict{Tokens: -1, CostUSD: -1}},
		{"standard error alone", "--dangerously-skip-permissions cannot be used\n", failed, Verdict{Tokens: -1, CostUSD: -1}},
		{"limit on standard error", "You've hit your limit · resets 7pm (UTC)\n", failed,
			Verdict{Failure: ledger.FailureLimit, Until: time.Date(2026, 11, 20, 19, 0, 0, 0, time.UTC), Text: "You've hit your limit · resets 7pm (UTC)", Unverified: true, Tokens: -1, CostUSD: -1}},
		{"middle missing", turn + "[nightporter: output is missing here]\n" + strings.Replace(turn, "msg_1", "msg_9", 1) + result(`"is_error":false`), ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Turns: 2, Tokens: 2, CostUSD: 0.5}},
		{"a line longer than is read", `{"type":"assistant","message":{"content":[{"text":"` + strings.Repeat("x", claudeLine) + `"}]}}` + "\n" + result(`"is_error":false`), ledger.Exit{Reason: ledger.ExitSelf}, Verdict{Turns: 1, Tokens: 2, CostUSD: 0.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, claude.Judge(strings.NewReader(c.stream), c.exit), withoutKinds); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func FuzzClaudeRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "claude", "*.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, why := range []ledger.ExitReason{ledger.ExitSelf, ledger.ExitStall} {
			v := claude.Judge(strings.NewReader(string(data)), ledger.Exit{Reason: why, Code: 1, Ended: time.Unix(1795190000, 0)})
			if v.Turns < 0 || (v.Failure != ledger.FailureLimit && v.Failure != ledger.FailureNetwork && !v.Until.IsZero()) {
				t.Errorf("%+v", v)
			}
		}
	})
}

func TestClaudeCommand(t *testing.T) {
	c := Call{Agent: Claude, Output: Claude, Args: []string{"--debug"}, Hat: "/var/lib/it's here/hat", Launch: ledger.Launch{Model: "opus", Effort: "high", Denied: []string{"rm  -rf", "WebFetch", "Bash(npm publish:*)", "mcp__db__drop", "DROP TABLE", "", ":(){ :|:& };:", "rm -rf vendor", "curl | sh", "wget | tar"}}}
	args, stdin, err := claude.CommandLine(c)
	if err != nil || !stdin {
		t.Fatalf("stdin %v, %v", stdin, err)
	}
	at := slices.Index(args, "--settings") + 1
	var settings struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(args[at]), &settings); err != nil {
		t.Fatal(err)
	}
	if c := settings.Hooks["Stop"][0].Hooks[0]["command"]; c != `'/var/lib/it'\''s here/hat' hook stop` {
		t.Errorf("stop hook: %s", c)
	}
	if h := settings.Hooks["PreToolUse"][0]; h.Matcher != "Write|Edit|MultiEdit|NotebookEdit" || h.Hooks[0]["command"] != `'/var/lib/it'\''s here/hat' hook write || :` {
		t.Errorf("hook before a write: %+v", h)
	}
	args[at] = "…"
	want := []string{"--debug", "--settings", "…", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions",
		"--model", "opus", "--effort", "high", "--setting-sources=user", "--disallowedTools", "EnterWorktree", "CronCreate", "ScheduleWakeup",
		"WebFetch", "Bash(npm publish:*)", "mcp__db__drop", "Bash(DROP TABLE:*)", "Bash(*DROP TABLE*)",
		"Bash(rm -rf vendor:*)", "Bash(*rm -rf vendor*)",
		"Bash(*curl *| sh)", "Bash(*curl *| sh *)", "Bash(*curl *|sh)", "Bash(*curl *|sh *)",
		"Bash(*curl *| bash)", "Bash(*curl *| bash *)", "Bash(*curl *|bash)", "Bash(*curl *|bash *)",
		"Bash(*wget *| tar)", "Bash(*wget *| tar *)", "Bash(*wget *|tar)", "Bash(*wget *|tar *)"}
	if d := cmp.Diff(want, args); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	const sources = "--setting-sources"
	trusting, chosen := c, c
	trusting.TrustsRepo = true
	chosen.Args = []string{sources, "project"}
	for _, c := range []Call{trusting, chosen} {
		if args, _, err := claude.CommandLine(c); err != nil || slices.ContainsFunc(args[len(c.Args):], func(a string) bool { return strings.HasPrefix(a, sources) }) {
			t.Errorf("sources of settings: %q, %v", args, err)
		}
	}
	c.MCP = true
	args, _, err = claude.CommandLine(c)
	if err != nil {
		t.Fatal(err)
	}
	server := []string{"--debug", "--mcp-config", `{"mcpServers":{"nightporter":{"type":"stdio","command":"/var/lib/it's here/hat","args":["mcp"],"alwaysLoad":true}}}`, "--settings"}
	if d := cmp.Diff(server, args[:len(server)]); d != "" {
		t.Errorf("with MCP, -want +got:\n%s", d)
	}
	c.Prompt = PromptArg
	if _, _, err := claude.CommandLine(c); err == nil {
		t.Error("a prompt as argument was taken")
	}
}
