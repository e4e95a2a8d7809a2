package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// What a file lacks is believed late, and never for good (docs/spec 3.2). A file
// that is saved slowly, synchronised or checked out has states between the old
// text and the new one, and many of them parse.
//
// A reading that lacks something of a known task leaves the task as it was and
// doubts it. While a task is doubted, no work begins. The source is read again
// after ledger.SettleTime: what that reading still lacks is believed. A task whose
// line is gone then rests, once nothing of it is under way, and its line brings
// back its attempt, its questions and its guidance.

// cutShort reports whether the text of a task is a true beginning of its former
// text, as in a file of which only the first part is written.
func cutShort(old, now *ledger.Task) bool {
	short := func(old, now string) bool { return strings.HasPrefix(strings.TrimSpace(old), strings.TrimSpace(now)) }
	begins := func(old, now []string) bool {
		n := len(now)
		return n == 0 || n <= len(old) && slices.Equal(old[:n-1], now[:n-1]) && short(old[n-1], now[n-1])
	}
	return !sameBody(old, now) && old.Title == now.Title && short(old.Body, now.Body) && short(old.Scope, now.Scope) && short(old.Notes, now.Notes) &&
		begins(old.DependsOn, now.DependsOn) && begins(old.Acceptance, now.Acceptance) &&
		(now.Priority == old.Priority || now.Priority == 0) && (now.Complexity == old.Complexity || now.Complexity == 0)
}

// takesAway reports whether a reading changes anything of a task but by a mark
// that it adds. In a reading that lacks something that is doubted as well: it may
// be of a file that is half old and half new.
func takesAway(old *TaskState, now *ledger.Task) bool {
	return old.edited(*now) || old.Task.Mark != now.Mark && !adds(old.Task.Mark, now.Mark)
}

// cutsOff reports whether a reading changes the text of a task that work is under
// way for. It is believed late, too: with a checkout of an older version and back,
// the text is another one for seconds. Nothing is cut off while a commit is made.
func (d *decision) cutsOff(old *TaskState, now *ledger.Task) bool {
	mine := slices.ContainsFunc(d.Project.inLanes(), func(t TaskState) bool {
		return !t.committing() && (ledger.SameID(t.Task.ID, old.Task.ID) || ledger.SameID(t.Task.Parent, old.Task.ID))
	})
	return mine && bodyChanged(old.Task, *now)
}

// adds reports whether a change of marks adds one.
func adds(old, now ledger.Mark) bool {
	return old != now && now != ledger.MarkOpen && old != ledger.MarkDone
}

// reading is one reading of the source, as takeSource compares it with the tasks.
type reading struct {
	ledger.Snapshot
	before  TaskList  // the tasks as they were known when it began; empty = as now
	doubted time.Time // of the EffectReread that asked for it: what tasks lack since then is believed; zero = nothing is
	first   bool      // of a run that starts or goes on: nobody watched the file before
}

// precedesMark reports whether nightporter has written a mark of the task since the
// reading began. Such a mark outranks the one in the reading. Times tell it from the
// mark before, whichever is later: the clock may have been set back.
func (r reading) precedesMark(t *TaskState) bool {
	if r.before.IsZero() {
		return false
	}
	var was time.Time
	if n := r.before.index(t.Task.ID); n >= 0 {
		was = r.before.At(n).MarkedAt
	}
	return !t.MarkedAt.Equal(was)
}

// lacks reports whether the reading has less of a task than the one before: no tick
// where a finished task had one, or only the beginning of its text.
func (r reading) lacks(old *TaskState, now *ledger.Task) bool {
	if old.Task.Mark == markGone {
		return false
	}
	unticked := old.Status == ledger.Done && old.Task.Mark == ledger.MarkDone && now.Mark != ledger.MarkDone && !r.precedesMark(old)
	return unticked || cutShort(&old.Task, now)
}

// believes reports whether the reading confirms that the source lacks something
// of a task.
func (r reading) believes(t *TaskState) bool {
	return !r.doubted.IsZero() && !t.Doubted.IsZero() && !t.Doubted.After(r.doubted)
}

// doubts reports whether the reading is the first one that lacks something of a
// task.
func (r reading) doubts(t *TaskState) bool { return t.Doubted.IsZero() || r.first }

// reread asks for another reading of the source.
func (d *decision) reread() {
	d.effect(d.uniqueKey("reread"), ledger.EffectReread{Source: d.Project.Source, Doubted: d.in.Time})
}

// orderWith returns the order of a reading, with the doubted tasks that it lacks
// behind those that they stood behind.
func (d *decision) orderWith(order []string, lacking map[string]bool) []string {
	if len(lacking) == 0 {
		return order
	}
	ids := d.Project.Tasks.ids
	out, last := slices.Clip(order), ""
	for n, t := range d.Project.Tasks.All() {
		if !t.inSource() {
			continue
		}
		if lacking[ids.keys[n]] {
			at := 0
			if last != "" {
				at = slices.IndexFunc(out, func(id string) bool { return ids.fold(id) == last }) + 1
			}
			out = slices.Insert(out, at, t.Task.ID)
		}
		last = ids.keys[n]
	}
	return out
}

