package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/loop/ledger"
)

// withoutKinds compares verdicts without the tokens by kind, which TestUsage has.
var withoutKinds = cmpopts.IgnoreFields(Verdict{}, "Usage", "Model", "Several")

// TestUsage reads the tokens by kind that programs tell: cached ones apart from input,
// thoughts as a part of the output, and -1 for what is not told.
func TestUsage(t *testing.T) {
	const (
		codexSaid  = `{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Done."}}` + "\n"
		geminiSaid = `{"type":"init"}` + "\n" + `{"type":"message","role":"assistant","content":"Done."}` + "\n"
		qwenSaid   = `{"type":"system","subtype":"init","model":"qwen3-coder-plus"}` + "\n" + `{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}` + "\n"
		claudeSaid = `{"type":"assistant","message":{"id":"m1","model":"claude-x","content":[{"type":"text","text":"Done."}]}}` + "\n"
		piAnswer   = `{"type":"message_end","message":{"role":"assistant","responseId":"ID","model":"MODEL","stopReason":"stop","usage":{"input":100,"output":5,"cacheRead":30,"cacheWrite":2,"totalTokens":137,"cost":{"total":0}}}}` + "\n"
		step       = `{"type":"step_start","part":{"id":"ID0"}}` + "\n" + `{"type":"step_finish","part":{"id":"ID","messageID":"M","reason":"stop","tokens":{"total":117,"input":100,"output":5,"reasoning":7,"cache":{"read":3,"write":2}},"cost":0}}` + "\n"
	)
	answer := func(id, model string) string {
		return strings.NewReplacer("ID", id, "MODEL", model).Replace(piAnswer)
	}
	claude2 := `{"type":"result","usage":{},"modelUsage":{"claude-a":{"inputTokens":10,"outputTokens":20,"cacheReadInputTokens":30,"cacheCreationInputTokens":40,"thinkingTokens":5},"claude-b":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheCreationInputTokens":4}}}` + "\n"
	for _, c := range []struct {
		name, stream string
		row          *Agent
		want         *ledger.TokenUsage
		model        string
	}{
		{"codex", codexSaid + `{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":10,"output_tokens":20,"reasoning_output_tokens":15}}`, &codex,
			&ledger.TokenUsage{Input: 30, CacheRead: 60, CacheWrite: 10, Output: 20, Reasoning: 15}, ""},
		{"codex, without parts", codexSaid + `{"type":"turn.completed","usage":{"input_tokens":100,"output_tokens":20}}`, &codex,
			&ledger.TokenUsage{Input: 100, CacheRead: -1, CacheWrite: -1, Output: 20, Reasoning: -1}, ""},
		{"codex, a part more than its whole", codexSaid + `{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":60,"output_tokens":20}}`, &codex, nil, ""},
		{"codex, renamed", codexSaid + `{"type":"turn.completed","usage":{"in":100,"output_tokens":20}}`, &codex, nil, ""},
		{"gemini, which thought", geminiSaid + `{"type":"result","status":"success","stats":{"total_tokens":150,"input_tokens":100,"output_tokens":20,"cached":40,"models":{"gemini-2.5-flash":{}}}}`, &gemini,
			&ledger.TokenUsage{Input: 60, CacheRead: 40, CacheWrite: -1, Output: 50, Reasoning: 30}, "gemini-2.5-flash"},
		{"gemini, two models", geminiSaid + `{"type":"result","status":"success","stats":{"total_tokens":120,"input_tokens":100,"output_tokens":20,"cached":40,"models":{"a":{},"b":{}}}}`, &gemini,
			&ledger.TokenUsage{Input: 60, CacheRead: 40, CacheWrite: -1, Output: 20, Reasoning: -1}, ""},
		{"qwen", qwenSaid + `{"type":"result","usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":40,"total_tokens":120}}`, &qwen,
			&ledger.TokenUsage{Input: 60, CacheRead: 40, CacheWrite: -1, Output: 20, Reasoning: -1}, "qwen3-coder-plus"},
		{"pi, an answer told twice", answer("a", "m") + answer("b", "m") + answer("b", "m") + `{"type":"agent_end"}`, &pi,
			&ledger.TokenUsage{Input: 200, CacheRead: 60, CacheWrite: 4, Output: 10, Reasoning: -1}, "m"},
		{"pi, two models", answer("a", "m") + answer("b", "n") + `{"type":"agent_end"}`, &pi,
			&ledger.TokenUsage{Input: 200, CacheRead: 60, CacheWrite: 4, Output: 10, Reasoning: -1}, ""},
		{"opencode, a step told twice", strings.ReplaceAll(step, "ID", "a") + `{"type":"step_start"}` + "\n" + strings.ReplaceAll(step, "ID", "a")[len(`{"type":"step_start","part":{"id":"a0"}}`)+1:], &opencode,
			&ledger.TokenUsage{Input: 100, CacheRead: 3, CacheWrite: 2, Output: 12, Reasoning: 7}, ""},
		{"claude, two models of which one tells no thoughts", claudeSaid + claude2, &claude,
			&ledger.TokenUsage{Input: 11, CacheRead: 33, CacheWrite: 44, Output: 22, Reasoning: -1}, ""},
		{"claude, without models", claudeSaid + `{"type":"result","usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}`, &claude,
			&ledger.TokenUsage{Input: 1, CacheRead: 3, CacheWrite: 4, Output: 2, Reasoning: -1}, ""},
		{"copilot", `{"type":"result","usage":{"premiumRequests":1}}`, &copilot, nil, ""},
	} {
		v := judge(c.row, []byte(c.stream), ledger.Exit{Reason: ledger.ExitSelf})
		if d := cmp.Diff(c.want, v.Usage); d != "" || v.Model != c.model {
			t.Errorf("%s: model %q, -want +got:\n%s", c.name, v.Model, d)
		}
		if several := strings.Contains(c.name, "two models"); v.Several != several {
			t.Errorf("%s: several models: %v", c.name, v.Several)
		}
		if v.Usage != nil && v.Usage.Total() != v.Tokens {
			t.Errorf("%s: %d tokens by kind, %d in all", c.name, v.Usage.Total(), v.Tokens)
		}
	}
}

