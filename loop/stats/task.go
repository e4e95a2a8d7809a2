package stats

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of what a Fold remembers.
const (
	maxTasks  = 4096  // at work, or finished lately
	maxListed = 16384 // of the sources
	maxOpen   = 1024  // sessions in flight
	maxDays   = 1000
	maxNames  = 64 // of hats, agents, models and sizes on a day
)

// listed is what a Fold knows of a task from its source.
type listed struct {
	size    history.Size
	planned bool   // size is the plan's own word, which triage does not change
	parent  string // key of the task that it is a part of; "" = it is none
	aside   bool   // it is nightporter's own, and no task of a person
}

// work is a task that an agent worked on.
type work struct {
	parts  []Part    // sessions that worked on it
	writer []Part    // of the last session that changed it: a review is about its work
	flawed bool      // something of it failed
	done   bool      // with at: it is done, and not blocked
	at     time.Time // when it was finished; zero = it is not
	run    string    // in which it was finished
	seen   int64     // number of its last entry
}

// figures counts a finished task.
func (w *work) figures() Figures {
	f := Figures{Finished: 1}
	if w.done {
		if f.Done = 1; !w.flawed {
			f.FirstPass = 1
		}
	}
	return f
}

// joined adds the parts that a list lacks.
func joined(list, parts []Part) []Part {
	for _, p := range parts {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// key names a task of the source of the present run. Tasks of two sources may have the
// same id.
func (f *Fold) key(id string) string { return f.source + "\x00" + ledger.FoldID(id) }

// whole returns the key of a task or, for a part, of the task that it belongs to.
func (f *Fold) whole(id string) string {
	key := f.key(id)
	if parent := f.listed[key].parent; parent != "" {
		return parent
	}
	return key
}

// list remembers tasks of a source.
func (f *Fold) list(tasks []ledger.Task) {
	for n := range tasks {
		t := &tasks[n]
		of := listed{size: history.SizeOf(t, nil), planned: t.Complexity >= 1, aside: t.Own || t.Prepares()}
		if t.Parent != "" {
			of.parent = f.whole(t.Parent)
			of.size = f.listed[of.parent].size
		}
		f.listed[f.key(t.ID)] = of
	}
	if len(f.listed) > maxListed {
		present := f.source + "\x00"
		for key := range f.listed {
			if len(key) < len(present) || key[:len(present)] != present {
				delete(f.listed, key)
			}
		}
	}
}

// triaged remembers the sizes that triage gives to reports.
func (f *Fold) triaged(all []ledger.Triage) {
	for n := range all {
		key := f.key(all[n].Task)
		of, known := f.listed[key]
		if known && !of.planned && (all[n].Tier != 0 || all[n].Estimate != 0) {
			of.size = history.SizeOf(&ledger.Task{}, &all[n])
			f.listed[key] = of
		}
	}
}

// begin returns the work on a task, which begins now unless it has begun.
func (f *Fold) begin(key string) *work {
	w := f.works[key]
	if w == nil {
		f.forget()
		w = &work{}
		f.works[key] = w
	}
	w.seen = f.entries
	return w
}

// settle adds the outcome of a task to the sums, if it has one.
func (f *Fold) settle(w *work) {
	if w.at.IsZero() {
		return
	}
	f.day(w.at).add(w.parts, w.figures())
	if f.run.id != "" && w.run == f.run.id {
		f.run.add(w.parts, w.figures())
	}
}

// forget settles and forgets half of the tasks, those that nothing happened to for the
// longest time, once there are too many.
func (f *Fold) forget() {
	if len(f.works) < maxTasks {
		return
	}
	seen := make([]int64, 0, len(f.works))
	for _, w := range f.works {
		seen = append(seen, w.seen)
	}
	slices.Sort(seen)
	middle := seen[len(seen)/2]
	for key, w := range f.works {
		if w.seen < middle {
			f.settle(w)
			delete(f.works, key)
		}
	}
}

// taskSet folds a change of a task's status.
func (f *Fold) taskSet(e ledger.Entry, b ledger.TaskSet) {
	key := f.key(e.Task)
	w := f.works[key]
	if w == nil || f.listed[key].parent != "" {
		return // no agent worked on it, or it counts with its whole
	}
	if b.Again { // it repeats, and begins anew
		f.settle(w)
		delete(f.works, key)
		return
	}
	w.seen = f.entries
	switch b.To {
	case ledger.Done, ledger.Blocked:
		w.at, w.done, w.run = e.Time, b.To == ledger.Done, e.Run
	case ledger.Skipped, ledger.Withdrawn: // what it was before stands
	default:
		w.at = time.Time{}
	}
}
