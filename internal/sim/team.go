package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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

// task returns the task that the session belongs to; zero while no daemon knows.
func (s *session) task() (t loop.TaskState) {
	if s.w.daemon == nil {
		return t
	}
	state, _ := s.w.daemon.engine.State(s.w.name)
	t, _ = state.Project.Find(s.launch.Task)
	return t
}

// hasty reports whether the session's verdict leaves a criterion out at first. It draws
// nothing, so that the nights of other seeds stay as they were.
func (s *session) hasty() bool {
	return strings.HasSuffix(s.launch.Session, "3") || strings.HasSuffix(s.launch.Session, "6")
}

// checks returns checks that pass, one for each criterion of the task. With short the
// first of several checks, or the only one by another name.
func (s *session) checks(short bool) []map[string]any {
	t := s.task()
	criteria := t.Criteria()
	if short || len(criteria) == 0 {
		return []map[string]any{{"criterion": "It works", "ok": true, "how": "ran it"}}
	}
	var checks []map[string]any
	for n := range criteria {
		checks = append(checks, map[string]any{"number": n + 1, "criterion": "as asked", "ok": true, "how": "ran it"})
	}
	return checks
}

// withChecks returns the data of an event with other checks.
func withChecks(data json.RawMessage, checks []map[string]any) json.RawMessage {
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		panic(err)
	}
	fields["checks"] = checks
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return raw
}

// faults returns a verifier's checks of which one or two fail: of a section of the plan,
// or of the whole.
func (s *session) faults() (checks []map[string]any) {
	w := s.w
	t := s.task()
	var sections []payload.Section
	if a := t.Attempt; a != nil {
		sections = payload.Sections(a.Plan)
	}
	for n := range 1 + w.rnd.IntN(2) {
		check := map[string]any{"criterion": fmt.Sprintf("c%d", n), "ok": false, "how": "tried it"}
		if len(sections) > 0 && !w.one(4) {
			check["section"] = sections[w.rnd.IntN(len(sections))].ID
		}
		if n == 0 && s.hasty() && len(t.Criteria()) > 0 { // the task's own, which nobody drops
			check["number"] = 1
		}
		checks = append(checks, check)
	}
	return checks
}

// rulings returns an arbiter's event about the criteria that failed.
func (s *session) rulings() (typ string, rulings []map[string]any) {
	typ = ledger.EventDismissed
	t := s.task()
	if t.Attempt == nil {
		return typ, rulings
	}
	for _, i := range t.Attempt.Issues {
		criterion, holds := i.Criterion, s.w.one(2) || slices.Contains(t.Criteria(), i.Criterion)
		if holds {
			typ = ledger.EventUpheld
		}
		rulings = append(rulings, map[string]any{"criterion": criterion, "holds": holds, "reason": "so"})
	}
	return typ, rulings
}
