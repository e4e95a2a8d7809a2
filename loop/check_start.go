package loop

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// nextCheck plans the next command of a running check, or completes the check
// after the last one. about names the task whose attempt is checked; without a
// task, it is the check of the run itself. restore says whether the work folder
// or room has to be made anew before the command runs.
func (d *decision) nextCheck(about scope, restore bool) {
	r, c := d.run(), d.checkOf(about.task)
	if c == nil {
		return
	}
	if c.Index >= len(c.Commands) {
		d.checked(about, *c)
		return
	}
	if r.State == ledger.RunStopping && r.StopNow {
		return // held back: the resumed run plans it
	}
	index := c.Index
	if restore {
		// A new room has nothing of what the commands before left, and a new
		// layer nothing of what setup did.
		switch {
		case index > c.Setup:
			index = c.Setup
		case index > c.Work && index < c.Setup:
			index = c.Work
		}
	}
	own := about.task != "" && r.ownRoom(c)
	if !(own && index >= c.Setup) && !d.Project.roomFree() {
		if about.task != "" {
			d.add(about, ledger.StageSet{Stage: ledger.StageRoom})
		}
		return
	}
	cmd := c.Commands[index]
	wall := cmd.Timeout
	if wall == 0 {
		wall = ledger.DefaultVerifyTimeout
	}
	kind := c.Kind
	if index < c.Setup {
		kind = ledger.KindSetup
	}
	repeat := c.Repeat && index == c.Index
	session := fmt.Sprintf("%s-c%d", r.ID, r.Commands+1)
	start := ledger.EffectStart{Session: session, Tree: c.Tree}
	if index < c.Work {
		start.Restore = restore
	} else {
		use := d.roomFor(about, *c)
		if t, ok := d.task(about.task); ok && own {
			use.Own = t.Attempt.Lane + 1
		}
		start.Room, start.Anew = &use, restore || index <= c.Setup && !repeat
	}
	outside := d.outsideCheck(about.task)
	d.add(scope{task: about.task, session: session}, ledger.SessionPlanned{
		Kind: kind, Command: cmd.Run, Index: index, Repeat: repeat, Tree: c.Tree, Wall: wall,
		Network: d.commandNetwork(kind, outside), Outside: outside,
	})
	d.effect(session, start)
}

// checkOf returns the check of a task's attempt, or of the run itself for "". It
// returns nil if there is none.
func (d *decision) checkOf(task string) *Checks {
	if task == "" {
		return d.run().Checks
	}
	if t, ok := d.task(task); ok && t.Attempt != nil {
		return t.Attempt.Checks
	}
	return nil
}

// roomFor returns the room that the commands of a check run in.
func (d *decision) roomFor(about scope, c Checks) ledger.RoomUse {
	r := d.run()
	use := ledger.RoomUse{Tree: c.Tree}
	for _, s := range r.Settings.Setup {
		use.Setup = append(use.Setup, s.Run)
	}
	switch {
	case c.Kind == ledger.KindBaseline:
		use.Tree = r.Base.Commit
	case c.Kind == ledger.KindBatch && r.Batch != nil:
		use.Parent = r.Batch.Onto
	case about.task != "" && c.Kind != ledger.KindRecheck:
		if t, ok := d.task(about.task); ok && t.Attempt != nil && c.Tree != t.Attempt.Base {
			use.Parent = t.Attempt.Base
		}
	}
	return use
}

// heldCheck resumes a check that was cut off with the command that was running. It
// reports whether there was such a check.
func (d *decision) heldCheck() bool {
	if r := d.run(); r.Checks != nil {
		d.nextCheck(scope{}, true)
		return true
	}
	for _, t := range d.Project.Tasks.of(setAttempt) {
		if t.Attempt.Stage == ledger.StageChecks && t.Attempt.Checks != nil {
			d.nextCheck(scope{task: t.Task.ID, session: t.Attempt.Session}, true)
			return true
		}
	}
	return false
}

// holdForDisk makes the run plan nothing for a minute, because the disk is full or
// the state folder is not writable (docs/spec 2.2).
func (d *decision) holdForDisk() {
	d.hold(FailingEffect{Fault: ledger.FaultDisk}, d.in.Time.Add(time.Minute))
}

// cutCheck handles a check of the run itself that a person or a signal cut off. A
// run that was finishing ends with its branch tip unverified.
func (d *decision) cutCheck() {
	r := d.run()
	if r.Finishing == nil || r.Signal != "" {
		return // a signal leaves the run unfinished: the same command resumes the check
	}
	e := *r.Finishing
	e.FinalCut = d.unverified()
	d.end(e)
}

// backoff returns how long an agent is parked after that many network failures in
// a row. It doubles from 30 seconds to at most 15 minutes (docs/spec 2.2).
func backoff(times int) time.Duration {
	wait := 30 * time.Second
	for n := 1; n < times && wait < lateBy; n++ {
		wait *= 2
	}
	return min(wait, lateBy)
}

// checks returns the check of a tree that a session left, chosen by what its hat
// has to leave: a tree that passes, one that reproduces the fault, or any
// (docs/spec 2.3). fresh asks for setup of the work folder as well. A check
// without commands means that there is nothing to verify.
func (d *decision) checks(t TaskState, hat ledger.Hat, tree string, files []ledger.FileChange, fresh bool) ledger.ChecksBegun {
	s, w := d.run().Settings, t.Attempt
	switch hat.Expect {
	case ledger.ExpectPass:
		if t.Task.Joins { // it may need what other sections build: the whole is verified
			return ledger.ChecksBegun{}
		}
		return newCheck(s, ledger.KindVerify, tree, fresh, d.taskCommands(t, files))
	case ledger.ExpectRepro:
		return newCheck(s, ledger.KindRepro, tree, fresh, []ledger.Command{{Run: payload.String(w.Event.Data, "command")}})
	}
	return ledger.ChecksBegun{}
}
