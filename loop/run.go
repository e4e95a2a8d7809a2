package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// pause pauses the run after the current session, or at once if b.Now is set:
// then the session is cut and repeated on resume.
func (d *decision) pause(b Pause) {
	r := d.run()
	switch {
	case r.Over():
		d.refuse(ledger.CodeIdle, "%s is idle: nothing to pause", d.in.Project)
		return
	case r.State == ledger.RunPaused:
		d.say("%s is paused already", d.in.Project)
		return
	case r.State == ledger.RunPlanning:
		d.refuse(ledger.CodeStarting, "%s is being checked before its start; pause it once it runs", r.ID)
		return
	case r.State == ledger.RunStopping, r.Finishing != nil:
		d.refuse(ledger.CodeEnding, "%s is ending; there is nothing to pause", r.ID)
		return
	}
	if b.Now {
		d.cutAll("pause now")
	}
	d.add(scope{}, ledger.RunStateSet{State: ledger.RunPausing, Wait: ledger.WaitPerson})
	if t, ok := d.Project.inHand(); ok && d.Project.busy() {
		if b.Now {
			d.say("%s pauses; %s %s reruns on /resume", d.in.Project, ledger.ShortID(t.Task.ID), t.Attempt.Hat)
		} else {
			d.say("%s pauses after %s %s", d.in.Project, ledger.ShortID(t.Task.ID), t.Attempt.Hat)
		}
		return
	}
	d.say("%s paused; /resume goes on", d.in.Project)
}

// resume continues a run that is paused, pausing, stopping or waiting. Waiting
// for an agent ends: resume means "try now", also for an agent that was
// unusable. If agent is not "", the run switches to it, and other agents stay
// on hold.
func (d *decision) resume(agent string) {
	r := d.run()
	if r.Over() {
		d.refuse(ledger.CodeIdle, "%s is idle; start it with: nightporter run", d.in.Project)
		return
	}
	if r.Finishing != nil && !(r.State == ledger.RunStopping && r.StopNow) {
		d.refuse(ledger.CodeEnding, "%s is ending: its branch tip is being verified", r.ID)
		return
	}
	if agent != "" && !d.choose(agent) {
		return
	}
	for _, name := range sortedKeys(d.Shared.Agents) { // "try now"
		if agent != "" && agent != name {
			continue // another agent stays on hold
		}
		if r.State == ledger.RunWaiting || d.Shared.Agents[name].Unusable {
			d.addShared(ledger.AgentUsable{Agent: name})
		}
	}
	switch r.State {
	case ledger.RunPausing, ledger.RunPaused, ledger.RunStopping:
		for _, q := range d.Project.Questions {
			if q.Kind == ledger.AskReview {
				d.add(scope{}, ledger.QuestionAnswered{ID: q.ID, Choice: "resume", By: d.by()})
			}
		}
		if r.Wait == ledger.WaitReview {
			d.add(scope{}, ledger.RunResumed{Settings: r.Settings})
		} else {
			d.add(scope{}, ledger.RunStateSet{State: ledger.RunRunning})
		}
		d.say("%s goes on", d.in.Project)
	case ledger.RunWaiting:
		d.add(scope{}, ledger.RunStateSet{State: ledger.RunRunning})
		d.say("%s tries now", d.in.Project)
		if agent != "" {
			d.say("%s goes on with %s", d.in.Project, agent)
		}
	default:
		if agent != "" {
			d.say("%s goes on with %s from the next session", d.in.Project, agent)
		} else if t, ok := d.Project.inHand(); ok {
			d.say("%s is at work: %s %s", d.in.Project, ledger.ShortID(t.Task.ID), t.Attempt.Hat)
		} else {
			d.say("%s is at work", d.in.Project)
		}
	}
}

// choose switches the run to another agent. It returns false, and refuses the
// command, if the run has no such agent.
func (d *decision) choose(agent string) bool {
	s := d.run().Settings
	if agent == s.Agent {
		return true
	}
	if !slices.Contains(s.Others, agent) {
		others := "no other one is configured"
		if len(s.Others) > 0 {
			others = "there are " + strings.Join(s.Others, " ")
		}
		d.refuse(ledger.CodeNoAgent, "%s has no agent %s (%s). Nothing was changed.", d.in.Project, agent, others)
		return false
	}
	d.add(scope{}, ledger.AgentChosen{Agent: agent})
	return true
}

