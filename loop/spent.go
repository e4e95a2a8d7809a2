package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Spent is what a run has spent, by hat and by task: a read model, so that
// nobody has to read a run's entries for it.
type Spent struct {
	Hats  []Share     `json:"hats,omitempty"` // in the order in which they first ended
	Tasks List[Share] `json:"tasks,omitzero"` // "" for sessions of no task
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
	n := slices.IndexFunc(s.Hats, func(h Share) bool { return h.Name == hat })
	if s.Hats = slices.Clone(s.Hats); n < 0 {
		s.Hats = append(s.Hats, Share{Name: hat}.with(x))
	} else {
		s.Hats[n] = s.Hats[n].with(x)
	}
	for n := s.Tasks.Len() - 1; n >= 0; n-- { // mostly the last one
		if t := s.Tasks.At(n); t.Name == task {
			s.Tasks = s.Tasks.With(n, t.with(x))
			return s
		}
	}
	s.Tasks = s.Tasks.Append(Share{Name: task}.with(x))
	return s
}

// WithAgent adds an ended session of an agent.
func (s Share) with(x ledger.Exit) Share {
	if x.CostUSD < 0 {
		s.Unpriced++
	} else {
		s.USD += x.CostUSD
	}
	s.Tokens += max(x.Tokens, 0)
	return s
}
