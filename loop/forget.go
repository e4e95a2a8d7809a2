package loop

import (
	"maps"
	"slices"
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
	// after the last of them was. The archive keeps which of them are over.
	keptShelf = 60 * 24 * time.Hour
	// keptGuidance is how long guidance is kept after it was given, if nothing
	// waits for it any more.
	keptGuidance = 30 * 24 * time.Hour
)

// forget returns the project without what is long settled at a time. It is part
// of folding RunPlanned, so that it costs nothing during a run. The time is that of
// the run before: a clock that is far ahead at a start makes nothing old.
func (p Project) forget(now time.Time) Project {
	for _, source := range sortedKeys(p.Shelf) {
		p = p.archive(source, now.Add(-keptShelf))
	}
	p = p.forgetTips()
	p.Guidance = p.Guidance.Forget(func(i guidance.Item) bool {
		return i.At.Before(now.Add(-keptGuidance)) && (i.Over() || !i.Open() && !i.Sticky && !p.mayContinue(i.Bound))
	})
	return p.forgetAttached()
}

// forgetTips leaves out what is known of the branches of archived sources: that a
// tip is green, which is verified anew, and the output of a red one. The tip itself
// stays, because the next run of its source goes on from it (docs/spec 9.1).
func (p Project) forgetTips() Project {
	for _, source := range sortedKeys(p.Green) {
		if p.archives(source) {
			p.Green = maps.Clone(p.Green)
			delete(p.Green, source)
		}
	}
	for _, source := range sortedKeys(p.RedTips) {
		if tip := p.RedTips[source]; p.archives(source) && slices.ContainsFunc(tip.Results, hasOutput) {
			tip.Results = slices.Clone(tip.Results)
			for n, r := range tip.Results {
				tip.Results[n] = ledger.Result{Run: r.Run, Exit: r.Exit, Session: r.Session, Why: r.Why}
			}
			p.RedTips = with(p.RedTips, source, tip)
		}
	}
	return p
}

// archives reports whether the state has no list of the source's tasks.
func (p Project) archives(source string) bool {
	_, shelved := p.Shelf[source]
	return source != p.Source && !shelved
}

func hasOutput(r ledger.Result) bool {
	return r.Tail != "" || r.Failures != nil || len(r.New)+len(r.Flakes)+len(r.Ran) > 0
}

// lastChange returns when any task changed last, zero if none has a time.
func (l TaskList) lastChange() (last time.Time) {
	for _, t := range l.All() {
		for _, change := range []time.Time{t.Ended, t.Last, t.MarkedAt} {
			if change.After(last) {
				last = change
			}
		}
	}
	return last
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