// stop ends the run after the current session, or at once if b.Now is set. A
// signal that cuts a session off does not end the run: the same command resumes
// it (docs/spec 2.4).
func (d *decision) stop(b Stop) {
	r := d.run()
	if r.Over() {
		d.refuse(ledger.CodeIdle, "%s is idle: nothing to stop", d.in.Project)
		return
	}
	if r.State == ledger.RunPlanning {
		d.cutAll("stop")
		d.end(ledger.RunEnded{Reason: ledger.ReasonStopped, Signal: b.Signal, By: d.by(), Text: "before its start"})
		d.say("%s stops; nothing was started", r.ID)
		return
	}
	if b.Now {
		d.cutAll("stop now")
	}
	d.add(scope{}, ledger.RunStateSet{State: ledger.RunStopping, Signal: b.Signal, Now: b.Now})
	if b.Now && d.run().Finishing != nil && !d.Project.busy() {
		d.cutCheck() // a full disk holds the run's check, so the end of that check will not come
	}
	t, ok := d.Project.inHand()
	switch {
	case d.run().Finishing != nil && b.Now:
		d.say("%s ends; its branch tip is not verified", r.ID)
	case d.run().Finishing != nil:
		d.say("%s ends when its branch tip is verified", r.ID)
	case ok && b.Now:
		d.say("stopped; %s starts afresh next time", ledger.ShortID(t.Task.ID))
	case ok && d.Project.busy():
		d.say("%s ends after %s %s", d.in.Project, ledger.ShortID(t.Task.ID), t.Attempt.Hat)
	default:
		d.say("%s ends now", d.in.Project)
	}
}

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

// finish parks the task under way and ends the run. A branch tip with the run's
// commits is first verified in a clean folder, unless that was done already or
// the run has to stop at once (docs/spec 2.3).
func (d *decision) finish(e ledger.RunEnded) {
	r := d.run()
	if r.Over() || r.Finishing != nil {
		return
	}
	d.park(string(e.Reason))
	r = d.run()
	cmds, setups := verificationCommands(r.Settings, ledger.KindFinal, nil, true)
	ours := r.Commits > 0 || r.Base.From != "" // the branch has commits that HEAD does not have
	if ours && len(cmds) > 0 && r.FinalTip != r.Tip && d.Project.Green[d.Project.Source] != r.Tip && !r.StopNow {
		e.Exit = e.ExitCode()
		d.add(scope{}, ledger.RunFinishing{Ending: e})
		d.add(scope{}, ledger.ChecksBegun{Kind: ledger.KindFinal, Tree: r.Tip, Setup: setups, Commands: cmds})
		d.nextCheck(scope{}, true)
		return
	}
	d.end(e)
}

// park keeps the attempts under way for the next run. A limit, a pause for
// review or a stop does not count as a failure.
func (d *decision) park(why string) {
	for _, t := range d.Project.Tasks.of(setActive) {
		if t.Attempt != nil {
			d.add(scope{task: t.Task.ID}, ledger.AttemptEnded{Outcome: ledger.OutcomeParked, Why: why})
		}
		d.setTask(t.Task.ID, ledger.Ready, "goes on from its tree")
	}
}

// end closes the run with e. It adds the counts, the branch, the result of the
// final verification and the command that resumes the run. It drops questions
// that end with a run, and expires guidance for hats that no later run can
// have.
func (d *decision) end(e ledger.RunEnded) {
	d.park(string(e.Reason))
	r := d.run()
	e.Done, e.Total = d.Project.Count()
	e.Branch, e.Tip = r.Base.Branch, r.Tip
	if e.By == "" && r.State == ledger.RunStopping {
		e.By = r.StopBy
	}
	if f := r.Final; f != nil && r.FinalTip == r.Tip {
		ok := f.OK
		e.Final, e.FinalOK = f.Results, &ok
		if !ok {
			e.Text = strings.TrimPrefix(e.Text+"; the branch tip fails verification: "+firstRed(*f), "; ")
		}
	}
	e.Exit = e.ExitCode()
	if through := e.Reason == ledger.ReasonDone || e.Reason == ledger.ReasonChosen; e.Reason != ledger.ReasonChecked && (!through || e.Exit != 0) {
		e.Resume = r.Settings.ResumeCommand()
	}
	for _, q := range d.Project.Questions {
		if q.EndsWithRun() {
			effectsOf(q).drop(d, q, "the run ended")
		}
	}
	d.add(scope{}, e)
	for _, i := range d.Project.Guidance.Waiting() {
		if i.Hat != "" && !d.canStillRun(i.Hat) {
			d.add(scope{}, ledger.GuidanceExpired{ID: i.ID, Why: fmt.Sprintf("no %s session in %s", i.Hat, r.ID)})
		}
	}
}

