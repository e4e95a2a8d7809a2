package adapter

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestImplausibleFigures: whatever runs in a session can write figures to its output. What
// no session can have cost or used is unknown, at its end and while it runs.
func TestImplausibleFigures(t *testing.T) {
	result := func(usd, tokens string) string {
		return `{"type":"assistant","message":{"id":"m1","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":` + tokens + `,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}
{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"ok","total_cost_usd":` + usd + `,"usage":{"input_tokens":` + tokens + `,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1},"modelUsage":{"claude-sonnet-4-5":{"inputTokens":` + tokens + `,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":` + usd + `}}}
`
	}
	step := func(usd, tokens string) string {
		return `{"type":"step_start","part":{"messageID":"m"}}
{"type":"step_finish","part":{"id":"a","messageID":"m","reason":"stop","tokens":{"input":` + tokens + `,"output":1,"reasoning":0,"cache":{"read":0,"write":0}},"cost":` + usd + "}}\n"
	}
	const huge = "9223372036854775807"
	for _, c := range []struct {
		name, output, agent string
		usd                 float64
		tokens              int64
	}{
		{"claude", result("0.5", "100"), Claude, 0.5, 101},
		{"claude", result("1e308", "100"), Claude, -1, 101},
		{"claude", result("0.5", huge), Claude, 0.5, -1},
		{"opencode", step("0.5", "100"), Opencode, 0.5, 101},
		{"opencode", step("1e308", "100") + strings.Replace(step("1e308", "100"), `"a"`, `"b"`, 1), Opencode, -1, 202},
		{"opencode", step("0.5", huge), Opencode, -1, -1},
	} {
		a := FindOutput(c.agent)
		v := a.Judge(strings.NewReader(c.output), ledger.Exit{Reason: ledger.ExitSelf})
		if v.CostUSD != c.usd || v.Tokens != c.tokens || v.Uncounted != (c.usd < 0 || c.tokens < 0) {
			t.Errorf("%s: $%g, %d tokens, uncounted %v of\n%s", c.name, v.CostUSD, v.Tokens, v.Uncounted, c.output)
		}
		var s Spending
		for read, lines := a.Spending(), strings.SplitAfter(c.output, "\n"); len(lines) > 0; lines = lines[1:] {
			s = read([]byte(lines[0]), false)
		}
		if s.USD < 0 || s.USD > mostUSD || s.Tokens < 0 || s.Tokens > mostTokens {
			t.Errorf("%s, while it runs: %+v of\n%s", c.name, s, c.output)
		}
	}
}
