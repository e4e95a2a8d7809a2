package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nightporter/nightporter/loop"
)

// Patterns returns every pattern that a project can use, by name, from the
// same places as Hats. What is wrong in any file is an *Error; a pattern of
// the house that a hat of the user's own no longer fits is left out, because
// nothing says that it is used.
func Patterns(cfg *Config, p *Project) (map[string]loop.Pattern, error) {
	cat, problems := cfg.catalogue(p)
	out := map[string]loop.Pattern{}
	for name, f := range cat.patterns {
		ps := f.check(cat.hats)
		if len(ps) == 0 {
			out[name] = f.pattern
		} else if !f.doc.shipped {
			problems = append(problems, ps...)
		}
	}
	if err := newError(problems); err != nil {
		return nil, err
	}
	return out, nil
}

// patternFile is a pattern and the document that it was read from.
type patternFile struct {
	pattern loop.Pattern
	doc     *document
	broken  bool // something was said of it already
}

func (f patternFile) check(hats map[string]loop.Hat) []Problem {
	if f.broken {
		return nil
	}
	return checkPattern(f.pattern, hats, func(route int, field, text string) Problem {
		path := []string{field}
		if route >= 0 {
			path = []string{"route", strconv.Itoa(route), field}
		}
		if f.doc.shipped { // nobody can mend a line of a file that is not there
			return Problem{Text: fmt.Sprintf("pattern %s: %s", f.pattern.Name, text)}
		}
		return f.doc.atValue(path, text)
	})
}

// readPattern turns a document into a pattern. Whether its hats and events
// exist is CheckPattern's to say.
func readPattern(doc *document) (string, patternFile, []Problem) {
	var f struct {
		Name      string    `toml:"name"`
		Start     string    `toml:"start"`
		Threshold *[]string `toml:"threshold" oneof:"critical major minor suggestion"`
		MinRounds *int      `toml:"min_rounds"`
		Route     []struct {
			From string `toml:"from"`
			On   string `toml:"on"`
			When string `toml:"when" oneof:"above below"`
			To   string `toml:"to"`
		} `toml:"route"`
	}
	problems := bind(doc, &f)
	bad := func(p Problem) { problems = append(problems, p) }
	checkName(doc, []string{"name"}, "a pattern", f.Name, bad)
	if f.Start == "" && !doc.has("start") {
		bad(doc.atKey([]string{"start"}, "a pattern needs a start: the hat that a task begins with"))
	}
	p := loop.Pattern{
		Name: f.Name, Start: f.Start, MinRounds: or(f.MinRounds, 1),
		Threshold: []loop.Severity{loop.Critical, loop.Major}, // SPEC 2.6
	}
	if f.Threshold != nil {
		p.Threshold = nil
		for _, s := range *f.Threshold {
			p.Threshold = append(p.Threshold, loop.Severity(s))
		}
	}
	for i, r := range f.Route {
		at := []string{"route", strconv.Itoa(i)}
		for _, k := range []string{"from", "on", "to"} {
			if !doc.has(append(at, k)...) {
				bad(doc.atKey(child(at, k), fmt.Sprintf("a route needs from, on and to; this one lacks %q", k)))
			}
		}
		p.Routes = append(p.Routes, loop.Route{From: r.From, On: r.On, When: loop.When(r.When), To: r.To})
	}
	return f.Name, patternFile{pattern: p, doc: doc, broken: len(problems) > 0}, problems
}

// CheckPattern says what is wrong with a pattern, given the hats that exist
// (SPEC 2.7): start and all hats known, every event that a hat of it emits
// routed exactly once on each side of the threshold, every hat reached from
// the start, converged reached from every hat, and no cycle in which nobody
// writes and nobody reviews, since nothing would change in it. All other
// cycles are bounded by an attempt's 20 sessions and by the rule against
// standing still (SPEC 2.5, 2.6).
//
// Its problems have no place in a file.
func CheckPattern(p loop.Pattern, hats map[string]loop.Hat) []Problem {
	return checkPattern(p, hats, func(route int, _, text string) Problem {
		if route >= 0 {
			text = fmt.Sprintf("route %d: %s", route+1, text)
		}
		return Problem{Text: fmt.Sprintf("pattern %s: %s", p.Name, text)}
	})
}

// at makes a problem with a field of a route, or of the pattern for route -1.
type at func(route int, field, text string) Problem

