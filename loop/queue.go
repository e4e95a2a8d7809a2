package loop

import (
	"cmp"
	"iter"

	"github.com/nightporter/nightporter/loop/ledger"
)

// With queue = "batch" a task that converged is not committed at once: it waits in
// the queue until several tasks can be verified as one, by all commands
// (docs/spec 2.3).
//
// An attempt in the queue stands on the branch's tip. One whose tip moved is merged
// onto the new one and verified by itself, as a commit on a moved branch is, and
// waits again. So conflicts need no rule of their own in a batch: what cannot be
// part of its chain is left out, and meets the commits of the others as a newer
// tip. So does a change of checks, which has to pass by the tip's own checks there.

// Queued reports whether the task's attempt converged and waits for the batch.
func (t *TaskState) Queued() bool {
	return t.Attempt != nil && t.Attempt.Stage == ledger.StageQueued
}

// whyQueued is the reason of a task that waits for the batch, for people.
const whyQueued = "waits for the batch"

// batching reports whether tasks that converge wait for others.
func (d *decision) batching() bool {
	s := d.run().Settings
	return s.Queue == ledger.QueueBatch && !s.CommitStatus && !d.run().InWaves() && len(verifyCommands(s, ledger.KindBatch, nil)) > 0
}

// enqueue lets a task that converged wait for the batch, also one whose commit could
// not be made.
func (d *decision) enqueue(t TaskState) {
	d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, ledger.StageSet{Stage: ledger.StageQueued})
	d.setTask(t.Task.ID, ledger.Ready, whyQueued)
}

// dequeue continues the attempt of a task that was claimed out of the queue,
// because its tip moved or no batch will come. from is the run that it was queued
// in: another one may have other commands.
func (d *decision) dequeue(t TaskState, from string) {
	r, w := d.run(), t.Attempt
	about := scope{task: t.Task.ID, session: w.Session}
	cmds := d.taskCommands(t, nil)
	if from != r.ID && w.Base == r.Tip && len(cmds) > 0 {
		d.add(about, newCheck(r.Settings, ledger.KindVerify, w.Tree, false, cmds))
		d.nextCheck(about, true)
		return
	}
	d.converge(t)
}

// outdated returns a queued task that no batch can take as it is: its attempt does
// not stand on the tip, is of an earlier run, or the run commits each task by
// itself.
func (d *decision) outdated() (TaskState, bool) {
	r, batching := d.run(), d.batching()
	for t := range d.queue() {
		if w := t.Attempt; !batching || w.Base != r.Tip || w.Run != r.ID {
			return *t, true
		}
	}
	return TaskState{}, false
}

// queue iterates over the queued tasks that the run may commit, in the order of the
// source.
func (d *decision) queue() iter.Seq[*TaskState] {
	return func(yield func(*TaskState) bool) {
		for _, t := range d.Project.Tasks.of(setAttempt) {
			if t.Queued() && d.wanted(t) && t.wish() == ledger.MarkOpen && !yield(t) {
				return
			}
		}
	}
}

// nextBatch returns the tasks of the next batch, and how many there can be.
func (d *decision) nextBatch() (tasks []*TaskState, size int) {
	r := d.run()
	size = cmp.Or(max(r.Settings.Batch, 0), ledger.DefaultBatch)
	if !d.batching() {
		return nil, size
	}
	for t := range d.queue() {
		if w := t.Attempt; w.Base == r.Tip && w.Run == r.ID && len(tasks) < size {
			tasks = append(tasks, t)
		}
	}
	return tasks, size
}

// batchDue reports whether a batch has to be verified although tasks are ready: it
// is full, or its tasks are the last ones before a pause for review.
func (d *decision) batchDue() bool {
	r := d.run()
	tasks, size := d.nextBatch()
	full := len(tasks) >= size
	last := r.Settings.MaxTasks > 0 && len(r.DoneNow)+len(tasks) >= r.Settings.MaxTasks
	return len(tasks) > 0 && (full || last)
}

// batchFills reports whether a batch is due, or will be full once the tasks in hand
// have converged. One more task would then miss it, and would have to be merged and
// verified by itself on the newer tip.
func (d *decision) batchFills(inHand int) bool {
	tasks, size := d.nextBatch()
	return d.batchDue() || len(tasks) > 0 && len(tasks)+inHand >= max(size, d.run().Lanes())
}
