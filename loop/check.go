package loop

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// commandExited records the end of one command of a check and plans the next.
func (d *decision) commandExited(s Session, x ledger.Exit) {
	about := scope{task: s.Task, session: s.ID}
	end, text := ledger.EndedEvent, ""
	switch {
	case s.Cut || x.Reason == ledger.ExitAbandoned:
		end = ledger.EndedCut
	case x.Reason == ledger.ExitLeak:
		end, text = ledger.EndedLeak, endText(ledger.EndedLeak, x, s)
	case x.Fault != "":
		end, text = ledger.EndedMachine, endText(ledger.EndedMachine, x, s)
	case x.Reason == ledger.ExitLost || x.OverLimits():
		end, text = ledger.EndedLost, endText(ledger.EndedLost, x, s)
	case x.Reason == ledger.ExitNotStarted:
		end, text = ledger.EndedLost, x.Text
	case x.Reason == ledger.ExitDisk:
		end, text = ledger.EndedDisk, "the disk is full"
	case x.Reason == ledger.ExitWall:
		end, text = ledger.EndedWall, endText(ledger.EndedWall, x, s)
	case x.Reason == ledger.ExitStall:
		end, text = ledger.EndedStall, endText(ledger.EndedStall, x, s)
	default:
		text = x.Text
	}
	if x.Tail == "" {
		x.Tail = text
	}
	ok := end == ledger.EndedEvent && x.Reason == ledger.ExitSelf && x.Code == 0
	unstartable := x.Reason == ledger.ExitNotStarted && x.Fault == "" && d.lostBefore(s) && s.Planned.Kind != ledger.KindShot
	d.add(about, ledger.SessionEnded{Kind: s.Planned.Kind, End: end, Exit: x, OK: ok, Text: text})
	r := d.run()
	if r.idle() || !r.owns(s.ID) {
		return
	}
	if r.Over() && (unstartable || end == ledger.EndedDisk || end == ledger.EndedMachine) {
		// No run is there to wait or to be held: the branch stays unverified until
		// one starts from it.
		d.add(scope{}, ledger.RemakeEnded{Why: "its verification could not be started: " + text, Made: true})
		return
	}
	if s.Cut && s.Task == "" {
		d.cutCheck()
		return
	}
	switch end {
	case ledger.EndedDisk:
		d.holdForDisk()
	case ledger.EndedMachine:
		d.holdForStart(x)
	case ledger.EndedCut:
	default:
		d.startWorked()
	}
	if unstartable {
		// It is the machine's fault or the configuration's, and no session's.
		d.end(ledger.RunEnded{Reason: ledger.ReasonInternal, Text: fmt.Sprintf("%s could not be started: %s", s.Planned.Command, text)})
		return
	}
	if end == ledger.EndedCut || end == ledger.EndedDisk || end == ledger.EndedMachine {
		return // advance plans the command again when nothing holds it back
	}
	owner := scope{}
	if s.Task != "" {
		t, found := d.task(s.Task)
		if !found || t.Attempt == nil || t.Attempt.Checks == nil {
			return // its attempt is over
		}
		owner = scope{task: s.Task, session: t.Attempt.Session}
		if end == ledger.EndedLeak {
			d.failAttempt(s.Task, ledger.OutcomeFailed, text)
			return
		}
	}
	// The next command runs in the room as this one left it. After a lost
	// command the state of the room is unknown, so it is made anew.
	d.nextCheck(owner, end == ledger.EndedLost)
}

// lostBefore reports whether the check of a command lost one before.
func (d *decision) lostBefore(s Session) bool {
	c := d.checkOf(s.Task)
	return c != nil && c.Lost > 0
}

