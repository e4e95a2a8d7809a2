package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// kindFolder holds kinds of fixes, beside the folders of hats and patterns.
const kindFolder = "kinds"

// Kinds returns the kinds of fixes that a project knows, by name, from the same places as
// Hats. What is wrong in any file is an *Error.
func Kinds(cfg *Config, p *Project) ([]triage.Kind, error) {
	all := map[string]triage.Kind{}
	var problems []ledger.Diagnostic
	for _, l := range cfg.layers(p) {
		kinds, ps := readFolder(l, kindFolder, readKind)
		problems = append(problems, ps...)
		maps.Copy(all, kinds)
	}
	if err := newError(problems); err != nil {
		return nil, err
	}
	var out []triage.Kind
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name])
	}
	return out, nil
}

// Limits of the passes of a review (docs/spec 7.6).
const (
	fewestPasses = 2
	mostPasses   = 5
)

// readKind turns a document into a kind of fix.
func readKind(doc *document) (string, triage.Kind, []ledger.Diagnostic) {
	var f struct {
		Name   string   `toml:"name"`
		Tier   *int     `toml:"tier"`
		Words  []string `toml:"words"`
		Paths  []string `toml:"paths"`
		Passes []string `toml:"passes" oneof:"intent bugs security guidelines visual"`
	}
	problems := bind(doc, &f)
	bad := func(p ledger.Diagnostic) { problems = append(problems, p) }
	checkName(doc, []string{"name"}, "a kind of fix", f.Name, bad)
	tier := ledger.Tier(deref(f.Tier, 0))
	if f.Tier != nil && (tier < ledger.TierSimple || tier > ledger.TierComplex) {
		bad(doc.atValue([]string{"tier"}, "a tier is 1, 2 or 3"))
	}
	if len(f.Words) == 0 && len(f.Paths) == 0 && !doc.has("words") && !doc.has("paths") {
		bad(doc.atKey([]string{"words"}, "a kind of fix needs words or paths by which a report shows it"))
	}
	k := triage.Kind{Name: f.Name, Tier: tier, Words: f.Words, Paths: f.Paths}
	for _, pass := range ledger.Passes() { // in the order in which a review makes them
		if slices.Contains(f.Passes, string(pass)) {
			k.Passes = append(k.Passes, pass)
		}
	}
	if n := len(k.Passes); n < fewestPasses && len(problems) == 0 {
		bad(doc.atKey([]string{"passes"}, fmt.Sprintf("a review has %d to %d different passes, this one %d", fewestPasses, mostPasses, n)))
	}
	return f.Name, k, problems
}
