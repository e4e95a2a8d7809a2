package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// cutAll cuts every session in flight.
func (d *decision) cutAll(why string) {
	for _, s := range d.Project.Sessions {
		d.cut(s, why)
	}
}

// cut asks for the end of a session, and records once that it was cut. A
// session with an accepted event is not recorded as cut: its work counts, and
// it only loses the rest of its grace period.
func (d *decision) cut(s Session, why string) {
	if s.Cut {
		return
	}
	if s.Event != nil {
		d.effect(d.uniqueKey(s.ID), ledger.EffectEnd{Session: s.ID})
		return
	}
	d.add(scope{task: s.Task, session: s.ID}, ledger.SessionCut{Why: why})
	d.effect(d.uniqueKey(s.ID), ledger.EffectEnd{Session: s.ID})
}

// finish parks the task under way and ends the run. Queued tasks are first verified
// and committed, unless the run is to stop, and then a branch tip with the run's
// commits, unless that was done already or the run has to stop at once
// (docs/spec 2.3). Last the branch is pushed.
func (d *decision) finish(e ledger.RunEnded) {
	r := d.run()
	if r.Over() || r.Finishing != nil || d.drains(e) {
		return
	}
	if r.Batch != nil {
		d.add(scope{}, ledger.BatchEnded{Why: string(e.Reason)})
	}
	d.park(string(e.Reason))
	if !d.batchThenEnd(e) {
		d.finalCheck(e)
	}
}

// batchThenEnd begins a batch of the queued tasks, after which the run ends with e. It
// reports whether there is one.
func (d *decision) batchThenEnd(e ledger.RunEnded) bool {
	r := d.run()
	if tasks, _ := d.nextBatch(); len(tasks) == 0 || r.StopNow || !batchBefore(e.Reason) {
		return false
	}
	if r.Finishing == nil {
		e.Exit = e.ExitCode()
		d.add(scope{}, ledger.RunFinishing{Ending: e})
	}
	d.beginBatch()
	return true
}

// batchBefore reports whether queued tasks are verified before a run ends for this
// reason. A person who stops the run wants its end, and what fails on the branch
// by itself fails in a batch, too.
func batchBefore(reason ledger.Reason) bool {
	return reason != ledger.ReasonStopped && reason != ledger.ReasonBaseline
}

// finalCheck verifies the branch tip, unless that was done already, pushes it, and
// ends the run.
func (d *decision) finalCheck(e ledger.RunEnded) {
	r := d.run()
	switch {
	case d.unverified() && !r.StopNow:
		if r.Finishing == nil {
			e.Exit = e.ExitCode()
			d.add(scope{}, ledger.RunFinishing{Ending: e})
		}
		d.add(scope{}, newCheck(r.Settings, ledger.KindFinal, r.Tip, false, verifyCommands(r.Settings, ledger.KindFinal, nil)))
		d.nextCheck(scope{}, true)
	case d.pushes(e):
		if d.run().Checks == nil && !d.Project.busy() { // else advance begins it
			d.checkLift()
		}
	case r.Finishing != nil:
		d.finished(e)
	default:
		d.end(e)
	}
}

// pushes begins the push of the branch of a run that ends with e, and reports
// whether the run's end waits for it: published ends the run then.
func (d *decision) pushes(e ledger.RunEnded) bool {
	if r := d.run(); r.Finishing == nil {
		if !d.publishes() || r.StopNow || d.unverified() {
			return false
		}
		e.Exit = e.ExitCode()
		d.add(scope{}, ledger.RunFinishing{Ending: e})
	}
	return d.publish()
}

// unverified reports whether the branch has commits that HEAD does not have, and
// its tip was not verified.
func (d *decision) unverified() bool {
	r := d.run()
	return (r.Commits > 0 || r.Base.From != "") && len(verifyCommands(r.Settings, ledger.KindFinal, nil)) > 0 &&
		r.FinalTip != r.Tip && d.Project.Green[d.Project.tipKey()] != r.Tip
}

// park keeps the attempts under way for the next run. A limit, a pause for
// review or a stop does not count as a failure.
func (d *decision) park(why string) {
	for _, t := range d.Project.Tasks.of(setActive) {
		if d.lineGone(t) {
			d.rest(*t)
			continue
		}
		if t.Attempt != nil {
			d.add(scope{task: t.Task.ID}, ledger.AttemptEnded{Outcome: ledger.OutcomeParked, Why: why})
		}
		d.setTask(t.Task.ID, ledger.Ready, "goes on where it was")
	}
}

