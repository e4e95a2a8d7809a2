package ledger

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Price is what a million tokens of a model cost in US dollars, by kind. What the model
// thinks is output. nil is a kind without a price.
type Price struct {
	Model      string
	Provider   string // the name that may stand before the model's: "anthropic" in anthropic/claude-opus-5
	Input      float64
	CacheRead  *float64
	CacheWrite *float64
	Output     float64
}

// snapshot matches the day at the end of a model's name. A model's snapshots have its price.
var snapshot = regexp.MustCompile(`-20\d\d-?[01]\d-?[0-3]\d$`)

// Names reports whether the model is the one that the price is for.
func (p Price) Names(model string) bool {
	if before, name, cut := strings.Cut(model, "/"); cut && before == p.Provider {
		model = name
	}
	return model == p.Model || snapshot.ReplaceAllString(model, "") == p.Model
}

// Cost returns what the tokens cost. It is false where a kind of which there are some has
// no price: a part of a cost is none.
func (p Price) Cost(u TokenUsage) (usd float64, ok bool) {
	usd = float64(u.Input)*p.Input + float64(u.Output)*p.Output
	for _, k := range []struct {
		tokens int64
		price  *float64
	}{{u.CacheRead, p.CacheRead}, {u.CacheWrite, p.CacheWrite}} {
		switch {
		case k.tokens <= 0: // none, or told as input
		case k.price == nil:
			return 0, false
		default:
			usd += float64(k.tokens) * *k.price
		}
	}
	return usd / 1e6, true
}

// FindPrice returns the first price of the list that is for the model.
func FindPrice(list []Price, model string) (Price, bool) {
	if model != "" {
		for _, p := range list {
			if p.Names(model) {
				return p, true
			}
		}
	}
	return Price{}, false
}
