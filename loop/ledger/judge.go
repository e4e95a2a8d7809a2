package ledger

import (
	"fmt"
	"slices"
)

// Judges reports whether a hat of the pattern judges the work of others: it only
// reads, and it decides whether the work comes back to it before the task can
// converge. A planner, whose plan goes on whatever it says, does not.
func (s Settings) Judges(hat string) bool {
	if s.Hats[hat].Writes() {
		return false
	}
	back, on := false, false
	for _, r := range s.Pattern.Routes {
		if r.From != hat {
			continue
		}
		if s.converges(r.To, func(name string) bool { return name == hat }) {
			on = true
		} else {
			back = true
		}
	}
	return back && on
}

// ReadsOnly reports whether no hat of the pattern writes: its tasks are done by their
// last event and leave no commit.
func (s Settings) ReadsOnly() bool {
	return !slices.ContainsFunc(append([]Route{{From: s.Pattern.Start}}, s.Pattern.Routes...), func(r Route) bool { return s.Hats[r.From].Writes() })
}

// JudgedAfter reports whether each way from the hat to the end of the pattern
// leads past a hat that judges.
func (s Settings) JudgedAfter(hat string) bool {
	for _, r := range s.Pattern.Routes {
		if r.From == hat && s.converges(r.To, s.Judges) {
			return false
		}
	}
	return true
}

// Unproved returns the finding that keeps a run from starting in which nothing can
// prove the work: there is no verification command, and a hat writes after which
// no hat judges (docs/spec 2.0). unproved is false if something can, or if the
// settings allow such a run. Any command counts, because the final check runs all
// of them.
func (s Settings) Unproved() (f Diagnostic, unproved bool) {
	hat := s.unjudged()
	if hat == "" || len(s.Verify) > 0 || s.AllowUnproved {
		return f, false
	}
	return Diagnostic{
		Text:   fmt.Sprintf("nothing proves the work: there is no verification command, and pattern %s has no review after %s", s.Pattern.Name, hat),
		Remedy: fmt.Sprintf(`Name a command: verify = ["make test"] in [[project]] %s, or --verify "make test". Or take a pattern with a review, or set unproved = "allow".`, s.Project),
	}, true
}

// unjudged returns the first hat of the pattern that writes and after which no hat
// judges, "" for none.
func (s Settings) unjudged() string {
	reached := map[string]bool{}
	s.reach(s.Pattern.Start, nil, reached)
	for _, r := range s.Pattern.Routes {
		if reached[r.From] && s.Hats[r.From].Writes() && !s.JudgedAfter(r.From) {
			return r.From
		}
	}
	return ""
}

// converges reports whether routes lead from hat to the end of the pattern
// without a hat that stop accepts.
func (s Settings) converges(hat string, stop func(string) bool) bool {
	reached := map[string]bool{}
	s.reach(hat, stop, reached)
	return reached[Converged]
}

// reach adds to reached the hats that routes lead to from hat, hat included. It
// does not pass hats that stop accepts; nil accepts none.
func (s Settings) reach(hat string, stop func(string) bool, reached map[string]bool) {
	if reached[hat] || stop != nil && stop(hat) {
		return
	}
	reached[hat] = true
	for _, r := range s.Pattern.Routes {
		if r.From == hat {
			s.reach(r.To, stop, reached)
		}
	}
}