// canStillRun reports whether the project's runs can still plan a session with
// this hat.
func (d *decision) canStillRun(hat string) bool {
	s := d.run().upcoming()
	argued := d.Project.Tasks.contains(func(t *TaskState) bool { return argues(s, t.Task) })
	if slices.Contains(Arguing(), hat) || hat == s.Planner() && hat != s.Pattern.Start {
		return argued
	}
	return hasHats(s, hat)
}

// Settled reports whether `nightporter run` has nothing to wait for: the run is
// over, it is paused for review, or a signal cut its sessions off. It is true
// for a project without a run.
func Settled(s State) bool {
	r := s.Project.Run
	switch {
	case r == nil, r.State == ledger.RunOver:
		return true
	case r.State == ledger.RunPaused:
		return r.Wait == ledger.WaitReview
	}
	return r.State == ledger.RunStopping && r.StopNow && r.Signal != "" && !s.Project.busy()
}

// effectBroken records an effect that failed, and fails what it belongs to: the
// attempt, the task or the run. Where the state folder cannot be written, it
// only records that: all work waits until the folder is writable again.
func (d *decision) effectBroken(b EffectBroken) {
	r := d.run()
	d.add(scope{task: b.Task}, ledger.EffectFailed{Kind: b.Kind, Key: b.Key, Text: b.Text, Disk: b.Disk})
	if b.Disk {
		return
	}
	if s, ok := d.Project.Session(b.Key); ok && b.Kind == "session.start" {
		// The session never started, so the runner will not report its exit.
		x := ledger.Exit{Session: s.ID, Reason: ledger.ExitNotStarted, Code: -1, Turns: -1, Tokens: -1, Text: b.Text, Started: d.in.Time, Ended: d.in.Time}
		if s.Planned.Kind == ledger.KindAgent {
			d.addShared(ledger.LeaseReleased{Session: s.ID})
		}
		end := ledger.SessionEnded{Kind: s.Planned.Kind, End: ledger.EndedCut, Exit: x, Text: b.Text}
		if s.Planned.Kind == ledger.KindAgent {
			end.Counts = ledger.CountsAsNothing
		}
		d.add(scope{task: s.Task, session: s.ID}, end)
	}
	if r.Over() {
		return
	}
	if b.Kind == "preflight" {
		if r.State != ledger.RunPlanning || r.Base.Commit != "" || b.Key != r.ID {
			return
		}
		f := ledger.Diagnostic{Text: b.Text}
		d.add(scope{}, ledger.PreflightFailed{Problems: []ledger.Diagnostic{f}})
		d.end(ledger.RunEnded{Reason: ledger.ReasonPreflight, Text: b.Text})
		return
	}
	if t, ok := d.task(b.Task); ok && t.Attempt != nil && t.Status == ledger.Active {
		d.add(scope{task: b.Task}, ledger.StageSet{Stage: ledger.StageReady})
		if b.Kind == (ledger.EffectCommit{}).EffectKind() {
			// Another session could not make the branch writable, and the
			// converged task should not be done again.
			d.finish(ledger.RunEnded{Reason: ledger.ReasonNothing, Text: b.Text})
			return
		}
		if b.Kind == (ledger.EffectStart{}).EffectKind() {
			d.cannotStart(t, b.Text)
			return
		}
		d.failAttempt(b.Task, ledger.OutcomeFailed, b.Text)
		return
	}
	if b.Kind == "session.start" || b.Kind == "merge" || b.Kind == "commit" || b.Kind == "takeover" {
		d.end(ledger.RunEnded{Reason: ledger.ReasonInternal, Text: b.Text})
	}
}

// cannotStart blocks a task whose session cannot be started because of its
// scope. A second attempt would have the same scope.
func (d *decision) cannotStart(t TaskState, why string) {
	d.submit(t, ledger.Submit{Result: "fail", Outcome: ledger.OutcomeBlocked, Reason: why})
	d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeBlocked, Why: why})
	d.block(t.Task.ID, blockage{reason: why, needs: "a scope that leaves something to write", work: t.Attempt})
}

// longestLimit is the longest wait for an agent's limit that the core accepts.
// Limits last hours, a day or a week, and the time comes from text that a
// session wrote.
const longestLimit = 8 * 24 * time.Hour

// lateBy is how long the run waits for an agent before it tries again, if the
// end of the wait is unknown.
const lateBy = 15 * time.Minute
