package adapter

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestClaudePricing: the cost that Claude Code reports counts where it knows the price of
// all models that worked; a guess is unknown, with the name of the model that a price is
// to be looked up for.
func TestClaudePricing(t *testing.T) {
	mark := func(model string) string {
		return `[claude-code:unrecognized_model] {"model":"` + model + `","query_source":"sdk"}` + "\n"
	}
	answer := func(model string) string {
		return `{"type":"assistant","message":{"id":"m","model":"` + model + `","content":[]}}` + "\n"
	}
	used := func(model, basis string) string {
		if basis != "" {
			basis = `,"costBasis":"` + basis + `"`
		}
		return `"` + model + `":{"inputTokens":10,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.5` + basis + `}`
	}
	result := func(models ...string) string {
		return `{"is_error":false,"total_cost_usd":0.5,"modelUsage":{` + strings.Join(models, ",") + `},"type":"result"}` + "\n"
	}
	const sonnet, glm = "claude-sonnet-4-5", "glm-4.7"
	for name, c := range map[string]struct {
		stream  string
		usd     float64
		model   string
		several bool
	}{
		"a known model":                         {answer(sonnet) + result(used(sonnet, "list")), 0.5, sonnet, false},
		"a known model, in an older release":    {answer(sonnet) + result(used(sonnet, "")), 0.5, sonnet, false},
		"a snapshot of it answers":              {answer(sonnet+"-20250929") + result(used(sonnet, "list")), 0.5, sonnet, false},
		"by its name at another provider":       {answer(sonnet) + result(used("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "list")), 0.5, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", false},
		"a price of the organisation":           {mark(glm) + answer(glm) + result(used(glm, "managed")), 0.5, glm, false},
		"a guess":                               {mark(glm) + answer(glm) + result(used(glm, "unknown")), -1, glm, false},
		"a guess, told in the result alone":     {answer(glm) + result(used(glm, "unknown")), -1, glm, false},
		"a source of prices that is new":        {answer(sonnet) + result(used(sonnet, "someone")), -1, sonnet, false},
		"a guess, in an older release":          {mark("claude-madeup-9") + answer("claude-madeup-9") + result(used("claude-madeup-9", "")), -1, "claude-madeup-9", false},
		"another vendor's, in an older release": {answer(glm) + result(used(glm, "")), -1, glm, false},
		"the mark is of another form":           {"[claude-code:unrecognized_model] glm\n" + answer(sonnet) + result(used(sonnet, "")), -1, sonnet, false},
		"the mark is of a model unused":         {mark(glm) + answer(sonnet) + result(used(sonnet, "")), 0.5, sonnet, false},
		"another vendor's answers to its name":  {answer(glm) + result(used(sonnet, "list")), -1, glm, false},
		"one of two is a guess":                 {answer(sonnet) + answer(glm) + result(used(sonnet, "list"), used(glm, "unknown")), -1, "", true},
		"two are known":                         {answer(sonnet) + result(used(sonnet, "list"), used("claude-haiku-4-5", "list")), 0.5, "", true},
		"a result without models":               {mark(glm) + answer(glm) + `{"is_error":false,"total_cost_usd":0.5,"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1},"type":"result"}` + "\n", -1, glm, false},
	} {
		v := claude.Judge(strings.NewReader(c.stream), ledger.Exit{Reason: ledger.ExitSelf})
		if v.CostUSD != c.usd || v.Model != c.model || v.Several != c.several || v.Uncounted || v.Failure != "" || v.Tokens <= 0 || v.Usage == nil {
			t.Errorf("%s: $%v of %q, several %v: %+v", name, v.CostUSD, v.Model, v.Several, v)
		}
	}
}
