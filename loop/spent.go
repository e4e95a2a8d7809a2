package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Spent is the spending of a run, by hat and by task. The state keeps it so
// that readers need not fold the run's entries.
type Spent struct {
	Hats  []Share     `json:"hats,omitempty"` // in the order of their first ended session
	Tasks List[Share] `json:"tasks,omitzero"` // Name is "" for sessions without a task
}

// Share is the spending of one hat or of one task.
type Share struct {
	Name     string  `json:"name"`
	USD      float64 `json:"usd"`
	Tokens   int64   `json:"tokens,omitempty"`   // counted only for agents that report tokens
	Unpriced int     `json:"unpriced,omitempty"` // sessions whose cost is unknown
}

// with returns s plus an ended agent session.
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

// with returns s plus an ended agent session.
func (s Share) with(x ledger.Exit) Share {
	if x.CostUSD < 0 {
		s.Unpriced++
	} else {
		s.USD += x.CostUSD
	}
	s.Tokens += max(x.Tokens, 0)
	return s
}
