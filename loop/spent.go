package loop

import (
	"cmp"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Spent is the spending of a run, by hat, task, agent and day. The state keeps it so
// that readers need not fold the run's entries.
type Spent struct {
	Hats   []Share     `json:"hats,omitempty"`   // in the order of their first ended session
	Agents []Share     `json:"agents,omitempty"` // as above
	Days   []Share     `json:"days,omitempty"`   // by the date at which sessions ended, where they ran: "2026-11-27"
	Tasks  List[Share] `json:"tasks,omitzero"`   // with their parts; Name is "" for sessions without a task
}

// Share is the spending of one hat, task, agent or day.
type Share struct {
	Name     string  `json:"name"`
	USD      float64 `json:"usd"`
	Tokens   int64   `json:"tokens,omitempty"`   // counted only for agents that report tokens
	Unpriced int     `json:"unpriced,omitempty"` // sessions whose cost is unknown
	About    int     `json:"about,omitempty"`    // sessions whose cost is estimated, or computed from their tokens
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

// spend adds an ended agent session to a run that the fold owns. What a part spent is its
// task's.
func (r *Run) spend(s Session, task string, x ledger.Exit) {
	assumed := 0.0
	switch b := spending(s, x); {
	case b == nil:
		r.Tokens += max(x.Tokens, 0)
	default:
		a := assumedOf(*b)
		assumed = a.USD
		r.Tokens += b.Tokens
		r.AssumedTokens += a.Tokens
		r.Untold += a.Untold
	}
	r.AssumedUSD += assumed
	r.Spent = r.Spent.with(s.Planned, cmp.Or(s.Parent, task), x, assumed)
	r.overspend(s, task, x)
}

// with returns s plus an ended agent session.
func (s Spent) with(planned ledger.SessionPlanned, task string, x ledger.Exit, assumed float64) Spent {
	s.Hats = addShare(s.Hats, planned.Hat, x, assumed)
	s.Agents = addShare(s.Agents, planned.Agent, x, assumed)
	if !x.Ended.IsZero() {
		s.Days = addShare(s.Days, x.Ended.Format(time.DateOnly), x, assumed)
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

// addShare adds an ended agent session to the share with the name. It does not change the
// list.
func addShare(list []Share, name string, x ledger.Exit, assumed float64) []Share {
	list = slices.Clone(list)
	if n := slices.IndexFunc(list, func(s Share) bool { return s.Name == name }); n >= 0 {
		list[n] = list[n].with(x, assumed)
		return list
	}
	return append(list, Share{Name: name}.with(x, assumed))
}

// with returns s plus an ended agent session.
func (s Share) with(x ledger.Exit, assumed float64) Share {
	s.Assumed += assumed
	if x.CostUSD < 0 {
		s.Unpriced++
	} else {
		s.USD += x.CostUSD
	}
	if x.Estimated {
		s.About++
	}
	s.Tokens += max(x.Tokens, 0)
	return s
}
