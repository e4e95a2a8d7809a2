package loop

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Archived is what the state keeps of the tasks of a source that was not worked on
// for a long time: as much as is needed so that none of them is done again by
// itself (docs/spec 3.2). A usual task takes the bytes of its id.
type Archived struct {
	Last  time.Time      `json:"last"`            // last change of any of its tasks
	Done  string         `json:"done,omitempty"`  // ids of tasks that were done in one attempt and are ticked, one a line
	Other []ArchivedTask `json:"other,omitempty"` // other tasks that a run must not begin by itself
}

// ArchivedTask is an archived task that needs more than its id.
type ArchivedTask struct {
	ID       string        `json:"id"`
	Status   ledger.Status `json:"status"`
	Mark     ledger.Mark   `json:"mark,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Failed   int           `json:"failed,omitempty"`
	Text     string        `json:"text,omitempty"` // fingerprint of a blocked task's text: an edit makes it ready
}

// archive puts the tasks of a source away that is not worked on, if none of them
// has changed since a time. Tasks with an attempt, and those that wait for a person
// or are partly done, stay on the shelf.
func (p Project) archive(source string, since time.Time) Project {
	tasks := p.Shelf[source]
	a := Archived{Last: tasks.lastChange()}
	if !a.Last.Before(since) {
		return p
	}
	stays := func(t *TaskState) bool {
		return t.Attempt != nil || t.Question != "" || t.Status == ledger.Active || t.Status == ledger.Waiting || len(t.Parts) > 0 && !t.settled()
	}
	gone := func(t *TaskState) bool {
		if n := tasks.index(t.Task.Parent); n >= 0 && stays(tasks.At(n)) {
			return false
		}
		return !stays(t)
	}
	var done []string
	for _, t := range tasks.All() {
		switch {
		case !gone(t):
		case t.usual():
			done = append(done, t.Task.ID)
		case t.over():
			a.Other = append(a.Other, t.archived())
		}
	}
	a.Done = strings.Join(done, "\n")
	kept := tasks.without(gone)
	if kept.Len() == tasks.Len() && kept.Len() > 0 {
		return p
	}
	p.Shelf = maps.Clone(p.Shelf)
	if p.Shelf[source] = kept; kept.Len() == 0 {
		delete(p.Shelf, source)
	}
	if a.Done != "" || len(a.Other) > 0 {
		p.Archive = with(p.Archive, source, a)
	}
	return p
}

// over reports whether no run begins the task by itself. Parts are over with their
// task. A real run does again what the scripted agent did.
func (t *TaskState) over() bool {
	if isPart(t.Task) || t.Scripted && t.Task.Mark != ledger.MarkDone {
		return false
	}
	switch t.Status {
	case ledger.Done, ledger.Skipped, ledger.ManualVerify, ledger.Blocked:
		return true
	case ledger.Withdrawn:
		return t.Rest != nil && t.Rest.Status == ledger.Skipped
	}
	return false
}

// usual reports whether the id is all that needs to be kept of the task.
func (t *TaskState) usual() bool {
	return t.over() && t.Status == ledger.Done && t.Task.Mark == ledger.MarkDone && t.Attempts <= 1 && !strings.Contains(t.Task.ID, "\n")
}

// archived returns the task for the archive.
func (t *TaskState) archived() ArchivedTask {
	a := ArchivedTask{ID: t.Task.ID, Status: t.Status, Mark: t.Task.Mark, Attempts: t.Attempts, Failed: t.Failed}
	if t.Status == ledger.Blocked {
		if a.Text = t.ArchivedText; !t.Archived {
			a.Text = fingerprint(&t.Task)
		}
	}
	return a
}

// tasks returns the archived tasks, without texts until their source is read.
func (a Archived) tasks() (all []TaskState) {
	add := func(o ArchivedTask) {
		t := TaskState{
			Task: ledger.Task{ID: o.ID, Mark: o.Mark}, Status: o.Status, Attempts: o.Attempts, Failed: o.Failed,
			Archived: true, ArchivedText: o.Text, Ended: a.Last,
		}
		switch o.Status {
		case ledger.Withdrawn:
			t.Rest = &ledger.Rest{Status: ledger.Skipped}
		case ledger.ManualVerify:
			t.Person = true
		}
		all = append(all, t)
	}
	if a.Done != "" {
		for id := range strings.SplitSeq(a.Done, "\n") {
			add(ArchivedTask{ID: id, Status: ledger.Done, Mark: ledger.MarkDone, Attempts: 1})
		}
	}
	for _, o := range a.Other {
		add(o)
	}
	return all
}

// unarchive puts the archived tasks of a source before those of it that were kept.
func (p Project) unarchive(source string) Project {
	a, ok := p.Archive[source]
	if !ok {
		return p
	}
	p.Archive = maps.Clone(p.Archive)
	delete(p.Archive, source)
	p.Tasks = NewTaskList(append(a.tasks(), p.Tasks.Slice()...)...)
	return p
}

// edited reports whether the task has another text now. Of an archived task the
// state knows a fingerprint at most; without one, nothing depends on its text.
func (t *TaskState) edited(now ledger.Task) bool {
	if t.Archived {
		return t.ArchivedText != "" && t.ArchivedText != fingerprint(&now)
	}
	return bodyChanged(t.Task, now)
}

// fingerprint returns the 64-bit FNV-1a hash of the fields that sameBody compares. It must
// never change: folding the ledger by a later program gives the same state.
func fingerprint(t *ledger.Task) string {
	hash := uint64(14695981039346656037)
	fields := slices.Concat(
		[]string{t.ID, t.Title, t.Body, t.Scope, t.Notes, t.Role, t.Parent},
		[]string{fmt.Sprint(t.Priority, t.Complexity, t.Threshold, t.Consensus, t.Own)},
		t.DependsOn, []string{""}, t.Acceptance, []string{""}, t.Allow, later(t),
	)
	for _, f := range fields {
		for _, b := range []byte(f + "\x00") {
			hash = (hash ^ uint64(b)) * 1099511628211
		}
	}
	return fmt.Sprintf("%x", hash)
}

// later returns the fields of a task that fingerprint did not know at first: none for
// a task without any of them, whose fingerprint stays as it was.
func later(t *ledger.Task) []string {
	if len(t.Material)+len(t.Inputs)+len(t.Outputs)+t.Phase == 0 && t.Author == "" && t.Evaluation == "" && t.Repeat == nil && !t.Verifier {
		return nil
	}
	fields := slices.Concat([]string{""}, t.Material, []string{""}, t.Inputs, []string{"", fmt.Sprint(t.Outputs, t.Phase), t.Author, t.Evaluation})
	if t.Repeat != nil {
		fields = append(fields, fmt.Sprint(*t.Repeat))
	}
	if t.Verifier {
		fields = append(fields, "verifier")
	}
	return fields
}
