package loop

import (
	"maps"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// The state leaves out what is long settled, because every snapshot holds all of
// it. The rules depend on entries alone, on their times and on constants: folding
// them later, or by another program with another configuration, gives the same
// state. The ledger keeps everything.
const (
	// keptShelf is how long the tasks of a source that is not worked on are kept
	// after the last of them was. When the source is worked on later, its file
	// alone says what is done.
	keptShelf = 60 * 24 * time.Hour
	// keptGuidance is how long guidance is kept after it was given, if nothing
	// waits for it any more.
	keptGuidance = 30 * 24 * time.Hour
)

// forget returns the project without what is long settled at a time. It is part
// of folding RunPlanned, so that it costs nothing during a run.
func (p Project) forget(now time.Time) Project {
	for source, tasks := range p.Shelf {
		if tasks.restsSince(now.Add(-keptShelf)) {
			p.Shelf = maps.Clone(p.Shelf)
			delete(p.Shelf, source)
		}
	}
	p.Guidance = p.Guidance.Forget(func(i guidance.Item) bool {
		return i.At.Before(now.Add(-keptGuidance)) && (i.Over() || !i.Open() && !i.Sticky && !p.mayContinue(i.Bound))
	})
	return p
}

// restsSince reports whether no task has changed since a time, and none has an
// attempt or waits for a person. It is false for a list in which no task has a
// time.
func (l TaskList) restsSince(at time.Time) bool {
	var last time.Time
	for _, t := range l.All() {
		if t.Attempt != nil || t.Question != "" || t.Status == ledger.Active || t.Status == ledger.Waiting {
			return false
		}
		for _, change := range []time.Time{t.Ended, t.Last, t.MarkedAt} {
			if change.After(last) {
				last = change
			}
		}
	}
	return !last.IsZero() && last.Before(at)
}

// shelved returns the list as it is kept while another source is worked on:
// settled tasks without their texts and plans. When the source is worked on
// again, its file is read and the texts are there again.
func (l TaskList) shelved() TaskList {
	tasks := l.Slice()
	for n := range tasks {
		t := &tasks[n]
		if !t.settled() {
			continue
		}
		t.Task = ledger.Task{ID: t.Task.ID, Title: t.Task.Title, DependsOn: t.Task.DependsOn, Parent: t.Task.Parent, Mark: t.Task.Mark, Own: t.Task.Own}
		t.Plan, t.Words, t.Allowed, t.Denied = nil, nil, nil, nil
	}
	return NewTaskList(tasks...)
}

// settled reports whether nothing happens to the task unless a person asks for
// it.
func (t *TaskState) settled() bool {
	switch t.Status {
	case ledger.Done, ledger.Skipped, ledger.Withdrawn:
		return t.Attempt == nil && t.Question == ""
	}
	return false
}

// mayContinue reports whether a source has an unsettled task with this id.
func (p Project) mayContinue(id string) bool {
	unsettled := func(l TaskList) bool {
		n := l.index(id)
		return n >= 0 && !l.At(n).settled()
	}
	for _, tasks := range p.Shelf {
		if unsettled(tasks) {
			return true
		}
	}
	return unsettled(p.Tasks)
}
