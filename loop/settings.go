package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// firstHat returns the hat that an attempt at the task begins with. With anew it is
// the planner, as TaskState.startsWithPlan says. A part has its plan already, and may
// name its hat.
func firstHat(s ledger.Settings, t ledger.Task, anew bool) string {
	planner := s.Planner()
	switch {
	case planner != "" && (anew || argues(s, t)):
		return planner
	case hasHats(s, t.Hat):
		return t.Hat
	case t.Parent != "" && planner == s.Pattern.Start:
		return afterPlan(s)
	}
	return s.Pattern.Start
}

// Hats that argue about a plan. No pattern routes to them: where consensus is
// asked for, the event of any pattern's planner goes to them first.
const (
	hatCritic    = "critic"
	hatArchitect = "architect"
)

// Arguing returns the hats that a plan passes before it is built, where
// consensus is asked for.
func Arguing() []string { return []string{hatCritic, hatArchitect} }

// argues reports whether the task's plan goes to the critic before anything is
// built. A part is excluded: its plan was criticised with its task's. So is the
// task that fixes a red baseline: it ends with the run, and its plan could not
// outlive it.
func argues(s ledger.Settings, t ledger.Task) bool {
	// a user's own hat can have this name
	critic := slices.Contains(s.Hats[hatCritic].Emits, ledger.EventCritique)
	architect := slices.Contains(s.Hats[hatArchitect].Emits, ledger.EventAdvice)
	return (s.Consensus || s.Pattern.Consensus || t.Consensus) && !isPart(t) && critic && architect
}

// afterPlan returns the hat that a settled plan goes to.
func afterPlan(s ledger.Settings) string {
	if to := s.Pattern.Next(s.Planner(), ledger.EventPlan, false, func(string) int { return 0 }); to != "" {
		return to
	}
	return s.Pattern.Start
}

// verifyCommands returns the commands of a check of the given kind. files are
// the changed ones; without the list every command runs. Hooks judge what would be
// committed, which the trees of a guard and of a proof are not.
func verifyCommands(s ledger.Settings, kind ledger.Kind, files []ledger.FileChange) (cmds []ledger.Command) {
	for _, c := range s.Verify {
		switch {
		case c.Run == ledger.HooksCommand && len(s.Verify) > 1 && (kind == ledger.KindGuard || kind == ledger.KindProof):
		case c.When == "final" && !runsFinal(kind):
		case c.When == "code" && kind == ledger.KindVerify && onlyProse(files):
		default:
			cmds = append(cmds, c)
		}
	}
	return cmds
}

// runsFinal reports whether a check runs the commands for the end of a run. A guard
// does: a final check runs the checks as they are by then, also those that an
// attempt weakened.
func runsFinal(kind ledger.Kind) bool {
	return kind == ledger.KindFinal || kind == ledger.KindLift || kind == ledger.KindBatch || kind == ledger.KindGuard
}

// newCheck returns the check of a tree by the given commands, with the setup that
// they need: of the work folder if fresh says so, and of a room if there is
// anything to run in it.
func newCheck(s ledger.Settings, kind ledger.Kind, tree string, fresh bool, cmds []ledger.Command) ledger.ChecksBegun {
	c := ledger.ChecksBegun{Kind: kind, Tree: tree}
	if fresh {
		c.Commands = append(c.Commands, s.Setup...)
	}
	c.Work = len(c.Commands)
	if len(cmds) > 0 {
		c.Commands = append(c.Commands, s.Setup...)
	}
	c.Setup = len(c.Commands)
	c.Commands = append(c.Commands, cmds...)
	return c
}

// onlyProse reports whether only documents changed.
func onlyProse(files []ledger.FileChange) bool {
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".md") && !strings.HasPrefix(f.Path, "docs/") {
			return false
		}
	}
	return len(files) > 0
}
