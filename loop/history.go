package loop

import (
	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Size returns how much work the task looks like.
func (t *TaskState) Size() history.Size { return history.SizeOf(&t.Task, t.Triage) }

// applyHistory folds the end of an agent session into the project's history. had is the
// session as it was in flight.
func (p Project) applyHistory(e ledger.Entry, had Session) Project {
	b, is := e.Body.(ledger.SessionEnded)
	if !is || b.Kind != ledger.KindAgent || had.ID == "" || b.Exit.Took() == 0 {
		return p
	}
	if b.Counts != ledger.CountsAsSuccess && b.Counts != ledger.CountsAsFailed {
		return p
	}
	if p.Run != nil && p.Run.Settings.IsScripted(had.Planned.Agent) {
		return p
	}
	key := history.Key{Hat: had.Planned.Hat, Agent: had.Planned.Agent, Model: had.Planned.Model}
	if n := p.index(e.Task); n >= 0 {
		key.Size = p.Tasks.At(n).Size()
	}
	p.History = p.History.WithSession(key, history.Measured(b.Exit))
	return p
}

// applyEffort folds an entry into what the task took. It returns the whole effort and its
// outcome once the task is finished, and no outcome otherwise. had is the session that
// ends, as it was in flight.
func (t *TaskState) applyEffort(r *Run, e ledger.Entry, had Session) (whole history.Effort, outcome history.Outcome) {
	switch b := e.Body.(type) {
	case ledger.Commitment:
		if !b.Resume {
			t.Effort.Attempts++
		}
	case ledger.SessionEnded:
		t.Effort = t.Effort.With(b, t.Attempt != nil && t.Attempt.Converged)
		if b.Kind != ledger.KindAgent {
			break
		}
		if had.Event != nil && had.Event.Type == ledger.EventFix && b.Counts == ledger.CountsAsSuccess {
			t.Effort.Fixes++
		}
		t.Effort.Scripted = t.Effort.Scripted || r != nil && r.Settings.IsScripted(had.Planned.Agent)
	case ledger.Verified:
		if b.Kind == ledger.KindVerify && b.Batch == "" && t.Attempt != nil && !t.Attempt.Converged {
			t.Effort.Times++
		}
	case ledger.TaskSet:
		whole = t.Effort
		switch b.To {
		case ledger.Done:
			outcome = history.OutcomeDone
		case ledger.Blocked:
			if outcome = history.OutcomeBlocked; t.Failed > 0 {
				outcome = history.OutcomeFailed
			}
		case ledger.ManualVerify:
			outcome = history.OutcomeBlocked
		case ledger.Skipped:
			t.Effort = history.Effort{} // a person's decision says nothing of what such a task takes
		}
		if outcome != "" {
			t.Effort = history.Effort{}
		}
	}
	return whole, outcome
}

// finished returns the project after its task n was finished with that effort. A part
// counts with the task that it is part of.
func (p Project) finished(n int, effort history.Effort, outcome history.Outcome) Project {
	if outcome == "" || effort.IsZero() {
		return p
	}
	t := p.Tasks.At(n)
	if parent := p.index(t.Task.Parent); t.Task.Parent != "" && parent >= 0 {
		whole := *p.Tasks.At(parent)
		whole.Effort = whole.Effort.Plus(effort)
		p.Tasks = p.Tasks.with(parent, &whole)
		return p
	}
	if p.Run == nil || effort.Sessions == 0 || effort.Scripted || t.Task.Prepares() {
		return p
	}
	kind := history.Kind{Pattern: p.Run.upcoming().For(t.Task).Pattern.Name, Size: t.Size()}
	p.History = p.History.WithTask(kind, effort.Finished(outcome))
	return p
}