// checked records the result of a check whose commands have all run, and continues
// the run or the attempt that waited for it.
func (d *decision) checked(about scope, c Checks) {
	if c.Kind == ledger.KindShot {
		d.shot(about, c)
		return
	}
	v := ledger.Verified{Kind: c.Kind, Results: slices.Clone(c.Results), Tree: c.Tree}
	if len(c.Commands) > c.Setup { // setup that passed proves nothing
		v.Results = slices.DeleteFunc(v.Results, func(res ledger.Result) bool { return res.Setup && res.OK })
	}
	excused := exemptFor(d.run(), about.task)
	if c.Kind == ledger.KindBaseline || c.Kind == ledger.KindRecheck {
		excused = nil // these say what fails; nothing is held against anybody
	}
	switch v.Results, v.OK = judge(v.Results, excused); c.Kind {
	case ledger.KindRepro:
		v.OK = reproduced(c)
	case ledger.KindBatch:
		v = d.judgeBatch(v)
	}
	if about.task != "" && c.Kind != ledger.KindRecheck && c.Kind != ledger.KindGuard && c.Kind != ledger.KindProof {
		d.evidence(about.task, v)
	}
	d.add(about, v)
	switch {
	case about.task != "":
		d.narrowTask(about.task, v)
	case c.Kind == ledger.KindFinal:
		d.setExempt(narrowed(d.run().Exempt, v.Results, func(ledger.Exemption) bool { return true }))
	}
	switch {
	case c.Kind == ledger.KindBaseline:
		d.baselined(v)
	case c.Kind == ledger.KindBatch, d.run().Batch != nil: // advance goes on with the batch
	case c.Kind == ledger.KindRecheck && about.task == "":
		d.settleRed()
	case c.Kind == ledger.KindRecheck:
		d.rechecked(about.task, v)
	case c.Kind == ledger.KindFinal:
		if e := d.run().Finishing; e != nil {
			d.finalCheck(*e)
		}
	case c.Kind == ledger.KindLift:
		d.goOnPublishing()
	default:
		d.verified(about.task, v)
	}
}

// evidence records the results of a check as evidence of a task's attempt.
func (d *decision) evidence(task string, v ledger.Verified) {
	t, ok := d.task(task)
	if !ok || t.Attempt == nil {
		return
	}
	for _, res := range v.Results {
		d.add(scope{task: task, session: t.Attempt.Session}, ledger.Evidence{Kind: "build", Command: res.Run, ExitCode: res.Exit, DurationMs: res.Ms, Tail: res.Tail, Flaky: res.Flaky})
	}
}

// finished ends a run after the check of its branch tip. If the run ended only
// because it waited for people, and they answered during that check, the run
// counts as done when no task is left. A task that they want repeated is left
// to the next run.
func (d *decision) finished(e ledger.RunEnded) {
	wanted := e.By != "" && d.run().State != ledger.RunStopping // goOn sets By: a person asked for more work during the check
	e.By = ""
	left := d.Project.Tasks.contains(func(t *TaskState) bool {
		return d.wanted(t) && t.Status != ledger.Done && t.Status != ledger.Skipped && t.Status != ledger.Withdrawn
	})
	if e.Reason == ledger.ReasonManual && !left {
		e.Reason, e.Text = ledger.ReasonDone, ""
	}
	d.end(e)
	if wanted {
		d.goOn()
	}
}

// verified continues an attempt after its tree was verified. A green tree is
// routed or committed. A red one goes back to the same hat, so that no reviewer
// sees it (docs/spec 2.3).
func (d *decision) verified(task string, v ledger.Verified) {
	t, ok := d.task(task)
	if !ok || t.Attempt == nil {
		return
	}
	w := t.Attempt
	switch {
	case v.OK && v.Kind == ledger.KindVerify && w.unguarded():
		d.guard(t)
	case (v.OK || v.Kind == ledger.KindProof) && v.Kind != ledger.KindRepro && !w.guardFailed() && len(w.fewer()) > 0:
		d.fewerRan(t)
	case v.Kind == ledger.KindGuard:
		d.guarded(t, firstRed(v))
	case v.Kind == ledger.KindProof:
		d.converge(t)
	case v.OK && w.Converged:
		d.converge(t)
	case v.OK:
		d.stands(t, v.Tree)
	case v.Kind == ledger.KindRepro:
		d.redo(t, ledger.Redo{Why: ledger.RedoNotReproduced, Tree: v.Tree, Note: notReproduced(v)})
	case w.Converged:
		d.collided(t, nil, "on the branch as it is now verification fails: "+firstRed(v))
	case len(t.strayedAgain()) > 0:
		paths := t.strayedAgain()
		d.add(scope{task: task, session: w.Session}, ledger.Redo{Why: ledger.RedoScope, Tree: v.Tree, Note: fmt.Sprintf("Files out of scope were undone again (%s), and without them verification fails.", joinFew(paths)) + runsItselfNote(w.Captured.RunsItself)})
		t, _ = d.task(task)
		d.askAllow(t, paths, d.in.Time.Add(d.run().Settings.QuestionTimeout.D()))
	case w.Captured != nil && len(w.Captured.Outside) > 0:
		d.redo(t, ledger.Redo{Why: ledger.RedoScope, Failed: true, Tree: w.Tree,
			Note: fmt.Sprintf("Files out of scope were undone (%s), and without them verification fails.", joinFew(w.Captured.Outside)) + runsItselfNote(w.Captured.RunsItself)})
	case (w.Red == ledger.MaxRed-1 || d.lapsed(task, v)) && !w.Rechecked && v.Kind == ledger.KindVerify:
		d.recheck(t, v)
	default:
		d.red(t, v)
	}
}

