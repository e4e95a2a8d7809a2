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
	// after the last of them ended. After that, a task of it that was finished
	// here and is unticked in its file is taken for a new one.
	keptShelf = 90 * 24 * time.Hour
	// keptGuidance is how long guidance is kept after it was given, if nothing
	// waits for it any more.
	keptGuidance = 30 * 24 * time.Hour
)

// forget returns the project without what is long settled at a time. It is part
// of folding RunPlanned, so that it costs nothing during a run.
func (p Project) forget(now time.Time) Project {
	for source, tasks := range p.Shelf {
		if tasks.settledBefore(now.Add(-keptShelf)) {
			p.Shelf = maps.Clone(p.Shelf)
			delete(p.Shelf, source)
		}
	}
	p.Guidance = p.Guidance.Forget(func(i guidance.Item) bool {
		return i.At.Before(now.Add(-keptGuidance)) && (i.Over() || !i.Open() && !i.Sticky && !p.mayContinue(i.Bound))
	})
	return p
}

// settledBefore reports whether every task is settled and the last one ended
// before a time. It is false for a list in which no task has a time.
func (l TaskList) settledBefore(at time.Time) bool {
	var last time.Time
	for _, t := range l.All() {
		if !t.settled() {
			return false
		}
		for _, end := range []time.Time{t.Ended, t.Last, t.MarkedAt} {
			if end.After(last) {
				last = end
			}
		}
	}
	return !last.IsZero() && last.Before(at)
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
