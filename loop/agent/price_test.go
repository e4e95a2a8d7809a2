package agent

import (
	"testing"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPrice: a session's cost is the agent's own figure, else its tokens by the price of
// the model, else the estimate, else unknown; which of them it is, is recorded.
func TestPrice(t *testing.T) {
	read := 0.5
	r := &Runner{o: Options{Prices: []ledger.Price{{Model: "known", Input: 5, CacheRead: &read, Output: 25}}}}
	usage := &ledger.TokenUsage{Input: 100_000, CacheRead: 1_000_000, CacheWrite: 0, Output: 20_000, Reasoning: 5000}
	written := *usage
	written.CacheWrite = 1 // of which the price is not known
	for name, c := range map[string]struct {
		verdict  adapter.Verdict
		model    string
		estimate float64
		usd      float64
		by       ledger.CostSource
	}{
		"the agent's":                     {adapter.Verdict{CostUSD: 0.3, Usage: usage}, "known", 2, 0.3, ledger.PricedByAgent},
		"the agent's, nothing":            {adapter.Verdict{CostUSD: 0, Usage: usage}, "known", 2, 0, ledger.PricedByAgent},
		"by the table":                    {adapter.Verdict{CostUSD: -1, Usage: usage}, "known", 2, 1.5, ledger.PricedByTable},
		"by the model that the agent had": {adapter.Verdict{CostUSD: -1, Usage: usage, Model: "known"}, "alias", 2, 1.5, ledger.PricedByTable},
		"another model than it was given": {adapter.Verdict{CostUSD: -1, Usage: usage, Model: "other"}, "known", 2, 2, ledger.PricedByEstimate},
		"several models":                  {adapter.Verdict{CostUSD: -1, Usage: usage, Several: true}, "known", 2, 2, ledger.PricedByEstimate},
		"no tokens":                       {adapter.Verdict{CostUSD: -1}, "known", 2, 2, ledger.PricedByEstimate},
		"a kind without a price":          {adapter.Verdict{CostUSD: -1, Usage: &written}, "known", 2, 2, ledger.PricedByEstimate},
		"a model without a row":           {adapter.Verdict{CostUSD: -1, Usage: usage}, "other", 0, -1, ""},
		"a model that nobody named":       {adapter.Verdict{CostUSD: -1, Usage: usage}, "", 0, -1, ""},
	} {
		x := ledger.Exit{}
		r.price(&x, c.verdict, Definition{USDEstimate: c.estimate}, c.model)
		if x.CostUSD-c.usd > 1e-9 || c.usd-x.CostUSD > 1e-9 || x.PricedBy != c.by || x.Estimated != (c.by == ledger.PricedByTable || c.by == ledger.PricedByEstimate) {
			t.Errorf("%s: $%v by %q, estimated %v; want $%v by %q", name, x.CostUSD, x.PricedBy, x.Estimated, c.usd, c.by)
		}
	}
}
