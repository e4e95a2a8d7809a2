package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Spent is what a run has spent, by hat and by task: a read model, so that
// nobody has to read a run's entries for it.
type Spent struct {
	Hats  []Share `json:"hats,omitempty"`  // in the order in which they first ended
	Tasks []Share `json:"tasks,omitempty"` // "" for sessions of no task
}

// Share is what one hat, or one task, had.
type Share struct {
	Name     string  `json:"name"`
	USD      float64 `json:"usd"`
	Tokens   int64   `json:"tokens,omitempty"`   // as far as agents said
	Unpriced int     `json:"unpriced,omitempty"` // sessions whose cost is unknown
}

// WithAgent adds an ended session of an agent.
func (s Spent) with(hat, task string, x ledger.Exit) Spent {
	s.Hats, s.Tasks = shared(s.Hats, hat, x), shared(s.Tasks, task, x)
	return s
}

func shared(all []Share, name string, x ledger.Exit) []Share {
	all = slices.Clone(all)
	n := slices.IndexFunc(all, func(s Share) bool { return s.Name == name })
	if n < 0 {
		n, all = len(all), append(all, Share{Name: name})
	}
	if x.CostUSD < 0 {
		all[n].Unpriced++
	} else {
		all[n].USD += x.CostUSD
	}
	all[n].Tokens += max(x.Tokens, 0)
	return all
}
