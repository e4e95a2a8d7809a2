package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// sourceChanged applies a new reading of the source during a run, from the preflight
// on, which reads it first. A reading that failed is recorded once and changes no
// task.
func (d *decision) sourceChanged(b SourceChanged) {
	r := d.run()
	if r.Over() || r.Aside() || r.State == ledger.RunPlanning && r.Base.Commit == "" || b.Source != "" && b.Source != d.Project.Source {
		return
	}
	if b.Err != "" {
		if r.Source != b.Err {
			d.add(scope{}, ledger.SourceRead{Name: r.Name, Path: r.Settings.Source.Path, Order: d.order(), Trouble: b.Err})
		}
		return
	}
	d.takeSource(reading{Snapshot: b.Snapshot, before: b.Before, doubted: b.Doubted})
}

// takeSource compares a reading of the source with the known tasks and applies
// the differences. The ledger decides which tasks are done; the file says what
// people want. What the reading adds counts at once, what it lacks does not
// (docs/spec 3.2).
func (d *decision) takeSource(s reading) {
	read := ledger.SourceRead{Name: s.Name, Path: s.Path}
	before := d.Project.Tasks
	seen := newBitset(before.Len())
	var unticked []string
	type change struct {
		old TaskState
		now ledger.Task
	}
	var changed []change
	read.Order = make([]string, 0, len(s.Tasks))
	for n := range s.Tasks {
		read.Order = append(read.Order, s.Tasks[n].ID)
		if at := before.index(s.Tasks[n].ID); at >= 0 {
			seen.set(at)
		}
	}
	again := false
	lacking := map[string]bool{}
	whole := true // the reading lacks nothing
	var gone []TaskState
	for n, t := range before.All() {
		if seen.has(n) || isPart(t.Task) || t.Status == ledger.Withdrawn || t.Task.Mark == markGone {
			continue
		}
		if s.Partial && t.Status == ledger.Done && t.Task.Mark == ledger.MarkDone {
			lacking[before.ids.keys[n]] = true // it keeps its place
			if !t.Doubted.IsZero() {
				read.Back = append(read.Back, t.Task.ID) // it was away before its mark was known to be written
			}
			continue
		}
		whole = false
		if !s.believes(t) {
			lacking[before.ids.keys[n]] = true
			if s.doubts(t) {
				read.Doubted = append(read.Doubted, t.Task.ID)
			}
			continue
		}
		gone = append(gone, *t)
		read.Gone = append(read.Gone, t.Task.ID)
		if t.Status == ledger.Done {
			unticked = append(unticked, t.Task.ID)
		}
	}
	for n := range s.Tasks {
		if at := before.index(s.Tasks[n].ID); at >= 0 && s.lacks(before.At(at), &s.Tasks[n]) {
			whole = false
		}
	}
	for n := range s.Tasks {
		now := &s.Tasks[n]
		var old TaskState
		was := before.index(now.ID)
		known := was >= 0
		if known {
			t := before.At(was)
			told := *now
			if r := told.Report; r != nil && r.Claim != nil && t.Task.Report != nil && (t.ownClaim(*r.Claim) || s.precedesMark(t)) {
				told = withClaim(told, t.Task.Report.Claim)
			}
			if s.precedesMark(t) && t.Task.Mark != markGone {
				again = again || told.Mark != t.Task.Mark // a person may have changed it right after
				told.Mark = t.Task.Mark
				told.Failures, told.Tried = t.Task.Failures, t.Task.Tried
			}
			back := !t.Doubted.IsZero() && t.Task.Mark != markGone
			unsure := !whole && takesAway(t, &told) || d.cutsOff(t, &told)
			if unsure && t.Task.Mark != markGone && !s.believes(t) {
				if s.doubts(t) {
					read.Doubted = append(read.Doubted, told.ID)
				}
				mark := told.Mark
				if told = t.Task; adds(t.Task.Mark, mark) {
					told.Mark = mark
				}
				back = false
			}
			if t.Task.Mark == told.Mark && sameBody(&t.Task, &told) && told.Failures == t.Task.Failures && sameClaim(&t.Task, &told) {
				if back {
					read.Back = append(read.Back, told.ID)
				}
				continue
			}
			old, now = *t, &told
		}
		read.Tasks = append(read.Tasks, *now)
		changed = append(changed, change{old, *now})
		if known && old.Status == ledger.Done && (old.Task.Mark == ledger.MarkDone || old.Task.Mark == markGone) && now.Mark != ledger.MarkDone && now.Repeat == nil {
			unticked = append(unticked, now.ID)
		}
	}
	read.Order = d.orderWith(read.Order, lacking)
	r := d.run()
	read.Lost = len(read.Doubted) > 0 && !s.first
	if again || len(read.Doubted) > 0 {
		d.reread()
	}
	if len(read.Tasks)+len(read.Gone)+len(read.Doubted)+len(read.Back) == 0 && r.Source == "" && r.Name == s.Name && d.inOrder(read.Order) {
		return
	}
	d.add(scope{}, read)
	for _, c := range changed {
		id := c.now.ID
		switch {
		case c.old.Status == "" && c.now.Mark == ledger.MarkDone:
			d.setTask(id, ledger.Done, "ticked in the source")
		case c.old.Status == ledger.Done && c.now.Repeat != nil && c.old.Task.Mark == ledger.MarkDone && c.now.Mark == ledger.MarkOpen:
			d.comeBack(id, "open again in the source")
		case c.old.Status == ledger.Withdrawn && c.now.Mark != ledger.MarkDone:
			d.wake(c.old, c.now)
		case c.now.Mark == ledger.MarkDone && c.old.Status != ledger.Done && c.old.Status != "" && c.now.Mark != c.old.Lifted:
			if t, _ := d.task(id); t.Status == ledger.Active {
				if t.committing() {
					break // the task's commit is being made, so it will be done in a moment
				}
				d.cutTask(t, "ticked in the source")
			}
			d.dropParts(c.old, "its task was ticked in the source")
			d.closeQuestions(id, "ticked in the source")
			d.setTask(id, ledger.Done, "ticked in the source")
			d.expireGuidance(id, "its task was ticked in the source")
		case c.old.Status == ledger.Blocked && (c.old.edited(c.now) || c.old.Task.Mark == ledger.MarkBlocked && c.now.Mark == ledger.MarkOpen):
			d.dropParts(c.old, "edited in the source")
			d.closeQuestions(id, "edited in the source")
			d.add(scope{task: id}, ledger.TaskSet{From: ledger.Blocked, To: ledger.Ready, Why: "edited in the source", Fresh: true})
			d.mark(id, ledger.MarkOpen)
		case len(c.old.Parts) > 0 && c.old.Status != ledger.Done && c.old.edited(c.now):
			// The task's parts come from a plan for the old text.
			t, _ := d.task(id)
			d.cutTask(t, "edited in the source")
			d.dropParts(t, "edited in the source")
			d.closeQuestions(id, "edited in the source")
			d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "edited in the source", Fresh: true})
		case c.old.Status == ledger.Active && c.old.edited(c.now):
			// The attempt works on the old text. An attempt whose commit is
			// being made is left alone: done compares the text that the commit
			// was made for.
			if t, _ := d.task(id); !t.committing() {
				d.cutTask(t, "edited in the source")
				d.add(scope{task: id}, ledger.AttemptEnded{Replan: true, Outcome: ledger.OutcomeAnew, Why: "edited in the source"})
				d.add(scope{task: id}, ledger.TaskSet{From: ledger.Active, To: ledger.Ready, Why: "edited in the source", Fresh: true})
			}
		case c.old.Status == ledger.Waiting && c.old.edited(c.now):
			d.closeQuestions(id, "edited in the source")
			d.add(scope{task: id}, ledger.TaskSet{From: ledger.Waiting, To: ledger.Ready, Why: "edited in the source", Fresh: true})
		case c.old.Status == ledger.Ready && c.old.edited(c.now) && (c.old.Failed > 0 || c.old.Attempt != nil):
			d.add(scope{task: id}, ledger.TaskSet{From: ledger.Ready, To: ledger.Ready, Why: "edited in the source", Fresh: true})
		}
	}
	for _, t := range gone {
		// A session in hand ends by itself, and advance lets its task rest then.
		if t.Status != ledger.Done && t.Status != ledger.Active && !t.committing() && !d.inBatch(&t) {
			d.rest(t)
		}
	}
	d.tickedAgain()
	d.askUnticked(unticked)
	d.remark()
}