// TestUsageRecorded: in what programs really printed, the kinds add up to the whole.
func TestUsageRecorded(t *testing.T) {
	told := map[string]int{}
	for _, row := range agents {
		files, err := filepath.Glob(filepath.Join("testdata", row.Name, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			v := judge(row, data, ledger.Exit{Reason: ledger.ExitSelf})
			switch {
			case v.Usage == nil && v.Tokens > 0 && row.Kinds == KindsReported, v.Usage != nil && v.Usage.Total() != v.Tokens:
				t.Errorf("%s: %d tokens, by kind %+v", file, v.Tokens, v.Usage)
			case v.Usage != nil:
				told[row.Name]++
			}
		}
		if (row.Kinds == KindsReported) != (told[row.Name] > 0) {
			t.Errorf("%s: Kinds is %s, and %d recordings tell them", row.Name, row.Kinds, told[row.Name])
		}
	}
}

// TestCostGoesDown: a result has the cost of the whole conversation so far, so a later
// one that is lower forgot something.
func TestCostGoesDown(t *testing.T) {
	const said = `{"type":"assistant","message":{"id":"m1","model":"claude-x","content":[{"type":"text","text":"Done."}]}}` + "\n"
	result := func(usd string) string {
		return `{"type":"result","total_cost_usd":` + usd + `,"usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}` + "\n"
	}
	for stream, want := range map[string]float64{
		said + result("0.50") + result("0.20"):        0.5,
		said + result("0.50") + said + result("0.20"): 0.5,
		said + result("0.20") + result("0.50"):        0.5,
		said + result("0.50") + result(`"free"`):      -1,
	} {
		if v := judge(&claude, []byte(stream), ledger.Exit{Reason: ledger.ExitSelf}); v.CostUSD != want {
			t.Errorf("$%v, want $%v:\n%s", v.CostUSD, want, stream)
		}
	}
}
