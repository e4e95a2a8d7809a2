package main

import (
	"fmt"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// testsSections makes a pattern with a verifier one of a team: what it finds failed goes to
// the sections that it names, then to an arbiter, and then the attempt fails.
func (w *site) testsSections(s *ledger.Settings) {
	routes := s.Pattern.Routes[:0:0]
	for _, r := range s.Pattern.Routes {
		if r.On != ledger.EventFailed {
			routes = append(routes, r)
			continue
		}
		s.Pattern.DistinctFiles = true
		each, once, failed := r, r, r
		each.Each, each.Times = ledger.EachSection, 3
		once.To, once.Once = "arbiter", true
		failed.To = ledger.GivenUp
		routes = append(routes, each, once, failed,
			ledger.Route{From: "arbiter", On: ledger.EventUpheld, To: r.To}, ledger.Route{From: "arbiter", On: ledger.EventDismissed, To: ledger.Converged})
	}
	s.Pattern.Routes = routes
}

// attempt returns the attempt that the session belongs to, nil if it is over.
func (s *session) attempt() *loop.Attempt {
	if s.w.daemon == nil {
		return nil
	}
	state, _ := s.w.daemon.engine.State(s.w.name)
	t, _ := state.Project.Find(s.launch.Task)
	return t.Attempt
}

// faults returns a verifier's checks of which one or two fail: of a section of the plan,
// or of the whole.
func (s *session) faults() (checks []map[string]any) {
	w := s.w
	var sections []payload.Section
	if a := s.attempt(); a != nil {
		sections = payload.Sections(a.Plan)
	}
	for n := range 1 + w.rnd.IntN(2) {
		check := map[string]any{"criterion": fmt.Sprintf("c%d", n), "ok": false, "how": "tried it"}
		if len(sections) > 0 && !w.one(4) {
			check["section"] = sections[w.rnd.IntN(len(sections))].ID
		}
		checks = append(checks, check)
	}
	return checks
}

// rulings returns an arbiter's event about the criteria that failed.
func (s *session) rulings() (typ string, rulings []map[string]any) {
	typ = ledger.EventDismissed
	a := s.attempt()
	if a == nil {
		return typ, rulings
	}
	for n := range a.Issues {
		criterion, holds := fmt.Sprintf("c%d", n), s.w.one(2)
		if holds {
			typ = ledger.EventUpheld
		}
		rulings = append(rulings, map[string]any{"criterion": criterion, "holds": holds, "reason": "so"})
	}
	return typ, rulings
}
