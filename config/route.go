package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// CheckPattern returns the mistakes in a pattern, given the hats that exist
// (docs/spec 2.7). The rules are:
//
//   - start and all hats of routes exist;
//   - every event of its hats has exactly one route on each side of the threshold, besides routes that are used up;
//   - every hat is reachable from the start, and converged from every hat;
//   - a route with each divides a plan, or a tester's verdict on what such a plan made, and leads to a hat that writes and ends in one way;
//   - issues of a review reach a hat that fixes them;
//   - each cycle contains a hat that writes or reviews, since nothing could change in any other.
//
// An attempt's limit of 20 sessions and the no-progress rule bound the
// remaining cycles (docs/spec 2.5, 2.6). The returned problems have no file and
// no line.
func CheckPattern(p ledger.Pattern, hats map[string]ledger.Hat) []ledger.Diagnostic {
	return checkPattern(p, hats, func(route int, _, text string) ledger.Diagnostic {
		if route >= 0 {
			text = fmt.Sprintf("route %d: %s", route+1, text)
		}
		return ledger.Diagnostic{Text: fmt.Sprintf("pattern %s: %s", p.Name, text)}
	})
}

// routeProblem makes a problem with a field of a route, or of the pattern
// itself when route is -1.
type routeProblem func(route int, field, text string) ledger.Diagnostic

