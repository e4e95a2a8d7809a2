package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// nextCheck plans the next command of the check that is in hand, or closes
// the check. A task's check is about that task; the run's own about none.
// With restore, the work folder is brought to the check's tree first; else it
// is there already.
func (d *decision) nextCheck(about scope, restore bool) {
	r := d.run()
	var c *Checks
	if about.task == "" {
		c = r.Checks
	} else if t, ok := d.task(about.task); ok && t.Attempt != nil {
		c = t.Attempt.Checks
	}
	if c == nil {
		return
	}
	if c.Index >= len(c.Commands) {
		d.checked(about, *c)
		return
	}
	if r.State == ledger.RunStopping && r.StopNow {
		return // held: whoever resumes plans it
	}
	cmd := c.Commands[c.Index]
	wall := cmd.Timeout
	if wall == 0 {
		wall = ledger.DefaultVerifyTimeout
	}
	kind := c.Kind
	if c.Index < c.Setup {
		kind = ledger.KindSetup
	}
	session := fmt.Sprintf("%s-c%d", r.ID, r.Commands+1)
	start := ledger.EffectStart{Session: session, Tree: c.Tree}
	switch {
	case c.Kind == ledger.KindFinal, c.Kind == ledger.KindRecheck:
		start.Clean = c.Tree
	default:
		start.Restore = restore
	}
	d.add(scope{task: about.task, session: session}, ledger.SessionPlanned{
		Kind: kind, Command: cmd.Run, Index: c.Index, Repeat: c.Repeat, Tree: c.Tree, Wall: wall,
	})
	d.effect(session, start)
}

// heldCheck plans the command again of a check that was cut off. It reports
// whether there was one.
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

// holdForDisk holds everything for a minute: the disk is full, or the state
// folder not writable (docs/spec 2.2).
func (d *decision) holdForDisk() {
	state := ledger.RunWaiting
	switch r := d.run(); r.State {
	case ledger.RunPausing, ledger.RunPaused:
		return // nothing is planned anyway
	case ledger.RunPlanning:
		state = ledger.RunPlanning
	case ledger.RunStopping:
		if r.Finishing == nil {
			return
		}
	}
	d.add(scope{}, ledger.RunStateSet{State: state, Wait: ledger.WaitDisk, Until: d.in.Time.Add(time.Minute), Text: "the disk is full"})
}

// cutCheck: a person, or a signal, ended the run's own check.
func (d *decision) cutCheck() {
	r := d.run()
	if r.Finishing == nil || r.Signal != "" {
		return // a signal leaves the run unfinished: the same command takes the check up again
	}
	e := *r.Finishing
	e.Text = trimJoin(e.Text, "(the branch tip was not verified)")
	if e.Exit == 0 {
		e.Exit = 2
	}
	d.end(e)
}

// backoff is the wait after so many network failures in a row: 30 s … 15 min
// (docs/spec 2.2).
func backoff(times int) time.Duration {
	wait := 30 * time.Second
	for n := 1; n < times && wait < lateBy; n++ {
		wait *= 2
	}
	return min(wait, lateBy)
}

// checks lists what is run on what a session of the hat left, by what the hat
// expects of its tree (docs/spec 2.3).
func (d *decision) checks(t TaskState, hat ledger.Hat, files []ledger.FileChange, setup bool) (kind ledger.Kind, cmds []ledger.Command, setups int) {
	s, w := d.run().Settings, t.Attempt
	switch hat.Expect {
	case ledger.ExpectPass:
		cmds, setups = verificationCommands(s, ledger.KindVerify, files, setup)
		return ledger.KindVerify, w.withRepro(cmds), setups
	case ledger.ExpectRepro:
		if setup {
			cmds = slices.Clone(s.Setup)
		}
		return ledger.KindRepro, append(cmds, ledger.Command{Run: payload.String(w.Event.Data, "command")}), len(cmds)
	}
	return ledger.KindVerify, nil, 0
}
