package loop

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A task that failed as often as Settings.ReplanAfter says is planned anew, once,
// until a person takes it up again (docs/spec 2.5). Its next attempt begins with a
// planner, who is told of the failed ones (TaskState.Failures) and may change the way
// or split the task into parts. Whatever fails after that blocks the task: another plan
// would be a loop.

// replanDue reports whether the task is planned anew instead of being tried again as it
// is, or blocked. Not planned anew are tasks that nightporter added itself, those whose
// pattern writes nothing, and parts of a plan that was made anew.
func (d *decision) replanDue(t TaskState) bool {
	s := d.run().upcoming().For(t.Task)
	of, _ := d.task(t.Task.Parent)
	return s.ReplanAfter > 0 && t.Failed >= s.ReplanAfter && t.Replanned == 0 && of.Replanned == 0 &&
		!t.Task.Own && !s.ReadsOnly() && s.Planner() != ""
}

// planAgain makes the task ready for an attempt that begins with a planner. w is the
// attempt that failed last, for the reason why.
func (d *decision) planAgain(t TaskState, w *Attempt, why string) {
	id := t.Task.ID
	d.add(scope{task: id, session: w.Session}, ledger.TaskReplanned{Failed: t.Failed})
	d.planAnew(t, "its plan failed")
	d.setTask(id, ledger.Ready, fmt.Sprintf("planned anew after attempt %d failed: %s", t.Attempts, why))
	t, _ = d.task(id)
	t.Attempt = w
	d.progress(t, "replanned", "", why)
}

// replanned says in words that a task that is blocked was planned anew, itself or as the
// task that it is a part of; "" if it was not.
func (d *decision) replanned(t TaskState) string {
	if of, is := d.task(t.Task.Parent); is && of.Replanned > 0 {
		return fmt.Sprintf("part of a plan made anew after %s", failedAttempts(of.Replanned))
	}
	if t.Replanned > 0 {
		return fmt.Sprintf("planned anew after %s", failedAttempts(t.Replanned))
	}
	return ""
}

// failedAttempts returns "2 failed attempts".
func failedAttempts(n int) string {
	if n == 1 {
		return "1 failed attempt"
	}
	return fmt.Sprintf("%d failed attempts", n)
}

// startsWithPlan reports whether the task's next attempt begins with a planner, whatever
// its pattern begins with. A plan is disposable, and another round of one that stalled
// would stall again (docs/spec 2.5).
func (t *TaskState) startsWithPlan() bool { return t.Stalled || t.Replanned > 0 }

// splits reports whether the sections of the task's plan become parts.
func (t *TaskState) splits(s ledger.Settings) bool {
	s = s.For(t.Task)
	return argues(s, t.Task) || (t.Replanned > 0 || s.Pattern.BuilderOf(ledger.EachSection) != "") && !isPart(t.Task)
}
