package adapter

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestOpencodeCommand(t *testing.T) {
	for _, c := range []struct {
		name string
		call Call
		want []string
	}{
		{"by its name", Call{}, []string{"run", "--auto", "--title", "nightporter", "--format", "json"}},
		{"with a model", Call{Launch: ledger.Launch{Model: "anthropic/x", Effort: "high"}}, []string{"run", "--auto", "--title", "nightporter", "--format", "json", "--model", "anthropic/x", "--variant", "high"}},
		{"a whole command", Call{Args: []string{"run", "--format", "json"}, Launch: ledger.Launch{Model: "m/x"}}, []string{"run", "--format", "json", "--model", "m/x"}},
		{"a whole command without a stream", Call{Args: []string{"run", "--agent", "build"}}, []string{"run", "--agent", "build", "--format", "json"}},
	} {
		got, stdin, err := opencode.CommandLine(c.call)
		if d := cmp.Diff(c.want, got); d != "" || !stdin || err != nil {
			t.Errorf("%s: stdin %v, %v, -want +got:\n%s", c.name, stdin, err, d)
		}
	}
}

// TestOpencodeRead reads output of possible other releases and of rare events.
func TestOpencodeRead(t *testing.T) {
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	self := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended}
	step := func(message, reason, figures string) string {
		return `{"type":"step_start","part":{"messageID":"` + message + `"}}` + "\n" + `{"type":"step_finish","part":{"messageID":"` + message + `","reason":"` + reason + `",` + figures + `}}` + "\n"
	}
	const figures = `"tokens":{"total":111,"input":100,"output":5,"reasoning":1,"cache":{"read":3,"write":2}},"cost":0.5`
	calls, stop := step("m1", "tool-calls", figures), step("m2", "stop", figures)
	with := func(old, changed string) string {
		return calls + step("m2", "stop", strings.Replace(figures, old, changed, 1))
	}
	unknown := Verdict{Turns: 2, Tokens: -1, CostUSD: -1}
	uncounted := Verdict{Turns: 2, Tokens: -1, CostUSD: -1, Uncounted: true}
	failure := func(name, data string) string {
		return `{"type":"error","error":{"name":"` + name + `","data":{` + data + `}}}` + "\n"
	}
	for _, c := range []struct {
		name, stream string
		want         Verdict
	}{
		{"two steps", calls + stop, Verdict{Turns: 2, Tokens: 222, CostUSD: 1}},
		{"an older release without a total", with(`"total":111,`, ``), Verdict{Turns: 2, Tokens: 222, CostUSD: 1}},
		{"no price", with(`"cost":0.5`, `"cost":0`), Verdict{Turns: 2, Tokens: 222, CostUSD: -1}},
		{"a price in words", with(`"cost":0.5`, `"cost":"free"`), Verdict{Turns: 2, Tokens: 222, CostUSD: -1, Uncounted: true}},
		{"another total", with(`"total":111`, `"total":112`), uncounted},
		{"a new kind of tokens", with(`"input":100`, `"input":100,"tool":7`), uncounted},
		{"another cache", with(`"read":3`, `"read":3,"write_1h":7`), uncounted},
		{"no tokens", with(`"tokens"`, `"usage"`), uncounted},
		{"ended after a step", calls, Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"a step without its end", `{"type":"step_start","part":{"messageID":"m0"}}` + "\n" + calls + stop, unknown},
		{"middle missing", calls + "[nightporter: output is missing here]\n" + stop, unknown},
		{"a broken line", calls + `{"type":"step_fin` + "\n" + stop, unknown},
		{"subagents", `{"type":"tool_use","part":{"messageID":"m1","tool":"task"}}` + "\n" + calls + stop, unknown},
		{"words of the program after a compaction", calls + stop + `{"type":"text","part":{"messageID":"m3","synthetic":true,"text":"Go on."}}` + "\n", unknown},
		{"refused login", failure("APIError", `"message":"Unauthorized: no","statusCode":401`), Verdict{Failure: ledger.FailureAuth, Text: "Unauthorized: no", Tokens: -1, CostUSD: -1}},
		{"no login", failure("ProviderAuthError", `"message":"anthropic: no key"`), Verdict{Failure: ledger.FailureAuth, Text: "anthropic: no key", Tokens: -1, CostUSD: -1}},
		{"unknown model", failure("UnknownError", `"message":"Model not found: x/y."`), Verdict{Failure: ledger.FailureAuth, Text: "Model not found: x/y.", Tokens: -1, CostUSD: -1}},
		{"pace", failure("APIError", `"message":"Slow down","statusCode":429,"responseHeaders":{"retry-after":"30"}`), Verdict{Failure: ledger.FailureNetwork, Until: ended.Add(30 * time.Second), Text: "Slow down", Tokens: -1, CostUSD: -1}},
		{"limit", failure("APIError", `"message":"Slow down","statusCode":429,"responseHeaders":{"retry-after":"7200"}`), Verdict{Failure: ledger.FailureLimit, Until: ended.Add(2 * time.Hour), Text: "Slow down", Tokens: -1, CostUSD: -1}},
		{"a name alone", failure("ContextOverflowError", ``), Verdict{Text: "ContextOverflowError", Turns: 1, Tokens: -1, CostUSD: -1}},
	} {
		if d := cmp.Diff(c.want, opencode.Judge(strings.NewReader(c.stream), self), withoutKinds); d != "" {
			t.Errorf("%s, -want +got:\n%s", c.name, d)
		}
	}
}

