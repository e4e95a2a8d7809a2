package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// firstHat is the hat that an attempt at the task begins with. After one that
// stood still it is the planner: a plan is disposable, and another round of
// the same is what stood still (docs/spec 2.5). A part has its plan already.
func firstHat(s ledger.Settings, t ledger.Task, stalled bool) string {
	planner := s.Planner()
	switch {
	case planner != "" && (stalled || argues(s, t)):
		return planner
	case t.Parent != "" && planner == s.Pattern.Start:
		return afterPlan(s)
	}
	return s.Pattern.Start
}

// Hats that argue about a plan. They are in no pattern's routes: whatever the
// pattern, its planner's event goes to them first where consensus is asked for.
const (
	hatCritic    = "critic"
	hatArchitect = "architect"
)

// Arguing lists the hats that a plan goes to before it is built, where
// consensus is asked for.
func Arguing() []string { return []string{hatCritic, hatArchitect} }

// argues reports whether the task's plan goes to the critic before anything is
// built. A part's plan was argued about with its task's; and a red baseline is
// mended by a task of the run alone, which has none that could outlive it.
func argues(s ledger.Settings, t ledger.Task) bool {
	// A person's own hats of these names may be for something else.
	critic := slices.Contains(s.Hats[hatCritic].Emits, ledger.EventCritique)
	architect := slices.Contains(s.Hats[hatArchitect].Emits, ledger.EventAdvice)
	return (s.Consensus || s.Pattern.Consensus || t.Consensus) && !isPart(t) && critic && architect
}

// afterPlan is the hat that a settled plan goes to.
func afterPlan(s ledger.Settings) string {
	if to := s.Pattern.Next(s.Planner(), ledger.EventPlan, false, func(string) bool { return false }); to != "" {
		return to
	}
	return s.Pattern.Start
}

// commands lists what is run for a check: setup first where it is due, then
// the verification commands that apply to the changed files.
func verificationCommands(s ledger.Settings, kind ledger.Kind, files []ledger.FileChange, setup bool) (cmds []ledger.Command, setups int) {
	if setup {
		cmds = append(cmds, s.Setup...)
	}
	setups = len(cmds)
	for _, c := range s.Verify {
		switch {
		case c.When == "final" && kind != ledger.KindFinal:
		case c.When == "code" && kind == ledger.KindVerify && onlyProse(files):
		default:
			cmds = append(cmds, c)
		}
	}
	return cmds, setups
}

// onlyProse reports whether nothing but documents changed.
func onlyProse(files []ledger.FileChange) bool {
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".md") && !strings.HasPrefix(f.Path, "docs/") {
			return false
		}
	}
	return len(files) > 0
}