func checkPattern(p ledger.Pattern, hats map[string]ledger.Hat, at routeProblem) []ledger.Diagnostic {
	// The checks below read the routes as a graph, which is meaningful only
	// when all names are valid.
	if problems := checkNames(p, hats, at); len(problems) > 0 {
		return problems
	}
	problems := checkSides(p, at)
	reached := reach(p, p.Start)
	for i, r := range p.Routes {
		if !reached[r.From] && firstFrom(p, r.From) == i {
			problems = append(problems, at(i, "from", fmt.Sprintf("no route leads to %s, so it never works", r.From)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		if ledger.EndsAttempt(name) {
			continue
		}
		hat := hats[name]
		for _, event := range hat.Emits {
			if !slices.ContainsFunc(p.Routes, func(r ledger.Route) bool { return r.From == name && r.On == event }) {
				problem := at(firstFrom(p, name), "from", fmt.Sprintf("%s can end with %s, and no route says what follows", name, event))
				problem.Remedy = fmt.Sprintf("Add [[route]] from = %q, on = %q, to = …", name, event)
				problems = append(problems, problem)
			}
		}
		if !reach(withoutOnceRoutes(p), name)[ledger.Converged] {
			problems = append(problems, at(firstFrom(p, name), "from", fmt.Sprintf("from %s no way leads to %q, so no task would ever be done", name, ledger.Converged)))
		}
	}
	for i, r := range p.Routes {
		if r.On == eventReview && r.When != ledger.Below && r.Most() == 0 && reached[r.From] && !reachesFixer(p, hats, r) {
			problem := at(i, "to", fmt.Sprintf("what %s finds is fixed by nobody: from %s no way leads to a hat that ends with %s", r.From, r.To, eventFix))
			problem.Remedy = fmt.Sprintf("Send it to a fixer: [[route]] from = %q, on = %q, when = \"above\", to = \"fixer\"", r.From, r.On)
			problems = append(problems, problem)
		}
	}
	problems = append(problems, checkEach(p, hats, at)...)
	if p.Consensus {
		for _, wrong := range checkConsensus(p, hats) {
			problem := at(-1, "consensus", wrong.Text)
			problem.Remedy = wrong.Remedy
			problems = append(problems, problem)
		}
	}
	if idle := idleCycle(p, hats, reached); idle != "" {
		problems = append(problems, at(firstFrom(p, idle), "from", fmt.Sprintf("%s comes round to itself, and on the way nobody writes and nobody reviews", idle)))
	}
	return problems
}

// checkNames checks that the hats and events of the routes exist.
func checkNames(p ledger.Pattern, hats map[string]ledger.Hat, at routeProblem) []ledger.Diagnostic {
	var problems []ledger.Diagnostic
	known := slices.Sorted(maps.Keys(hats))
	unknown := func(route int, field, name string, also ...string) bool {
		if _, ok := hats[name]; ok || slices.Contains(also, name) {
			return false
		}
		problem := at(route, field, fmt.Sprintf("no hat %q", name))
		problem.Meant = nearest.Of(name, append(also, known...))
		problems = append(problems, problem)
		return true
	}
	if len(p.Routes) == 0 {
		problems = append(problems, at(-1, "start", "the pattern has no routes"))
	}
	unknown(-1, "start", p.Start)
	for i, r := range p.Routes {
		unknown(i, "to", r.To, ledger.Converged, ledger.GivenUp)
		if unknown(i, "from", r.From) {
			continue
		}
		hat := hats[r.From]
		switch {
		case r.On == ledger.EventQuestion || r.On == ledger.EventBlocked:
			problems = append(problems, at(i, "on", fmt.Sprintf("%s goes to a person from every hat: leave the route out", r.On)))
		case !slices.Contains(hat.Emits, r.On):
			problem := at(i, "on", fmt.Sprintf("%s does not end with %q, but with %s", r.From, r.On, list(hat.Emits)))
			problem.Meant = nearest.Of(r.On, hat.Emits)
			problems = append(problems, problem)
		case r.When != "" && !slices.Contains(hat.Payload, "issues"):
			problem := at(i, "when", fmt.Sprintf("when = %q looks at issues, which %s need not have", r.When, r.On))
			problem.Remedy = fmt.Sprintf(`Add "issues" to the payload of hat %s, or leave when out`, r.From)
			problems = append(problems, problem)
		}
	}
	return problems
}

// checkSides finds events that are routed twice, or on one side of the
// threshold only.
func checkSides(p ledger.Pattern, at routeProblem) []ledger.Diagnostic {
	type key struct{ from, on string }
	var problems []ledger.Diagnostic
	var order []key
	settled := map[key]map[ledger.ThresholdSide]int{} // per side, the index of the route that is always taken
	once := map[key]map[ledger.ThresholdSide]int{}    // per side, the index of the last route that is used up
	for i, r := range p.Routes {
		k := key{r.From, r.On}
		if settled[k] == nil {
			settled[k], once[k] = map[ledger.ThresholdSide]int{}, map[ledger.ThresholdSide]int{}
			order = append(order, k)
		}
		if slices.ContainsFunc(sidesOf(r.When), func(side ledger.ThresholdSide) bool { _, ok := settled[k][side]; return ok }) {
			problems = append(problems, at(i, "on", fmt.Sprintf("%s from %s is routed already by an earlier route", r.On, r.From)))
			continue
		}
		in := settled[k]
		if r.Most() > 0 {
			problems = append(problems, checkOnce(p, i, at)...)
			if !ledger.EndsAttempt(r.To) {
				in = once[k]
			}
		}
		for _, side := range sidesOf(r.When) {
			in[side] = i
		}
	}
	for _, k := range order {
		for _, side := range []ledger.ThresholdSide{ledger.Above, ledger.Below} {
			if _, ok := settled[k][side]; ok {
				continue
			}
			when := side
			var problem ledger.Diagnostic
			if i, ok := once[k][side]; ok {
				when = p.Routes[i].When
				problem = at(i, boundKey(p.Routes[i]), fmt.Sprintf("%s goes from %s to %s %s, and no later route says where it goes then", k.on, k.from, p.Routes[i].To, timesText(p.Routes[i].Most())))
			} else {
				other := opposite(side)
				i, ok := settled[k][other]
				if !ok {
					i = once[k][other]
				}
				problem = at(i, "when", fmt.Sprintf("%s from %s is routed %s the threshold only", k.on, k.from, other))
			}
			problem.Remedy = fmt.Sprintf("Add [[route]] from = %q, on = %q, ", k.from, k.on)
			if when != "" {
				problem.Remedy += fmt.Sprintf("when = %q, ", when)
			}
			problem.Remedy += "to = …"
			problems = append(problems, problem)
			if when == "" {
				break // one route covers both sides
			}
		}
	}
	return problems
}

// boundKey is the key that bounds a route.
func boundKey(r ledger.Route) string {
	if r.Once {
		return "once"
	}
	return "times"
}

// checkOnce checks a route that is used up.
func checkOnce(p ledger.Pattern, i int, at routeProblem) []ledger.Diagnostic {
	r := p.Routes[i]
	switch {
	case r.To == ledger.GivenUp:
		return []ledger.Diagnostic{at(i, boundKey(r), fmt.Sprintf("an attempt fails only once anyway: leave %s out", boundKey(r)))}
	case r.To == ledger.Converged:
		return []ledger.Diagnostic{at(i, boundKey(r), fmt.Sprintf("a task is committed only once anyway: leave %s out", boundKey(r)))}
	case slices.ContainsFunc(p.Routes[:i], func(e ledger.Route) bool {
		return e.Most() >= r.Most() && e.From == r.From && e.On == r.On && e.To == r.To && (e.When == "" || e.When == r.When)
	}):
		return []ledger.Diagnostic{at(i, boundKey(r), fmt.Sprintf("%s from %s goes to %s %s by an earlier route, so never by this one", r.On, r.From, r.To, timesText(r.Most())))}
	case r.Most() == 1 && r.To != r.From && !reachWithout(p, p.Start, r.To)[r.From]:
		return []ledger.Diagnostic{at(i, boundKey(r), fmt.Sprintf("whoever comes to %s has been at %s, so this route is never taken", r.From, r.To))}
	}
	return nil
}

// sidesOf returns the sides of the threshold on which the route can be taken.
func sidesOf(when ledger.ThresholdSide) []ledger.ThresholdSide {
	if when == "" {
		return []ledger.ThresholdSide{ledger.Above, ledger.Below}
	}
	return []ledger.ThresholdSide{when}
}

func opposite(side ledger.ThresholdSide) ledger.ThresholdSide {
	if side == ledger.Above {
		return ledger.Below
	}
	return ledger.Above
}

// reach returns the hats that can be reached from a hat, including itself.
func reach(p ledger.Pattern, from string) map[string]bool { return reachWithout(p, from, "") }

// reachWithout returns the hats that can be reached from a hat on paths that
// avoid another one.
func reachWithout(p ledger.Pattern, from, without string) map[string]bool {
	if from == without {
		return nil
	}
	seen := map[string]bool{from: true}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		for _, r := range p.Routes {
			if r.From == todo[0] && r.To != without && !seen[r.To] {
				seen[r.To] = true
				todo = append(todo, r.To)
			}
		}
	}
	return seen
}

// withoutOnceRoutes returns the pattern without its routes that are used up.
// Later in an attempt these routes are used up, so their targets must be
// reachable without them.
func withoutOnceRoutes(p ledger.Pattern) ledger.Pattern {
	p.Routes = slices.DeleteFunc(slices.Clone(p.Routes), func(r ledger.Route) bool { return r.Most() > 0 && !ledger.EndsAttempt(r.To) })
	return p
}

// reachesFixer reports whether issues of a review can reach a fixing hat before
// they return to the review.
func reachesFixer(p ledger.Pattern, hats map[string]ledger.Hat, review ledger.Route) bool {
	for name := range reachWithout(p, review.To, review.From) {
		if slices.Contains(hats[name].Emits, eventFix) {
			return true
		}
	}
	return false
}

// idleCycle returns a hat on a cycle in which no hat writes or reviews, or "".
// Routes that are used up cannot form such a cycle.
func idleCycle(p ledger.Pattern, hats map[string]ledger.Hat, reached map[string]bool) string {
	quiet := ledger.Pattern{}
	for _, r := range p.Routes {
		if r.When == "" && r.Most() == 0 && !hats[r.From].Writes() {
			quiet.Routes = append(quiet.Routes, r)
		}
	}
	for _, r := range quiet.Routes {
		if reached[r.From] && reach(quiet, r.To)[r.From] {
			return r.From
		}
	}
	return ""
}

// firstFrom returns the index of the first route that leaves the hat, or -1.
func firstFrom(p ledger.Pattern, hat string) int {
	return slices.IndexFunc(p.Routes, func(r ledger.Route) bool { return r.From == hat })
}

// checkEach checks the routes that divide their event. The sessions of all pieces count
// as one session of their hat, so what follows them must not depend on what one of them
// says.
func checkEach(p ledger.Pattern, hats map[string]ledger.Hat, at routeProblem) (problems []ledger.Diagnostic) {
	divided := map[string]int{}
	for i, r := range p.Routes {
		if r.Each == "" {
			continue
		}
		to := hats[r.To]
		before, again := divided[r.On]
		switch {
		case r.On != ledger.EventPlan && r.On != ledger.EventFailed:
			problems = append(problems, at(i, "each", fmt.Sprintf("each = %q divides a plan, and %s is none", r.Each, r.On)))
		case again:
			problems = append(problems, at(i, "each", fmt.Sprintf("route %d divides %s already", before+1, r.On)))
		case r.On == ledger.EventPlan && r.Most() > 0:
			problems = append(problems, at(i, boundKey(r), fmt.Sprintf("a plan is divided whenever there is a new one: leave %s or each out", boundKey(r))))
		case r.On == ledger.EventFailed && p.BuilderOf(r.Each) == "":
			problems = append(problems, at(i, "each", fmt.Sprintf("%s is divided by the sections of the plan, and no route divides that", r.On)))
		case !to.Writes():
			problems = append(problems, at(i, "each", fmt.Sprintf("each %s needs a hat that writes files, and %s writes none", r.Each, r.To)))
		case len(to.Emits) > 1:
			problems = append(problems, at(i, "each", fmt.Sprintf("what follows all of the sections cannot depend on how one of them ends, and %s ends with one of %s", r.To, list(to.Emits))))
		}
		divided[r.On] = i
	}
	return problems
}
