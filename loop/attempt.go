package loop

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// planSession plans the next session of an attempt. The lease and the binding of
// guidance belong to the same decision, so a crash cannot separate them from the
// session. planSession reports whether advance has to look again: false means
// that the attempt waits for an agent, a slot, or what other sessions leave of a budget.
func (d *decision) planSession(t TaskState) bool {
	r, w, id := d.run(), t.Attempt, t.Task.ID
	hat, ok := r.upcoming().Hats[w.Hat]
	if d.orphaned(t) {
		d.replan(id, fmt.Sprintf("the pattern has no %s any more", w.Hat))
		return true
	}
	if !ok {
		d.end(ledger.RunEnded{Reason: ledger.ReasonInternal, Text: fmt.Sprintf("pattern %s routes to hat %q, which is not there", r.Settings.Pattern.Name, w.Hat)})
		return true
	}
	if r.Settings.MaxIterations > 0 && r.Iterations() >= r.Settings.MaxIterations {
		d.finish(ledger.RunEnded{Reason: ledger.ReasonIterations, Text: fmt.Sprintf("%d iterations", r.Iterations())})
		return true
	}
	if w.Sessions >= ledger.MaxSessions {
		d.failAttempt(id, ledger.OutcomeLimit, reason(fmt.Sprintf("%d sessions without converging", w.Sessions), w.open()))
		return true
	}
	agent, held, ok := d.agentFor(w, hat)
	if !ok {
		d.blockForSecond(t)
		return true
	}
	if d.Project.busy() && !d.canPlan(&t) {
		return false // the run goes on in another lane
	}
	if held != nil {
		return d.holdFor(agent, *held)
	}
	if d.triesAnother(t, agent) {
		return true
	}
	if d.onTrial(agent) {
		return false // a Wake input comes when its session has ended
	}
	if n := d.Shared.MaxSessions; n > 0 && len(d.Shared.Leases) >= n {
		return false // a Wake input comes when a slot is free
	}
	if d.accountBusy(agent) {
		return false // as above
	}
	reserved, short := d.reserve(t, hat, agent)
	if short != nil && mayFit(*short) {
		return false // a Wake input comes when one of the sessions that run has ended
	}
	if short != nil {
		d.holdForBudget(t, *short)
		return true
	}
	if r.State == ledger.RunWaiting {
		d.add(scope{}, ledger.RunStateSet{State: ledger.RunRunning})
	}
	session := fmt.Sprintf("%s-%d", r.ID, r.Agents+1)
	about := scope{task: id, session: session}
	target := guidance.Target{Source: d.Project.Source, Branch: r.requestOf(), Session: session, Hat: hat.Name, Task: ledger.FoldID(id), Parent: ledger.FoldID(t.Task.Parent), Writes: hat.Writes()}
	binding := d.Project.Guidance.Plan(target)
	outside := d.outsideText(d.Project.readsOutside(t, hat, binding))
	network := d.agentNetwork(hat, agent, outside)
	if why, needs := d.closedNetwork(network, outside); why != "" {
		d.add(about, ledger.AttemptEnded{Outcome: ledger.OutcomeBlocked, Why: why})
		d.block(id, blockage{reason: why, needs: needs})
		return true
	}
	raised := t.raised(hat)
	reopen := w.Fresh && w.N > 1
	d.addShared(ledger.LeaseGranted{Session: session, Project: d.in.Project, Agent: agent, Reserved: reserved})
	d.add(about, ledger.SessionPlanned{
		Kind: ledger.KindAgent, Hat: hat.Name, Agent: agent, Model: r.Settings.ModelFor(hat, agent, raised), Tree: w.Tree, Round: w.Rounds,
		Guidance: binding, Replaces: w.Replaces, Note: w.Note, Wall: hat.Timeout, Stall: hat.StallTimeout,
		Network: network, Outside: outside, Raised: raised, Second: w.second(hat), Reserved: reserved,
	})
	if len(binding.Bound)+len(binding.Shown) > 0 {
		d.add(about, ledger.GuidanceBound{Hat: hat.Name, Writes: target.Writes, Binding: binding, Reopen: reopen})
	}
	d.effect(session, ledger.EffectStart{Session: session, Tree: w.Tree, Restore: true})
	return true
}

// orphaned reports whether the attempt's next hat is missing from the pattern in
// force. The pattern may have changed during this run, or while the attempt was
// parked. The work so far then fits no route of the new pattern, and the attempt
// has to start anew.
func (d *decision) orphaned(t TaskState) bool {
	s, w := d.run().upcoming().For(t.Task), t.Attempt
	fits := hasHats(s, w.Hat) && (w.Hat != hatVerifier || t.Task.Verifier || s.Pattern.RoutesFrom(w.Hat))
	return !w.Converged && !fits && w.Hat != firstHat(s, t.Task, t.startsWithPlan())
}

