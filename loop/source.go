package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// sourceChanged takes over what people changed in the source while a run is
// under way.
func (d *decision) sourceChanged(b SourceChanged) {
	r := d.run()
	if r.Over() || r.State == RunPlanning {
		return
	}
	if b.Err != "" {
		if r.Source != b.Err {
			d.add(scope{}, SourceRead{Name: r.Name, Path: r.Settings.Source.Path, Order: d.order(), Trouble: b.Err})
		}
		return
	}
	d.takeSource(b.Snapshot, b.Read)
}

// takeSource compares a reading of the source with what is known. The ledger
// decides what is done; the file is where people say what they want (SPEC 3.2).
func (d *decision) takeSource(s Snapshot, at time.Time) {
	read := SourceRead{Name: s.Name, Path: s.Path}
	before := d.Project.Tasks
	seen := newBitset(before.Len())
	var unticked []string
	type change struct {
		old TaskState
		now Task
	}
	var changed []change
	read.Order = make([]string, 0, len(s.Tasks))
	for n := range s.Tasks {
		now := &s.Tasks[n]
		read.Order = append(read.Order, now.ID)
		var old TaskState
		was := before.index(now.ID)
		known := was >= 0
		if known {
			seen.set(was)
			t := before.At(was)
			mark := now.Mark
			if !at.IsZero() && at.Before(t.MarkedAt) {
				mark = t.Task.Mark // we wrote it since
			}
			if t.Task.Mark == mark && sameBody(&t.Task, now) {
				continue
			}
			old = *t
			if mark != now.Mark {
				ours := *now
				ours.Mark = mark
				now = &ours
			}
		}
		read.Tasks = append(read.Tasks, *now)
		changed = append(changed, change{old, *now})
		if known && old.Status == Done && (old.Task.Mark == MarkDone || old.Task.Mark == markGone) && now.Mark != MarkDone {
			unticked = append(unticked, now.ID)
		}
	}
	var gone []TaskState
	for n, t := range before.All() {
		if !seen.has(n) && !t.Task.ours() && t.Status != Withdrawn && t.Task.Mark != markGone {
			gone = append(gone, *t)
			read.Gone = append(read.Gone, t.Task.ID)
			if t.Status == Done {
				unticked = append(unticked, t.Task.ID)
			}
		}
	}
	r := d.run()
	if len(read.Tasks)+len(read.Gone) == 0 && r.Source == "" && r.Name == s.Name && d.inOrder(read.Order) {
		return
	}
	d.add(scope{}, read)
	for _, c := range changed {
		id := c.now.ID
		switch {
		case c.old.Status == "" && c.now.Mark == MarkDone:
			d.setTask(id, Done, "ticked in the source")
		case c.old.Status == Withdrawn && c.now.Mark != MarkDone:
			d.add(scope{task: id}, TaskSet{From: Withdrawn, To: Pending, Why: "its line is back"})
		case c.now.Mark == MarkDone && c.old.Status != Done && c.old.Status != "" && c.now.Mark != c.old.Lifted:
			if t, _ := d.task(id); t.Status == Active {
				if t.committing() {
					break // it is done in a moment, with its commit
				}
				d.cutTask(t, "ticked in the source")
			}
			d.dropParts(c.old, "its task was ticked in the source")
			d.closeQuestions(id, "ticked in the source")
			d.setTask(id, Done, "ticked in the source")
			d.expireGuidance(id, "its task was ticked in the source")
		case c.old.Status == Blocked && (bodyChanged(c.old.Task, c.now) || c.old.Task.Mark == MarkBlocked && c.now.Mark == MarkOpen):
			d.dropParts(c.old, "edited in the source")
			d.closeQuestions(id, "edited in the source")
			d.add(scope{task: id}, TaskSet{From: Blocked, To: Ready, Why: "edited in the source", Fresh: true})
			d.mark(id, MarkOpen)
		case len(c.old.Parts) > 0 && c.old.Status != Done && bodyChanged(c.old.Task, c.now):
			// Its parts are of a plan for something else.
			t, _ := d.task(id)
			d.cutTask(t, "edited in the source")
			d.dropParts(t, "edited in the source")
			d.closeQuestions(id, "edited in the source")
			d.add(scope{task: id}, TaskSet{From: t.Status, To: Ready, Why: "edited in the source", Fresh: true})
		case c.old.Status == Active && bodyChanged(c.old.Task, c.now):
			// What is being done is not what is wanted any more. A commit that is
			// being made is left alone; done looks at what it was made for.
			if t, _ := d.task(id); !t.committing() {
				d.cutTask(t, "edited in the source")
				d.add(scope{task: id}, AttemptEnded{Replan: true, Outcome: OutcomeAnew, Why: "edited in the source"})
				d.add(scope{task: id}, TaskSet{From: Active, To: Ready, Why: "edited in the source", Fresh: true})
			}
		case c.old.Status == Waiting && bodyChanged(c.old.Task, c.now):
			d.closeQuestions(id, "edited in the source")
			d.add(scope{task: id}, TaskSet{From: Waiting, To: Ready, Why: "edited in the source", Fresh: true})
		case c.old.Status == Ready && bodyChanged(c.old.Task, c.now) && (c.old.Failed > 0 || c.old.Attempt != nil):
			d.add(scope{task: id}, TaskSet{From: Ready, To: Ready, Why: "edited in the source", Fresh: true})
		}
	}
	for _, t := range gone {
		if t.Status == Done || t.committing() {
			continue
		}
		if t.Status == Active {
			d.cutTask(t, "its line was removed")
		}
		d.dropParts(t, "its task's line was removed")
		d.closeQuestions(t.Task.ID, "withdrawn")
		d.setTask(t.Task.ID, Withdrawn, "its line was removed")
		d.expireGuidance(t.Task.ID, "its task was withdrawn")
	}
	d.tickedAgain()
	d.askUnticked(unticked)
	d.remark()
}

