package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// atWork reports whether the source says of a task that it is at work. A run that a
// signal stopped is continued by the next start of the program, which may be long
// after: meanwhile nobody is at work.
func (r *Run) atWork(t *TaskState) bool {
	return r != nil && r.Settings.MarksWorking && t.Status == ledger.Active && !r.Over() && (r.State != ledger.RunStopping || r.Signal == "")
}

// shown returns the mark that the source has to show for a task, or "" if nightporter
// writes none.
func (d *decision) shown(t TaskState) ledger.Mark {
	switch m := markOf(t.Status); {
	case d.run().atWork(&t):
		return ledger.MarkWorking
	case t.Marked != ledger.MarkWorking:
		return m
	case m == "" || d.withheld(t): // what ends as somebody else's decision, or as no result, is given back
		return ledger.MarkOpen
	default:
		return m
	}
}

// markWorking brings the source in step with the tasks that the decision began to
// work on or left: the first are marked as at work, the others get the mark of their
// status, and failed attempts are counted. before is the state that the decision was
// given.
func (d *decision) markWorking(before State) {
	r := d.run()
	if r == nil || !r.Settings.MarksWorking && !r.Settings.CountsTries || before.Project.Source != d.Project.Source {
		return
	}
	for _, t := range before.Project.Tasks.of(setActive) {
		now, ok := d.task(t.Task.ID)
		if !ok || d.marks(t.Task.ID) || now.yielded() {
			continue
		}
		if before.Project.Run.atWork(t) && !r.atWork(&now) || now.Uncounted > t.Uncounted {
			d.mark(t.Task.ID, d.shown(now))
		}
	}
	for _, t := range d.Project.Tasks.of(setActive) {
		was := before.Project.index(t.Task.ID)
		begun := was < 0 || !before.Project.Run.atWork(before.Project.Tasks.At(was))
		if begun && r.atWork(t) {
			d.mark(t.Task.ID, ledger.MarkWorking)
		}
	}
}

// marks reports whether the decision already marks a task.
func (d *decision) marks(id string) bool {
	return slices.ContainsFunc(d.effects, func(e ledger.Effect) bool {
		m, is := e.Body.(ledger.EffectMark)
		return is && ledger.SameID(m.Task, id)
	})
}

// untold returns the warnings without those that tell nightporter of its own marks.
func (p Project) untold(warnings []ledger.Diagnostic) []ledger.Diagnostic {
	return slices.DeleteFunc(slices.Clone(warnings), func(w ledger.Diagnostic) bool {
		n := p.index(w.AtWork)
		return n >= 0 && p.Tasks.At(n).Marked == ledger.MarkWorking
	})
}

// triesOf returns what the source has to record about how often a task was tried when it
// gets the mark m, or nil if it records nothing or lacks nothing. Of a task that repeats
// it records when it was done: other tools that share the source count its cooldown from
// then, as nightporter does.
func (d *decision) triesOf(t TaskState, m ledger.Mark) *ledger.Tries {
	done := m == ledger.MarkDone && t.Task.Repeat != nil && t.Attempts > 0
	if !d.run().Settings.CountsTries || t.Uncounted == 0 && !done {
		return nil
	}
	tries := ledger.Tries{Failures: max(t.Task.Failures, 0) + t.Uncounted, Last: t.Last}
	if done {
		tries.Last = t.Ended
	}
	return &tries
}

// counted folds the number of failed attempts that the source records now. What it
// has grown by nightporter's own attempts is no other tool's, and the score counts
// these already.
func (t *TaskState) counted(failures int) {
	own := min(max(failures-t.Task.Failures, 0), t.Uncounted)
	t.Uncounted -= own
	t.Counted = min(t.Counted+own, max(failures, 0))
	t.Task.Failures = failures
}
