package ledger_test

import (
	"math"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPriceCost: each kind has its own price, a kind that is not told is paid as input,
// and a cost of which a part is unknown is unknown.
func TestPriceCost(t *testing.T) {
	read, write := 0.5, 6.25
	full := ledger.Price{Input: 5, CacheRead: &read, CacheWrite: &write, Output: 25}
	plain := ledger.Price{Input: 5, Output: 25}
	for name, c := range map[string]struct {
		price ledger.Price
		usage ledger.TokenUsage
		usd   float64
		ok    bool
	}{
		"all kinds":           {full, ledger.TokenUsage{Input: 1e6, CacheRead: 1e6, CacheWrite: 1e6, Output: 1e6, Reasoning: 4e5}, 36.75, true},
		"kinds not told":      {plain, ledger.TokenUsage{Input: 1e6, CacheRead: -1, CacheWrite: -1, Output: 1e6, Reasoning: -1}, 30, true},
		"none of a kind":      {plain, ledger.TokenUsage{Input: 1e6, Output: 1e6}, 30, true},
		"a kind has no price": {plain, ledger.TokenUsage{Input: 1e6, CacheRead: 1, Output: 1e6}, 0, false},
	} {
		if usd, ok := c.price.Cost(c.usage); math.Abs(usd-c.usd) > 1e-9 || ok != c.ok {
			t.Errorf("%s: $%v, %v; want $%v, %v", name, usd, ok, c.usd, c.ok)
		}
	}
}

// TestPriceNames: a snapshot has its model's price, another provider's model of the same
// name has none.
func TestPriceNames(t *testing.T) {
	list := []ledger.Price{{Model: "claude-opus-4-5", Provider: "anthropic"}}
	for model, want := range map[string]bool{
		"claude-opus-4-5": true, "claude-opus-4-5-20251101": true, "anthropic/claude-opus-4-5": true, "claude-opus-4-5-2025-11-01": true,
		"openrouter/anthropic/claude-opus-4-5": false, "other/claude-opus-4-5": false, "claude-opus-4-5-mini": false, "claude-opus-4": false, "opus": false, "": false,
	} {
		if _, ok := ledger.FindPrice(list, model); ok != want {
			t.Errorf("%q: %v", model, ok)
		}
	}
}