// tickedAgain settles the question about unticked tasks if the source has the
// ticks again, for example after a git stash pop.
func (d *decision) tickedAgain() {
	for _, q := range d.Project.Questions {
		if q.Kind != ledger.AskUnticked {
			continue
		}
		open := slices.ContainsFunc(q.Tasks, func(id string) bool {
			t, ok := d.task(id)
			return ok && t.Status == ledger.Done && t.Task.Mark != ledger.MarkDone
		})
		if !open {
			d.add(scope{}, ledger.QuestionExpired{ID: q.ID, Choice: "keep", Then: "ticked again in the source"})
		}
	}
}

// remark writes the marks of done tasks that could not be written when the task
// ended.
func (d *decision) remark() {
	for _, t := range d.Project.Tasks.of(setDone) {
		if t.Task.Mark == ledger.MarkOpen && (t.Marked == "" || t.Marked == ledger.MarkWorking) && (t.Commit != "" || len(t.Parts) > 0) {
			d.mark(t.Task.ID, ledger.MarkDone)
		}
	}
}

// askUnticked asks a person about tasks that are done but unticked or gone in
// the source. The cause may be a stash, a checkout or a stale editor, so no
// such task is redone without an answer. There is one question for all of them:
// if more tasks come, a new question with all of them replaces it.
func (d *decision) askUnticked(ids []string) {
	if len(ids) == 0 {
		return
	}
	all := slices.Clone(ids)
	for _, q := range d.Project.Questions {
		if q.Kind != ledger.AskUnticked {
			continue
		}
		asked := func(id string) bool {
			return slices.ContainsFunc(q.Tasks, func(o string) bool { return ledger.SameID(o, id) })
		}
		if !slices.ContainsFunc(ids, func(id string) bool { return !asked(id) }) {
			return
		}
		for _, id := range q.Tasks {
			if !slices.ContainsFunc(all, func(o string) bool { return ledger.SameID(o, id) }) {
				all = append(all, id)
			}
		}
		d.add(scope{}, ledger.QuestionExpired{ID: q.ID, Then: "asked again with more tasks"})
	}
	d.add(scope{}, ledger.QuestionAsked{Question: ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskUnticked, Run: d.run().ID, Tasks: all, Title: "Finished here, open in the source",
		Text:  fmt.Sprintf("%s: finished here, but not ticked in the source any more", strings.Join(shortIDs(all), " ")),
		Asked: d.in.Time,
	}})
}
