package loop

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Again returns the time from which a done task that repeats can be ready again, or the
// zero time for any other task. The cooldown of one that was never tried here counts
// from the last attempt that its source records.
func (t *TaskState) Again() time.Time {
	if t.Status != ledger.Done || t.Task.Repeat == nil {
		return time.Time{}
	}
	ended := t.Ended
	if t.Attempts == 0 && !t.Task.Tried.IsZero() {
		ended = t.Task.Tried
	}
	return ended.Add(t.Task.Repeat.Cooldown)
}

// satisfies reports whether tasks that depend on this one may begin. One that repeats
// has to be done once: what needs it would else wait for each of its rounds.
func (t *TaskState) satisfies() bool {
	return t.Status == ledger.Done || t.Repeated && t.Task.Repeat != nil
}

// returns reports whether a done task may come back in the run under way. What the run
// has done already comes back only while other work is left, and without a cooldown
// not at all: else no run with such a task would end.
func (d *decision) returns(t *TaskState) bool {
	r := d.run()
	switch {
	case r.Over() || r.Aside() || !d.wanted(t):
		return false
	case r.Started.IsZero() || t.Ended.Before(r.Started):
		return true
	case t.Task.Repeat.Cooldown == 0:
		return false
	}
	return d.Project.Tasks.contains(func(o *TaskState) bool {
		open := o.Status == ledger.Ready && o.wish() == ledger.MarkOpen || o.Status == ledger.Active || o.Status == ledger.Waiting
		return open && !d.Project.Tasks.comesBack(o) && d.wanted(o)
	})
}

// inAnotherRound reports whether the run has done a ready task already.
func (d *decision) inAnotherRound(t *TaskState) bool {
	r := d.run()
	return t.Task.Repeat != nil && t.Repeated && !t.first() && !r.Started.IsZero() && !t.Ended.Before(r.Started)
}

// comesBack reports whether a task repeats, or is a part of one that does.
func (l TaskList) comesBack(t *TaskState) bool {
	if n := l.index(t.Task.Parent); n >= 0 {
		t = l.At(n)
	}
	return t.Task.Repeat != nil
}

// lastTurn returns when the last attempt at a task began that is done once, or the zero
// time.
func (l TaskList) lastTurn() (last time.Time) {
	for _, t := range l.All() {
		if t.Last.After(last) && !l.comesBack(t) {
			last = t.Last
		}
	}
	return last
}

// settleRepeats makes done tasks ready again whose cooldown is over, and opens them in
// the source.
func (d *decision) settleRepeats() {
	for _, t := range d.Project.Tasks.of(setRepeats) {
		if !d.in.Time.Before(t.Again()) && d.returns(t) {
			d.comeBack(t.Task.ID, "due again")
			d.mark(t.Task.ID, ledger.MarkOpen)
		}
	}
}

func (d *decision) comeBack(id, why string) {
	d.add(scope{task: id}, ledger.TaskSet{From: ledger.Done, To: ledger.Ready, Why: why, Fresh: true, Again: true})
}

// nextRepeat returns when the next task comes back into a run that waits, or the zero
// time. One that is at work looks by itself when that ends.
func nextRepeat(s State) (next time.Time) {
	r := s.Project.Run
	if r.Over() || r.State != ledger.RunWaiting || isFaultWait(r.Wait) || s.Project.busy() {
		return time.Time{}
	}
	d := &decision{State: s}
	for _, t := range s.Project.Tasks.of(setRepeats) {
		if at := t.Again(); (next.IsZero() || at.Before(next)) && d.returns(t) {
			next = at
		}
	}
	return next
}
