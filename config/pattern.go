package config

import (
	"fmt"
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
		Consensus bool      `toml:"consensus"`
		Route     []struct {
			From string `toml:"from"`
			On   string `toml:"on"`
			When string `toml:"when" oneof:"above below"`
			To   string `toml:"to"`
			Once bool   `toml:"once"`
		} `toml:"route"`
	}
	problems := bind(doc, &f)
	bad := func(p Problem) { problems = append(problems, p) }
	checkName(doc, []string{"name"}, "a pattern", f.Name, bad)
	if f.Start == "" && !doc.has("start") {
		bad(doc.atKey([]string{"start"}, "a pattern needs a start: the hat that a task begins with"))
	}
	p := loop.Pattern{
		Name: f.Name, Start: f.Start, MinRounds: or(f.MinRounds, 1), Consensus: f.Consensus,
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
		p.Routes = append(p.Routes, loop.Route{From: r.From, On: r.On, When: loop.When(r.When), To: r.To, Once: r.Once})
	}
	return f.Name, patternFile{pattern: p, doc: doc, broken: len(problems) > 0}, problems
}
