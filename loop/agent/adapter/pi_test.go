package adapter

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestPiCommand(t *testing.T) {
	for _, c := range []struct {
		call Call
		want []string
	}{
		{Call{Home: "/home", Launch: ledger.Launch{Model: "anthropic/x", Effort: "high"}}, []string{"--extension", "/home/.pi/nightporter.ts", "", piReminder, "--print", "--no-session", "--no-extensions", "--mode", "json", "--model", "anthropic/x", "--thinking", "high"}},
		{Call{Home: "/home", Args: []string{"-p", "--mode", "json", "--extension", "x.ts"}}, []string{"-p", "--mode", "json", "--extension", "x.ts", "--extension", "/home/.pi/nightporter.ts", "", piReminder}},
	} {
		got, stdin, err := pi.CommandLine(c.call)
		if d := cmp.Diff(c.want, append(c.call.Args, got[len(c.call.Args):]...)); d != "" || !stdin || err != nil {
			t.Errorf("stdin %v, %v, -want +got:\n%s", stdin, err, d)
		}
	}
}

// TestPiRead reads output of possible other releases and of rare events.
func TestPiRead(t *testing.T) {
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	self := ledger.Exit{Reason: ledger.ExitSelf, Ended: ended}
	const usage = `{"input":100,"output":5,"cacheRead":3,"cacheWrite":2,"totalTokens":110,"cost":{"total":0.5}}`
	message := func(id, stop, usage string) string {
		return `{"type":"message_end","message":{"role":"assistant","responseId":"` + id + `","stopReason":"` + stop + `","content":[{"type":"text","text":"Done."}],"usage":` + usage + `}}` + "\n"
	}
	const end = `{"type":"agent_end","messages":[]}` + "\n"
	unknown := Verdict{Turns: 1, Tokens: -1, CostUSD: -1}
	for _, c := range []struct {
		name, stream string
		want         Verdict
	}{
		{"two answers", message("a", "toolUse", usage) + message("b", "stop", usage) + end, Verdict{Turns: 2, Tokens: 220, CostUSD: 1}},
		{"one reported twice", message("a", "stop", usage) + message("a", "stop", usage) + end, Verdict{Turns: 2, Tokens: 110, CostUSD: 0.5}},
		{"without ids", message("", "stop", usage) + end, Verdict{Turns: 1, Tokens: 110, CostUSD: 0.5}},
		{"no price", message("a", "stop", strings.Replace(usage, "0.5", "0", 1)) + end, Verdict{Turns: 1, Tokens: 110, CostUSD: -1}},
		{"a cost that is negative", message("a", "stop", strings.Replace(usage, "0.5", "-0.5", 1)) + end, Verdict{Turns: 1, Tokens: 110, CostUSD: -1, Uncounted: true}},
		{"another total", message("a", "stop", strings.Replace(usage, "110", "111", 1)) + end, Verdict{Turns: 1, Tokens: -1, CostUSD: -1, Uncounted: true}},
		{"summed up", message("a", "stop", usage) + `{"type":"compaction_end"}` + "\n" + end, unknown},
		{"ended while it is summed up", message("a", "stop", usage) + end + `{"type":"compaction_start"}` + "\n", unknown},
		{"without an end", message("a", "stop", usage), unknown},
		{"an end too long to be read", message("a", "stop", usage) + `{"type":"agent_end","messages":["` + strings.Repeat("x", 5<<20) + `"]}`, Verdict{Turns: 1, Tokens: 110, CostUSD: 0.5}},
		{"an answer too long to be read", message("a", "stop", usage) + `{"type":"message_end","message":{"role":"assistant","content":"` + strings.Repeat("x", 5<<20) + `"}}` + "\n" + end, Verdict{Turns: 2, Tokens: -1, CostUSD: -1}},
		{"a subscription's limit", `{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"You have hit your ChatGPT usage limit (plus plan). Try again in ~55 min."}}` + "\n" + end,
			Verdict{Failure: ledger.FailureLimit, Until: ended.Add(55 * time.Minute), Text: "You have hit your ChatGPT usage limit (plus plan). Try again in ~55 min.", Tokens: -1, CostUSD: -1}},
	} {
		if d := cmp.Diff(c.want, judge(&pi, []byte(c.stream), self), withoutKinds); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

func TestPiLogin(t *testing.T) {
	for token, want := range map[string]string{
		"sk-ant-oat01-x": "ANTHROPIC_OAUTH_TOKEN", "sk-ant-api03-x": "ANTHROPIC_API_KEY", "sk-or-v1-x": "OPENROUTER_API_KEY", "sk-proj-x": "OPENAI_API_KEY", "AIzaX": "GEMINI_API_KEY",
		"": "", "a b": "", "unknown": "",
	} {
		files, _, err := piFromToken([]byte(token))
		if (err == nil) != (want != "") || want != "" && string(files[want]) != token+"\n" {
			t.Errorf("%q: %q, %v", token, files, err)
		}
		if want != "" && pi.Login.Vars[want] != want {
			t.Errorf("%s is no variable of a session", want)
		}
	}
}