// red repeats the hat and tells it which command failed.
func (d *decision) red(t TaskState, v ledger.Verified) {
	d.redo(t, ledger.Redo{Why: ledger.RedoRed, Tree: v.Tree, Note: "Verification failed after the session before: " + firstRed(v)})
}

// recheck runs the failed commands on the attempt's start commit after a second
// red verification in a row. They may fail for a reason that no session can
// fix, such as a certificate that expired at midnight. The commands run in a
// room like every other check (docs/decisions/0011).
func (d *decision) recheck(t TaskState, v ledger.Verified) {
	s, w := d.run().Settings, t.Attempt
	var red []ledger.Command
	for _, c := range s.Verify {
		if slices.ContainsFunc(v.Results, func(r ledger.Result) bool { return r.Run == c.Run && !r.OK && !r.Advisory }) {
			red = append(red, c)
		}
	}
	if len(red) == 0 { // only a reproducer's command failed, and the start commit has to fail that
		d.red(t, v)
		return
	}
	about := scope{task: t.Task.ID, session: w.Session}
	d.add(about, newCheck(s, ledger.KindRecheck, w.Base, false, red))
	d.nextCheck(about, true)
}

// rechecked decides whether a red verification counts against the attempt. What
// fails on the start commit too, and did not when the run began, is nobody's
// fault: profile overnight goes on and exempts it for this task. Every other
// profile ends the run, and its next start asks about it as about a red baseline
// (docs/spec 2.3).
func (d *decision) rechecked(task string, now ledger.Verified) {
	t, ok := d.task(task)
	if !ok || t.Attempt == nil || t.Attempt.Verified == nil {
		return
	}
	if t.Attempt.Verified.OK {
		d.recounted(t)
		return
	}
	v, r := *t.Attempt.Verified, d.run()
	broke := brokenSince(now, exemptFor(r, task), task)
	if len(broke) == 0 {
		d.red(t, v)
		return
	}
	text := "fails on the start commit too by now: " + firstRed(now)
	if r.Settings.Profile != "overnight" {
		d.red(t, v)
		d.finish(ledger.RunEnded{Reason: ledger.ReasonBaseline, Text: text})
		return
	}
	d.add(scope{}, ledger.BaselineBroke{Commands: commandsOf(broke), Text: text, Exempt: broke})
	// What else is red counts against the attempt. If there is nothing else, the
	// tree counts as green.
	left := v
	left.Results, left.OK = judge(v.Results, exemptFor(d.run(), task))
	d.add(scope{task: task, session: t.Attempt.Session}, left)
	d.verified(task, left)
}

// reproduced reports whether a reproducer's command failed both times it ran. A
// command that could not be run (exit 126 or 127, or no exit code) does not count:
// it shows nothing about the fault.
func reproduced(c Checks) bool {
	if len(c.Results) == 0 {
		return false
	}
	last := c.Results[len(c.Results)-1]
	return !last.Setup && !last.OK && last.Exit > 0 && last.Exit != 126 && last.Exit != 127
}

// notReproduced returns the note that tells the reproducer's next session what is
// wrong with its command.
func notReproduced(v ledger.Verified) string {
	last := v.Results[len(v.Results)-1]
	said := fmt.Sprintf("nightporter ran %q on your tree, ", last.Run)
	switch {
	case last.Flaky:
		return said + "twice: it failed once and passed once. Make it fail every time."
	case last.OK:
		return said + "and it passed. It has to fail, and to fail because of the fault."
	case last.Exit == 126 || last.Exit == 127 || last.Exit <= 0:
		return said + fmt.Sprintf("and it could not be run (exit %d: %s). Name a command that runs here.", last.Exit, whyRed(last))
	}
	return fmt.Sprintf("%q failed before your command was run: %s", last.Run, whyRed(last))
}