func checkPattern(p loop.Pattern, hats map[string]loop.Hat, at at) []Problem {
	// What follows reads routes as a graph, which has a meaning only once all
	// names are right.
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
		if name == loop.Converged {
			continue
		}
		hat := hats[name]
		for _, event := range hat.Emits {
			if !slices.ContainsFunc(p.Routes, func(r loop.Route) bool { return r.From == name && r.On == event }) {
				problem := at(firstFrom(p, name), "from", fmt.Sprintf("%s can end with %s, and no route says what follows", name, event))
				problem.Fix = fmt.Sprintf("Add [[route]] from = %q, on = %q, to = …", name, event)
				problems = append(problems, problem)
			}
		}
		if !reach(p, name)[loop.Converged] {
			problems = append(problems, at(firstFrom(p, name), "from", fmt.Sprintf("from %s no way leads to %q, so no task would ever be done", name, loop.Converged)))
		}
	}
	if idle := idleCycle(p, hats, reached); idle != "" {
		problems = append(problems, at(firstFrom(p, idle), "from", fmt.Sprintf("%s comes round to itself, and on the way nobody writes and nobody reviews", idle)))
	}
	return problems
}

// checkNames looks at each name by itself.
func checkNames(p loop.Pattern, hats map[string]loop.Hat, at at) []Problem {
	var problems []Problem
	known := slices.Sorted(maps.Keys(hats))
	unknown := func(route int, field, name string, also ...string) bool {
		if _, ok := hats[name]; ok || slices.Contains(also, name) {
			return false
		}
		problem := at(route, field, fmt.Sprintf("no hat %q", name))
		problem.Meant = nearest(name, append(also, known...))
		problems = append(problems, problem)
		return true
	}
	if len(p.Routes) == 0 {
		problems = append(problems, at(-1, "start", "the pattern has no routes"))
	}
	unknown(-1, "start", p.Start)
	for i, r := range p.Routes {
		unknown(i, "to", r.To, loop.Converged)
		if unknown(i, "from", r.From) {
			continue
		}
		hat := hats[r.From]
		switch {
		case r.On == loop.EventQuestion || r.On == loop.EventBlocked:
			problems = append(problems, at(i, "on", fmt.Sprintf("%s goes to a person from every hat: leave the route out", r.On)))
		case !slices.Contains(hat.Emits, r.On):
			problem := at(i, "on", fmt.Sprintf("%s does not end with %q, but with %s", r.From, r.On, list(hat.Emits)))
			problem.Meant = nearest(r.On, hat.Emits)
			problems = append(problems, problem)
		case r.When != "" && !slices.Contains(hat.Payload, "issues"):
			problem := at(i, "when", fmt.Sprintf("when = %q looks at issues, which %s need not have", r.When, r.On))
			problem.Fix = fmt.Sprintf(`Add "issues" to the payload of hat %s, or leave when out`, r.From)
			problems = append(problems, problem)
		}
	}
	return problems
}

// checkSides looks for events that are routed twice, or on one side only.
func checkSides(p loop.Pattern, at at) []Problem {
	type key struct{ from, on string }
	var problems []Problem
	sides := map[key]map[loop.When]int{}
	var order []key
	for i, r := range p.Routes {
		k := key{r.From, r.On}
		if sides[k] == nil {
			sides[k] = map[loop.When]int{}
			order = append(order, k)
		}
		_, always := sides[k][""]
		_, same := sides[k][r.When]
		if always || same || (r.When == "" && len(sides[k]) > 0) {
			problems = append(problems, at(i, "on", fmt.Sprintf("%s from %s is routed already by an earlier route", r.On, r.From)))
			continue
		}
		sides[k][r.When] = i
	}
	for _, k := range order {
		s := sides[k]
		for _, side := range []loop.When{loop.Above, loop.Below} {
			other := loop.Below
			if side == loop.Below {
				other = loop.Above
			}
			if i, ok := s[side]; ok && len(s) == 1 {
				problem := at(i, "when", fmt.Sprintf("%s from %s is routed %s the threshold only", k.on, k.from, side))
				problem.Fix = fmt.Sprintf("Add [[route]] from = %q, on = %q, when = %q, to = …", k.from, k.on, other)
				problems = append(problems, problem)
			}
		}
	}
	return problems
}

// reach is what can be reached from a hat, itself included.
func reach(p loop.Pattern, from string) map[string]bool {
	seen := map[string]bool{from: true}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		for _, r := range p.Routes {
			if r.From == todo[0] && !seen[r.To] {
				seen[r.To] = true
				todo = append(todo, r.To)
			}
		}
	}
	return seen
}

// idleCycle is a hat on a cycle of hats that neither write nor review, or "".
func idleCycle(p loop.Pattern, hats map[string]loop.Hat, reached map[string]bool) string {
	quiet := loop.Pattern{}
	for _, r := range p.Routes {
		if r.When == "" && !hats[r.From].Writes() {
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

// firstFrom is the index of the first route that leaves a hat, or -1.
func firstFrom(p loop.Pattern, hat string) int {
	return slices.IndexFunc(p.Routes, func(r loop.Route) bool { return r.From == hat })
}
