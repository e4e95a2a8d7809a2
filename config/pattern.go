package config

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Patterns returns every pattern that a project can use, by name, from the
// same places as Hats. What is wrong in any file is an *Error. A built-in
// pattern that a hat of the user's own no longer fits is left out, because
// nothing says that it is used.
func Patterns(cfg *Config, p *Project) (map[string]ledger.Pattern, error) {
	cat, problems := cfg.catalogue(p)
	out := map[string]ledger.Pattern{}
	for name, f := range cat.patterns {
		ps := f.check(cat)
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

// maxRounds limits a pattern's rounds, so that all of them fit into one attempt
// (docs/spec 2.5).
const maxRounds = 9

// patternFile is a pattern with the document that it was read from.
type patternFile struct {
	pattern ledger.Pattern
	doc     *document
	broken  bool // a problem with it has been reported
}

func (f patternFile) check(cat catalogue) []ledger.Diagnostic {
	if f.hasReported(cat) {
		return nil
	}
	return checkPattern(f.pattern, cat.hats, func(route int, field, text string) ledger.Diagnostic {
		path := []string{field}
		if route >= 0 {
			path = []string{"route", strconv.Itoa(route), field}
		}
		if f.doc.shipped {
			return f.shippedProblem(cat, route, text)
		}
		return f.doc.atValue(path, text)
	})
}

// hasReported reports whether a problem has already been reported for the
// pattern or one of its hats. Further problems would only be consequences of
// that one.
func (f patternFile) hasReported(cat catalogue) bool {
	return f.broken || cat.files[f.pattern.Start].broken || slices.ContainsFunc(f.pattern.Routes, func(r ledger.Route) bool {
		return cat.files[r.From].broken || cat.files[r.To].broken
	})
}

// shippedProblem returns a problem of a shipped pattern. Nobody can edit that
// pattern, so the problem points at the person's hat that replaced a shipped
// one.
func (f patternFile) shippedProblem(cat catalogue, route int, text string) ledger.Diagnostic {
	text = fmt.Sprintf("pattern %s: %s", f.pattern.Name, text)
	if route < 0 {
		return ledger.Diagnostic{Text: text}
	}
	name := f.pattern.Routes[route].From
	own := cat.files[name]
	if own.doc == nil || own.doc.shipped {
		return ledger.Diagnostic{Text: text}
	}
	p := own.doc.atValue([]string{"hat", "exit", "emit_event"}, text)
	p.Remedy = fmt.Sprintf("This hat stands in for the shipped %s: give it the events that the pattern has routes for, or another name and a pattern of its own", name)
	return p
}

// readPattern turns a document into a pattern. CheckPattern verifies later that
// its hats and events exist.
func readPattern(doc *document) (string, patternFile, []ledger.Diagnostic) {
	var f struct {
		Name      string    `toml:"name"`
		Start     string    `toml:"start"`
		Threshold *[]string `toml:"threshold" oneof:"critical major minor suggestion"`
		MinRounds *int      `toml:"min_rounds"`
		Consensus bool      `toml:"consensus"`
		Distinct  bool      `toml:"distinct_files"`
		Route     []struct {
			From  string `toml:"from"`
			On    string `toml:"on"`
			When  string `toml:"when" oneof:"above below"`
			To    string `toml:"to"`
			Once  bool   `toml:"once"`
			Times int    `toml:"times"`
			Each  string `toml:"each" oneof:"section"`
		} `toml:"route"`
	}
	problems := bind(doc, &f)
	bad := func(p ledger.Diagnostic) { problems = append(problems, p) }
	checkName(doc, []string{"name"}, "a pattern", f.Name, bad)
	if f.Start == "" && !doc.has("start") {
		bad(doc.atKey([]string{"start"}, "a pattern needs a start: the hat that a task begins with"))
	}
	if f.MinRounds != nil && *f.MinRounds > maxRounds {
		bad(doc.atValue([]string{"min_rounds"}, fmt.Sprintf("min_rounds can be %d at most: an attempt has 20 sessions, and a round takes two", maxRounds)))
	}
	p := ledger.Pattern{
		Name: f.Name, Start: f.Start, MinRounds: deref(f.MinRounds, 1), Consensus: f.Consensus, DistinctFiles: f.Distinct,
		Threshold: []ledger.Severity{ledger.Critical, ledger.Major}, // docs/spec 2.6
	}
	if f.Threshold != nil {
		p.Threshold = nil
		for _, s := range *f.Threshold {
			p.Threshold = append(p.Threshold, ledger.Severity(s))
		}
	}
	for i, r := range f.Route {
		at := []string{"route", strconv.Itoa(i)}
		for _, k := range []string{"from", "on", "to"} {
			if !doc.has(append(at, k)...) {
				bad(doc.atKey(child(at, k), fmt.Sprintf("a route needs from, on and to; this one lacks %q", k)))
			}
		}
		switch {
		case r.Times != 0 && r.Once:
			bad(doc.atValue(child(at, "times"), "once is times = 1: leave one of the two out"))
		case doc.has(child(at, "times")...) && (r.Times < 1 || r.Times > maxRounds):
			bad(doc.atValue(child(at, "times"), fmt.Sprintf("times can be 1 to %d: how many sessions a hat can have by the route in an attempt", maxRounds)))
		}
		p.Routes = append(p.Routes, ledger.Route{From: r.From, On: r.On, When: ledger.ThresholdSide(r.When), To: r.To, Once: r.Once, Times: r.Times, Each: ledger.Each(r.Each)})
	}
	return f.Name, patternFile{pattern: p, doc: doc, broken: len(problems) > 0}, problems
}
