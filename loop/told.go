package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// keptTold limits the warnings of a plan that are remembered.
const keptTold = 200

// unsaid returns the warnings of a preflight without those about the plan that people
// were told before: each is said once a plan, and again when its text is another one.
// Those about the machine or the repository are said at each start. A check says all,
// because it was asked for them.
func (d *decision) unsaid(b Preflighted) []ledger.Diagnostic {
	warnings := d.Project.untold(b.Warnings)
	if d.run().Check {
		return warnings
	}
	plan, told := d.run().Settings.Source.Path, d.Project.Told[d.Project.Source]
	return slices.DeleteFunc(warnings, func(w ledger.Diagnostic) bool {
		about := w.File == plan || slices.ContainsFunc(b.Snapshot.Warnings, func(o ledger.Diagnostic) bool { return toldKey(o) == toldKey(w) })
		return about && slices.Contains(told, toldKey(w))
	})
}

// toldKey identifies a warning wherever its line moves to.
func toldKey(w ledger.Diagnostic) string { return w.File + "\x00" + w.Text }

// applyTold remembers the warnings about files that a start tells, of plans that are
// worked on or were lately.
func (p Project) applyTold(b ledger.PreflightDone) Project {
	if p.Run == nil || p.Run.Check {
		return p
	}
	told := p.Told[p.Source]
	for _, w := range b.Warnings {
		if w.File != "" && !slices.Contains(told, toldKey(w)) {
			told = append(slices.Clip(told), toldKey(w))
		}
	}
	if len(told) == len(p.Told[p.Source]) {
		return p
	}
	all := map[string][]string{}
	for source, keys := range p.Told {
		if _, shelved := p.Shelf[source]; shelved {
			all[source] = keys
		}
	}
	all[p.Source] = told[max(len(told)-keptTold, 0):]
	p.Told = all
	return p
}
