package loop

import "github.com/nightporter/nightporter/loop/ledger"

// firstHat is the hat that an attempt at the task begins with. After one that
// stood still it is the planner: a plan is disposable, and another round of
// the same is what stood still (SPEC 2.5). A part has its plan already.
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
