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
	Assumed  float64 `json:"assumed,omitempty"`  // reserved for those, where a budget holds; not in USD
}

// of returns the share of a task.
func (s Spent) of(task string) Share {
	for n := s.Tasks.Len() - 1; n >= 0; n-- {
		if t := s.Tasks.At(n); t.Name == task {
			return t
		}
	}
	return Share{Name: task}
}

// spend adds an ended agent session to a run that the fold owns.
func (r *Run) spend(s Session, task string, x ledger.Exit) {
	assumed := 0.0
	switch b := spending(s, x); {
	case b == nil:
		r.Tokens += max(x.Tokens, 0)
	case b.Assumed:
		assumed = b.USD
		fallthrough
	default:
		r.Tokens += b.Tokens
	}
	r.AssumedUSD += assumed
	r.Spent = r.Spent.with(s.Planned.Hat, task, x, assumed)
}

// with returns s plus an ended agent session.
func (s Spent) with(hat, task string, x ledger.Exit, assumed float64) Spent {
	n := slices.IndexFunc(s.Hats, func(h Share) bool { return h.Name == hat })
	if s.Hats = slices.Clone(s.Hats); n < 0 {
		s.Hats = append(s.Hats, Share{Name: hat}.with(x, assumed))
	} else {
		s.Hats[n] = s.Hats[n].with(x, assumed)
	}
	for n := s.Tasks.Len() - 1; n >= 0; n-- { // mostly the last one
		if t := s.Tasks.At(n); t.Name == task {
			s.Tasks = s.Tasks.With(n, t.with(x, assumed))
			return s
		}
	}
	s.Tasks = s.Tasks.Append(Share{Name: task}.with(x, assumed))
	return s
}

// with returns s plus an ended agent session.
func (s Share) with(x ledger.Exit, assumed float64) Share {
	s.Assumed += assumed
	if x.CostUSD < 0 {
		s.Unpriced++
	} else {
		s.USD += x.CostUSD
	}
	s.Tokens += max(x.Tokens, 0)
	return s
}