// end closes the run with e. It adds the counts, the words of proof, the branch,
// the result of the final verification and the command that resumes the run. It
// drops questions that end with a run, and expires guidance for hats that no
// later run can have.
func (d *decision) end(e ledger.RunEnded) {
	if d.drains(e) {
		return
	}
	d.park(string(e.Reason))
	if d.run().Wave != nil {
		d.endWave(string(e.Reason))
	}
	d.restTasks() // else questions stay open that nobody can answer
	d.notDrafted(e)
	if d.run().Aside() {
		if e.Reason == ledger.ReasonReplaced {
			d.giveBack()
		}
		d.closeOwn()
	}
	if e.Reason == ledger.ReasonDone || e.Reason == ledger.ReasonChosen {
		now := d.nothingLeft()
		e.Reason, e.Text, e.Before = now.Reason, now.Text, now.Before
	}
	if e.FinalCut {
		e.Text = trimJoin(e.Text, "(the branch was not checked at the end)")
	}
	if e.Unpushed = d.cutOff(); len(e.Unpushed) > 0 {
		e.Text = trimJoin(e.Text, "(not pushed: "+joinFew(shortIDs(e.Unpushed))+")")
	}
	r := d.run()
	if r.StopNow && r.Remake != nil && r.Remake.Stage == RemakeChecking {
		d.add(scope{}, ledger.RemakeEnded{Why: "the run was stopped", Made: true})
		r = d.run()
	}
	e.Done, e.Total = d.Project.Count()
	e.Branch, e.Tip, e.Lost = r.Base.Branch, r.Tip, d.lost()
	if !r.Started.IsZero() {
		e.Proof, e.Unsure, e.Unallowed = d.Project.ProofOf(r.ID)
	}
	if e.By == "" && r.State == ledger.RunStopping {
		e.By = r.StopBy
	}
	if f := r.Final; f != nil && r.FinalTip == r.Tip {
		ok := f.OK && len(redResults(f.Results)) == 0
		e.Final, e.FinalOK = f.Results, &ok
		if !f.OK {
			e.Text = strings.TrimPrefix(e.Text+"; the branch fails its checks: "+firstRed(*f), "; ")
		}
	}
	d.endRed(&e)
	e.Exit = e.ExitCode()
	if through := e.Reason == ledger.ReasonDone || e.Reason == ledger.ReasonChosen; !r.Aside() && e.Reason != ledger.ReasonChecked && (!through || e.Exit != 0) {
		s := r.Settings
		if len(e.Before) > 0 { // with the same flag it would find nothing again
			s = s.WithoutFrom()
		}
		e.Resume = s.ResumeCommand()
	}
	for _, q := range d.Project.Questions {
		if q.EndsWithRun() {
			effectsOf(q).drop(d, q, "the run ended")
		}
	}
	d.add(scope{}, e)
	d.askThreshold(r, e)
	for _, i := range d.Project.Guidance.Waiting() {
		if i.Hat != "" && d.run() != nil && !d.Project.Rests(i) && !d.canStillRun(i.Hat) {
			d.add(scope{}, ledger.GuidanceExpired{ID: i.ID, Why: fmt.Sprintf("no %s session in %s", i.Hat, r.ID)})
		}
	}
}

// canStillRun reports whether the project's runs can still plan a session with
// this hat.
func (d *decision) canStillRun(hat string) bool {
	s := d.run().upcoming()
	argued := d.Project.Tasks.contains(func(t *TaskState) bool { return argues(s.For(t.Task), t.Task) })
	if slices.Contains(Arguing(), hat) || hat == s.Planner() && hat != s.Pattern.Start && s.ReplanAfter == 0 {
		return argued
	}
	return hasHats(s, hat) || d.Project.Tasks.contains(func(t *TaskState) bool { return t.Task.Role != "" && t.todo() && hasHats(s.For(t.Task), hat) })
}

// Settled reports whether `nightporter run` has nothing to wait for: the run is
// over, it is paused for review, or a signal cut its sessions off. An effect that
// fails for a fault of the machine is left to the next start, and so is a reply that
// fails. It is true for a project without a run.
func Settled(s State) bool {
	r := s.Project.Run
	switch {
	case r != nil && r.State == ledger.RunOver && r.Remake != nil && !s.Project.stuck():
		return false
	case r != nil && r.State == ledger.RunOver && s.Project.answers():
		return false
	case r == nil, r.State == ledger.RunOver:
		return s.Project.Queued == nil
	case r.State == ledger.RunPaused:
		return r.Wait == ledger.WaitReview
	}
	return r.State == ledger.RunStopping && r.StopNow && r.Signal != "" && (s.Project.stuck() || !s.Project.busy())
}

// Capturing reports whether a signal stopped the run at once and nothing but the
// capture of a session's files is in progress. The process need not wait for it:
// the next start of the run carries it out.
func Capturing(s State) bool {
	r := s.Project.Run
	if r == nil || r.State != ledger.RunStopping || !r.StopNow || r.Signal == "" {
		return false
	}
	captures := 0
	for _, t := range s.Project.inLanes() {
		switch t.Attempt.Stage {
		case ledger.StageCapture:
			captures++
		case ledger.StageMerge, ledger.StageCommit:
			return false
		}
	}
	return captures > 0 && len(s.Project.Sessions) == 0
}

// longestLimit is the longest wait for an agent's limit that the core accepts.
// Limits last hours, a day or a week, and the time comes from text that a
// session wrote.
const longestLimit = 8 * 24 * time.Hour

// lateBy is how long the run waits for an agent before it tries again, if the
// end of the wait is unknown.
const lateBy = 15 * time.Minute