// holdFor makes the run wait for an agent that cannot be used now. If only a
// person can make the agent usable again, the run waits only in a daemon that
// stays, which tries the agent from time to time; otherwise the run ends.
// holdFor reports whether it ended the run.
func (d *decision) holdFor(agent string, h AgentHold) bool {
	if h.Unusable && d.run().Settings.Stays {
		d.wait(ledger.WaitAgent, h.Until, agent, fmt.Sprintf("%s: %s", agent, h.Text))
		return false
	}
	if h.Unusable {
		d.finish(ledger.RunEnded{Reason: ledger.ReasonNothing, Agent: agent, Text: fmt.Sprintf("agent %s cannot be used: %s", agent, h.Text)})
		return true
	}
	d.wait(ledger.WaitLimit, h.Until, agent, fmt.Sprintf("%s: %s", agent, h.Text))
	return false
}

// redo repeats the session's hat, or fails the attempt when a limit of failed
// sessions or red verifications in a row is reached.
func (d *decision) redo(t TaskState, b ledger.Redo) {
	input := t.Attempt.Tree
	d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, b)
	t, _ = d.task(t.Task.ID)
	switch w := t.Attempt; {
	case w.FailedRow >= ledger.MaxFailed:
		d.failAttempt(t.Task.ID, ledger.OutcomeFailed, failedRow(w, b))
	case w.RedBatches >= ledger.MaxRed && w.Verified.Kind == ledger.KindBatch:
		d.failAttempt(t.Task.ID, ledger.OutcomeRed, reason(stillFails(*w.Verified), fmt.Sprintf("failed in %d batches", w.RedBatches)))
	case w.Red >= ledger.MaxRed && w.Verified.Kind == ledger.KindRepro:
		d.failAttempt(t.Task.ID, ledger.OutcomeRed, reason(fmt.Sprintf("not reproduced in %d sessions: %s", w.Red, unreproduced(*w.Verified))))
	case w.Red >= ledger.MaxRed:
		d.failAttempt(t.Task.ID, ledger.OutcomeRed, stayedRed(w, input))
	}
}

// replan ends an attempt without counting it as failed. The task becomes ready, and its
// next attempt starts from the branch's tip.
func (d *decision) replan(task, why string) {
	d.add(scope{task: task}, ledger.AttemptEnded{Replan: true, Outcome: ledger.OutcomeAnew, Why: why})
	if t, ok := d.task(task); ok {
		d.planAnew(t, why)
	}
	d.setTask(task, ledger.Ready, "starts anew: "+why)
}

// failAttempt ends an attempt without success. The task is ready for another
// attempt, planned anew if the settings ask for it, or blocked after
// ledger.MaxAttempts of them (docs/spec 2.5).
func (d *decision) failAttempt(task string, outcome ledger.AttemptOutcome, why string) {
	t, ok := d.task(task)
	if !ok || t.Attempt == nil {
		return
	}
	w := t.Attempt
	about := scope{task: task, session: w.Session}
	tried := trying(w)
	d.submit(t, ledger.Submit{Result: "fail", Outcome: outcome, Reason: why})
	d.add(about, ledger.AttemptEnded{Failed: true, Outcome: outcome, Why: why})
	t, _ = d.task(task)
	switch {
	case d.replanDue(t):
		d.planAgain(t, w, why)
		return
	case t.Failed >= ledger.MaxAttempts, t.Replanned > 0:
		d.block(task, blockage{reason: why, tried: tried, work: w})
		return
	}
	d.planAnew(t, "its plan failed")
	d.setTask(task, ledger.Ready, fmt.Sprintf("attempt %d failed: %s", t.Attempts, why))
}

// submit records the result of the task's current attempt, with its evidence and
// duration.
func (d *decision) submit(t TaskState, b ledger.Submit) {
	w := t.Attempt
	b.Evidence, b.ClosedAt, b.TotalDurationMs = w.Proof, d.in.Time, d.in.Time.Sub(w.Began).Milliseconds()
	d.add(scope{task: t.Task.ID, session: w.Session}, b)
}

// trying returns one line about the attempt for the question that blocks its
// task: the summaries of the last two sessions that gave one.
func trying(w *Attempt) string {
	var parts []string
	for _, s := range w.History {
		if s.Summary != "" {
			parts = append(parts, s.Hat+": "+s.Summary)
		}
	}
	if len(parts) > 2 {
		parts = parts[len(parts)-2:]
	}
	return strings.Join(parts, "; ")
}

// cutTask cuts off the sessions of one task.
func (d *decision) cutTask(t TaskState, why string) {
	for _, s := range d.Project.Sessions {
		if ledger.SameID(s.Task, t.Task.ID) {
			d.cut(s, why)
		}
	}
}
