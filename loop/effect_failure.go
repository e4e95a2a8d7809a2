package loop

import "github.com/nightporter/nightporter/loop/ledger"

// effectBroken records an effect that failed, and fails what it belongs to: the
// attempt, the task or the run. For a fault of the machine it fails nothing: the
// engine tries the effect again, and the run may have to wait.
func (d *decision) effectBroken(b EffectBroken) {
	if b.Fault != "" {
		d.faulty(b)
		d.unpublished(b)
		return
	}
	r := d.run()
	d.add(scope{task: b.Task}, ledger.EffectFailed{Kind: b.Kind, Key: b.Key, Text: b.Text})
	d.unpublished(b)
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
	if m := remakeOf(r); m != nil && (b.Kind == (ledger.EffectRemake{}).EffectKind() || r.Over()) {
		d.add(scope{}, ledger.RemakeEnded{Why: b.Text, Made: m.Stage == RemakeChecking})
		return
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
	if GivesUp(d.State) {
		d.giveUp(b)
		return
	}
	if b.Kind == (ledger.EffectReread{}).EffectKind() {
		// As a reading that failed: the run goes on with the tasks as they were
		// known, and doubts none of them any more.
		d.sourceChanged(SourceChanged{Err: b.Text, Doubted: d.in.Time})
		return
	}
	if t, ok := d.task(b.Task); ok && t.Attempt != nil && t.Status == ledger.Active {
		if w := t.Attempt; b.Kind == (ledger.EffectCapture{}).EffectKind() && w.Event == nil {
			d.afterNothing(t, TreeCaptured{Session: w.Session, Taken: ledger.Capture{Tree: w.Tree}}) // its files would only have been kept to look at
			return
		}
		d.add(scope{task: b.Task}, ledger.StageSet{Stage: ledger.StageReady})
		if b.Kind == (ledger.EffectCommit{}).EffectKind() {
			// Another session could not make the branch writable, and the
			// converged task should not be done again.
			d.cannotCommit(t, b.Text)
			return
		}
		if b.Kind == (ledger.EffectStart{}).EffectKind() {
			d.cannotStart(t, b.Text)
			return
		}
		d.failAttempt(b.Task, ledger.OutcomeFailed, b.Text)
		return
	}
	if t, ok := d.workOf(b.Key); ok && b.Kind == (ledger.EffectCapture{}).EffectKind() {
		d.add(scope{task: t.Task.ID}, ledger.StageSet{Stage: ledger.StageReady})
	}
	if b.Kind == "session.start" || b.Kind == "merge" || b.Kind == "chain" || b.Kind == "commit" || b.Kind == "takeover" || b.Kind == "triage" {
		d.end(ledger.RunEnded{Reason: ledger.ReasonInternal, Text: b.Text})
	}
}

// cannotCommit ends the run after a commit that failed. A task of a batch stays in
// the queue, and no other batch is tried.
func (d *decision) cannotCommit(t TaskState, why string) {
	r, e := d.run(), ledger.RunEnded{Reason: ledger.ReasonNothing, Text: why}
	if r.Batch == nil {
		d.finish(e)
		return
	}
	d.enqueue(t)
	d.add(scope{}, ledger.BatchEnded{Why: why})
	d.finalCheck(e)
}

// cannotStart blocks a task whose session cannot be started because of its
// scope. A second attempt would have the same scope.
func (d *decision) cannotStart(t TaskState, why string) {
	d.submit(t, ledger.Submit{Result: "fail", Outcome: ledger.OutcomeBlocked, Reason: why})
	d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeBlocked, Why: why})
	d.block(t.Task.ID, blockage{reason: why, needs: "a scope that leaves something to write", work: t.Attempt})
}

// giveUp ends the run without the effect's result: a person stops it at once. Its
// attempt goes on where it was in the next run.
func (d *decision) giveUp(b EffectBroken) {
	if ledger.RetryOf(b.Kind) != ledger.RetryHolds {
		return
	}
	if d.run().Batch != nil {
		d.add(scope{}, ledger.BatchEnded{Why: "stopped"})
	}
	for _, t := range d.Project.inLanes() {
		d.add(scope{task: t.Task.ID}, ledger.StageSet{Stage: ledger.StageReady})
	}
	d.end(ledger.RunEnded{Reason: ledger.ReasonStopped, Text: b.Text})
}
