package loop

import "github.com/nightporter/nightporter/loop/ledger"

// LaneWait is what an attempt waits to do while another one does it: "" = nothing.
type LaneWait string

// What attempts in lanes do one after another.
const (
	WaitsToVerify LaneWait = "verify" // in the room that checks have in turn
	WaitsToCommit LaneWait = "commit" // onto the tip of the branch
	WaitsToMerge  LaneWait = "merge"  // a part, into the tree of its task
)

// AwaitsTurn returns what the attempt at a task waits to do, and the id of the task that
// does it now. behind is "" if a check of the run itself has the room, or if nobody has
// it at the moment.
func (s State) AwaitsTurn(t TaskState) (to LaneWait, behind string) {
	switch {
	case t.Status != ledger.Active || t.Attempt == nil:
		return "", ""
	case t.Attempt.Stage == ledger.StageRoom:
		for _, x := range s.Project.Sessions {
			if x.Planned.Kind != ledger.KindAgent && !s.Project.inOwnRoom(x) && !ledger.SameID(x.Task, t.Task.ID) {
				return WaitsToVerify, x.Task
			}
		}
		return WaitsToVerify, ""
	case t.Attempt.Stage != ledger.StageTurn:
		return "", ""
	}
	to = WaitsToCommit
	if t.Task.Joins {
		to = WaitsToMerge
	}
	for _, o := range s.Project.inLanes() {
		merges := o.Task.Joins && o.Attempt.Stage == ledger.StageMerge && ledger.SameID(o.Task.Parent, t.Task.Parent)
		if t.Task.Joins && merges || !t.Task.Joins && o.landing() {
			return to, o.Task.ID
		}
	}
	return to, ""
}

// landing reports whether the task's change is on its way into the branch: merged,
// verified on the tip, or being committed.
func (t *TaskState) landing() bool {
	return t.Attempt.Converged && !t.Task.Joins && t.Attempt.Stage != ledger.StageTurn
}