// committing reports whether the task's commit is being made. It is then too
// late to take it back: the branch moves.
func (t TaskState) committing() bool { return t.Attempt != nil && t.Attempt.Stage == StageCommit }

// tickedAgain settles a question about unticked tasks that the source has
// answered itself: the stash was popped, the line is back.
func (d *decision) tickedAgain() {
	for _, q := range d.Project.Questions {
		if q.Kind != AskUnticked {
			continue
		}
		open := slices.ContainsFunc(q.Tasks, func(id string) bool {
			t, ok := d.task(id)
			return ok && t.Status == Done && t.Task.Mark != MarkDone
		})
		if !open {
			d.add(scope{}, QuestionExpired{ID: q.ID, Choice: "keep", Then: "ticked again in the source"})
		}
	}
}

// markGone is the mark of a task whose line is no longer in the source.
const markGone Mark = ""

// cutTask ends the sessions of one task.
func (d *decision) cutTask(t TaskState, why string) {
	for _, s := range d.Project.Sessions {
		if SameID(s.Task, t.Task.ID) {
			d.cut(s, why)
		}
	}
}

// remark repeats marks that could not be written when their task ended.
func (d *decision) remark() {
	for _, t := range d.Project.Tasks.of(setDone) {
		if t.Task.Mark == MarkOpen && t.Marked == "" && (t.Commit != "" || len(t.Parts) > 0) {
			d.mark(t.Task.ID, MarkDone)
		}
	}
}

// askUnticked: a task that was finished here and is unticked or gone (a
// stash, a checkout, a stale editor) is never redone by itself; one question
// for all of them.
func (d *decision) askUnticked(ids []string) {
	if len(ids) == 0 {
		return
	}
	all := slices.Clone(ids)
	for _, q := range d.Project.Questions {
		if q.Kind != AskUnticked {
			continue
		}
		asked := func(id string) bool {
			return slices.ContainsFunc(q.Tasks, func(o string) bool { return SameID(o, id) })
		}
		if !slices.ContainsFunc(ids, func(id string) bool { return !asked(id) }) {
			return
		}
		for _, id := range q.Tasks {
			if !slices.ContainsFunc(all, func(o string) bool { return SameID(o, id) }) {
				all = append(all, id)
			}
		}
		d.add(scope{}, QuestionExpired{ID: q.ID, Then: "asked again with more tasks"})
	}
	d.add(scope{}, QuestionAsked{Question: Question{
		ID: d.nextID("q"), Kind: AskUnticked, Run: d.run().ID, Tasks: all, Title: "Finished here, open in the source",
		Text:  fmt.Sprintf("%s: finished here, but not ticked in the source any more", strings.Join(shortIDs(all), " ")),
		Asked: d.in.Time,
	}})
}

// bodyChanged compares what an agent would be told: all that a person can
// change but the mark.
func bodyChanged(a, b Task) bool { return !sameBody(&a, &b) }

// sameBody compares field by field, because a plan is read again after each of
// our own marks: reflection takes milliseconds for 2,000 tasks. Nil and empty
// lists are the same, as JSON does not tell them apart. A task's line is no
// part of it.
func sameBody(a, b *Task) bool {
	return a.ID == b.ID && a.Title == b.Title && a.Body == b.Body && a.Scope == b.Scope &&
		slices.Equal(a.DependsOn, b.DependsOn) && slices.Equal(a.Acceptance, b.Acceptance) && a.Notes == b.Notes &&
		a.Priority == b.Priority && a.Complexity == b.Complexity && a.Role == b.Role && slices.Equal(a.Threshold, b.Threshold) &&
		a.Consensus == b.Consensus && a.Parent == b.Parent && a.Own == b.Own
}

// inOrder reports whether the source's tasks stand in the given order already.
func (d *decision) inOrder(ids []string) bool {
	tasks, k := d.Project.Tasks, 0
	for n, t := range tasks.All() {
		if !t.inSource() {
			continue
		}
		if k == len(ids) || ids[k] != t.Task.ID && tasks.ids.fold(ids[k]) != tasks.ids.keys[n] {
			return false
		}
		k++
	}
	return k == len(ids)
}