// TestOpencodeEndedForIt: an answer after which opencode is ended has figures, and the
// conversation has none: a compaction that it had begun is not in the stream.
func TestOpencodeEndedForIt(t *testing.T) {
	var stream []byte
	for line := range bytes.Lines(recorded(t, Opencode, "circle-full")) {
		if bytes.HasPrefix(line, []byte(`{"type":"step_finish"`)) {
			stream = append(stream, line...)
			break
		}
		stream = append(stream, line...)
	}
	for why, known := range map[ledger.ExitReason]bool{
		ledger.ExitSelf: true, ledger.ExitCircle: false, ledger.ExitAsked: false, ledger.ExitStall: false, ledger.ExitMemory: false,
	} {
		v := judge(&opencode, stream, ledger.Exit{Reason: why, Code: -1})
		if v.Turns != 1 || v.Uncounted || v.Failure != "" || (v.Tokens == 199_050) != known || (v.CostUSD > 0) != known || !known && (v.Tokens != -1 || v.CostUSD != -1 || v.Usage != nil) {
			t.Errorf("%s: %+v", why, v)
		}
	}
}

func TestOpencodeFromHome(t *testing.T) {
	const keys, account = `{"anthropic":{"type":"api","key":"madeup"}}`, `{"anthropic":{"type":"oauth","refresh":"madeup","access":"madeup","expires":5},"openai":{"type":"api","key":"madeup"}}`
	for file, want := range map[string]string{keys: opencodeKeys, account: opencodeAccounts, "": "does not exist", "{": "not a login", "{}": "holds no login", `{"x":7}`: "not a login"} {
		home := t.TempDir()
		if file != "" {
			path := filepath.Join(home, ".local", "share", "opencode", "auth.json")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(file, ",", ",\n  ")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		files, note, err := opencodeFromHome(home, time.Time{})
		if file != keys && file != account {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "madeup") {
				t.Errorf("%s: %v", file, err)
			}
			continue
		}
		if err != nil || len(files) != 1 || string(files[want]) != file || !strings.Contains(note, "(anthropic") || strings.Contains(note, "madeup") {
			t.Errorf("%s: %s, %q, %v", file, files, note, err)
		}
	}
}

func TestOpencodeRenewed(t *testing.T) {
	login := func(expires, refresh, more string) string {
		return `{"anthropic":{"type":"oauth","refresh":"` + refresh + `","access":"a","expires":` + expires + `}` + more + `}`
	}
	began := login("1000", "r", `,"openai":{"type":"api","key":"k"}`)
	for left, want := range map[string]string{
		login("2000", "s", ""): login("2000", "s", `,"openai":{"type":"api","key":"k"}`),
		login("2000", "s", `,"openai":{"type":"api","key":"other"}`):     login("2000", "s", `,"openai":{"type":"api","key":"k"}`),
		login("2000", "s", `,"evil":{"type":"wellknown","key":"other"}`): login("2000", "s", `,"openai":{"type":"api","key":"k"}`),
		began: "", login("2000", "", ""): "", login("500", "s", ""): "", login("99999999999999", "s", ""): "", "{": "", "{}": "",
	} {
		if got := string(opencodeRenewed([]byte(began), []byte(left))); got != want {
			t.Errorf("%s: %s", left, got)
		}
	}
}

func TestOpencodeFromToken(t *testing.T) {
	for text, ok := range map[string]bool{"oc-abc\n": true, "": false, "abc def": false, strings.Repeat("x", 5000): false} {
		files, _, err := opencodeFromToken([]byte(text))
		if (err == nil) != ok || ok && string(files[opencodeKey]) != strings.TrimSpace(text)+"\n" {
			t.Errorf("%.30q: %s, %v", text, files, err)
		}
	}
}

// TestOpencodeCompaction reads a session whose conversation was too long for the
// model: the program shortened it and went on.
func TestOpencodeCompaction(t *testing.T) {
	stream := string(recorded(t, Opencode, "compaction"))
	want := Verdict{Turns: 2, Tokens: 2100, CostUSD: 2 * 0.00375}
	if d := cmp.Diff(want, opencode.Judge(strings.NewReader(stream), ledger.Exit{Reason: ledger.ExitSelf, Code: 1}), withoutKinds); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if said := opencodeLastMessage(strings.NewReader(stream)); said != "Done." {
		t.Errorf("said %q", said)
	}
}
