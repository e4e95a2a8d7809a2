package project

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Unbuilt lists settings that this release accepts but does not act on yet.
// Settings for cost or safety are problems that keep a run from starting,
// because a limit without effect is worse than none; all others are warnings.
func Unbuilt(cfg *config.Config, p config.Project, s ledger.Settings) (problems, warnings []ledger.Diagnostic) {
	file := cfg.File
	warn := func(on bool, key string) {
		if on {
			warnings = append(warnings, ledger.Diagnostic{File: file, Text: key + " is not built yet, and has no effect"})
		}
	}
	if p.Cloud != nil && p.Start != "" && p.Start != "manual" {
		problems = append(problems, ledger.Diagnostic{
			File: file, Text: fmt.Sprintf("start = %q does not go with cloud: a run and the cloud agent would both take the project's tasks", p.Start), Remedy: "Take one of the two out.",
		})
	}
	warn(p.AllowMerge && p.Cloud == nil, "allow_merge")
	worn := map[string]ledger.Hat{} // hats of the pattern; `hats check` covers all hats
	for _, r := range s.Pattern.Routes {
		worn[r.From] = s.Hats[r.From]
	}
	return problems, append(warnings, Idle(worn)...)
}

// changes are the events with which a session reports a change.
var changes = []string{"build.complete", "fix.complete", "docs.complete", "refactor.complete", "repro.complete"}

// Idle warns of custom hats that end with an event about a change but may not
// write anything. Usually write_allowed was forgotten, and a task would count
// as done without any change.
func Idle(all map[string]ledger.Hat) []ledger.Diagnostic {
	var out []ledger.Diagnostic
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := all[name]
		n := slices.IndexFunc(h.Emits, func(e string) bool { return slices.Contains(changes, e) })
		if n < 0 || h.Shipped || h.Writes() {
			continue
		}
		out = append(out, ledger.Diagnostic{
			Text:   fmt.Sprintf("hat %s ends with %s, but may write nothing: whatever it changes is undone", name, h.Emits[n]),
			Remedy: `Give it a scope: [hat.context] write_allowed = ["**"]`,
		})
	}
	return out
}
