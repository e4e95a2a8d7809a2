package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Checks of a project have one room in turn (StageRoom), because two suites at once fail
// by shared ports and time limits. A check whose commands are all declared parallel runs
// in a room of its lane's own instead, beside whatever else runs. Its setup still waits
// for its turn: it writes the project's own caches.

// ownRoom reports whether a check of a task's attempt runs in its lane's own room. Where
// the machine mounts no rooms, each lies at a path of its own, and what setup made in
// another one may name the wrong path.
func (r *Run) ownRoom(c *Checks) bool {
	return c.Setup < len(c.Commands) && r.roomsApart(c.Commands[c.Setup:])
}

// ownRooms reports whether the checks of all tasks run in rooms of their lanes' own.
func (r *Run) ownRooms() bool { return r.roomsApart(r.Settings.Verify) }

// roomsApart reports whether the commands can run in a room of a lane's own.
func (r *Run) roomsApart(cmds []ledger.Command) bool {
	return r.Lanes() > 1 && !(r.Base.Copies && len(r.Settings.Setup) > 0) &&
		!slices.ContainsFunc(cmds, func(cmd ledger.Command) bool { return !cmd.Parallel })
}

// roomFree reports whether no command of a check is under way that needs the room which
// checks have in turn.
func (p Project) roomFree() bool {
	return !slices.ContainsFunc(p.Sessions, func(s Session) bool {
		return s.Planned.Kind != ledger.KindAgent && !p.inOwnRoom(s)
	})
}

// inOwnRoom reports whether a command runs in its lane's own room. One whose attempt is
// over counts as in the room of all until it has ended.
func (p Project) inOwnRoom(s Session) bool {
	t, ok := p.Find(s.Task)
	if s.Task == "" || !ok || t.Attempt == nil || t.Attempt.Checks == nil {
		return false
	}
	c := t.Attempt.Checks
	return s.Planned.Index >= c.Setup && p.Run.ownRoom(c)
}

// resumeChecks goes on with a check of a lane that was cut off, while others are at
// work. It reports whether there was one.
func (d *decision) resumeChecks() bool {
	for _, t := range d.Project.inLanes() {
		if t.Attempt.Stage == ledger.StageChecks && t.Attempt.Checks != nil && !d.flies(t.Task.ID) {
			d.nextCheck(scope{task: t.Task.ID, session: t.Attempt.Session}, true)
			return true
		}
	}
	return false
}