// lineGone reports whether the line of a task, or that of the task of which it is
// a part, is gone from the source for good.
func (d *decision) lineGone(t *TaskState) bool {
	if of, ok := d.task(t.Task.Parent); ok && t.Task.Parent != "" {
		return d.lineGone(&of)
	}
	return t.Status == ledger.Withdrawn || t.Task.Mark == markGone && !isPart(t.Task)
}

// whyGone is the reason of a task whose line is gone, for people.
const whyGone = "its line was removed"

// restTasks lets all tasks rest whose line is gone, but for those of a batch.
// Nothing else of them is under way when work can begin. Before a run has its
// commit, what is known of the source is of an earlier run, and preflight reads it
// anew.
func (d *decision) restTasks() {
	if d.run().Base.Commit == "" {
		return
	}
	for _, t := range d.Project.Tasks.of(setGone) {
		if !d.inBatch(t) {
			d.rest(*t)
		}
	}
	for _, t := range d.Project.Tasks.of(setActive) {
		if t.Task.Parent != "" && d.lineGone(t) {
			d.rest(*t)
		}
	}
}

// inBatch reports whether the task is part of the batch under way, which decides
// about it.
func (d *decision) inBatch(t *TaskState) bool {
	b := d.run().Batch
	return b != nil && slices.ContainsFunc(b.Links, func(l ledger.BatchLink) bool { return ledger.SameID(l.Task, t.Task.ID) })
}

// rest puts a task away whose line is gone. Its questions are closed, and asked
// again when the line is back. A part keeps its status: no run takes it while the
// line of its task is gone.
func (d *decision) rest(t TaskState) {
	id := t.Task.ID
	if t.Status == ledger.Active && t.Attempt != nil || t.Queued() {
		d.add(scope{task: id}, ledger.AttemptEnded{Outcome: ledger.OutcomeParked, Why: whyGone})
	}
	if t.Task.Parent != "" {
		d.setTask(id, ledger.Ready, "goes on where it was")
		return
	}
	rest := &ledger.Rest{Status: t.Status, Why: t.Why, Question: t.Question}
	for _, q := range d.Project.questionsAbout(id) {
		if q.Kind != ledger.AskNow {
			rest.Questions = append(rest.Questions, q)
		}
	}
	d.closeQuestions(id, "withdrawn")
	for _, part := range t.Parts {
		if p, ok := d.task(part); ok && p.Status == ledger.Waiting {
			d.closeQuestions(part, "withdrawn") // no answer would be taken
			d.setTask(part, ledger.Ready, "asks again")
		}
	}
	d.changeTask(id, ledger.TaskSet{To: ledger.Withdrawn, Why: whyGone, Rest: rest})
}

// wake takes a task up again whose line is back. now is the task as the source has
// it. With another text the task begins anew, but stays put away or blocked.
func (d *decision) wake(t TaskState, now ledger.Task) {
	id, was := t.Task.ID, t.Rest
	const why = "its line is back"
	if was == nil { // an earlier release kept nothing
		d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Pending, Why: why})
		return
	}
	to := was.Status
	if to == ledger.Active {
		to = ledger.Ready
	}
	if t.edited(now) && to != ledger.Skipped && to != ledger.ManualVerify {
		d.dropParts(t, "edited in the source")
		d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: why + ", edited", Fresh: true})
		return
	}
	set := ledger.TaskSet{From: t.Status, To: to, Why: why}
	if to == ledger.Blocked || to == ledger.Skipped || to == ledger.ManualVerify || to == ledger.Waiting {
		set.Why = was.Why
	}
	asked := slices.Clone(was.Questions)
	for n := range asked {
		q := &asked[n]
		old := q.ID
		if q.ID = d.nextID("q"); old == was.Question {
			set.Question = q.ID
		}
		if !q.Expires.IsZero() {
			scheduleReminder(q, d.in.Time, d.in.Time.Add(q.Expires.Sub(q.Asked)))
		}
		q.Asked, q.Run = d.in.Time, d.run().ID
	}
	if to == ledger.Waiting && set.Question == "" {
		set.To, set.Why = ledger.Ready, why
	}
	d.add(scope{task: id}, set)
	for _, q := range asked {
		d.add(scope{task: id}, ledger.QuestionAsked{Question: q})
	}
	if to == ledger.Blocked || to == ledger.ManualVerify {
		d.mark(id, markOf(to))
	}
}

// lostText says which tasks the run lost, for people.
func (d *decision) lostText() string {
	ids := d.lost()
	return fmt.Sprintf("%s not done, and gone from %s. Put the lines back to go on", joinFew(shortIDs(ids)), d.run().Settings.Source.Path)
}

// lost returns the ids of the tasks whose lines the run lost, and which it would
// otherwise have worked on.
func (d *decision) lost() (ids []string) {
	for _, t := range d.Project.Tasks.All() {
		if t.Status == ledger.Withdrawn && t.Rest != nil && t.Lost == d.run().ID && t.Rest.Status != ledger.Skipped && d.wanted(t) {
			ids = append(ids, t.Task.ID)
		}
	}
	return ids
}
