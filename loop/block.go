package loop

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// blockage is the reason why a task is blocked, worded for the person who
// decides about the task.
type blockage struct {
	reason, tried, needs string
	marked               bool     // a person wrote the mark into the source, so it need not be written again
	work                 *Attempt // the attempt that failed; nil if there was none
}

// block marks a task as blocked and asks a person about it. Whether the run ends for
// that is decided by advance: a run that a person holds, for instance, does not end
// before it goes on.
func (d *decision) block(id string, b blockage) {
	t, ok := d.task(id)
	if !ok {
		return
	}
	b.reason = withNote(b.reason, d.replanned(t))
	if t.Task.Idea != "" {
		if b.needs != "" {
			b.reason += "; needed: " + b.needs
		}
		d.giveUpIdea(t, ledger.IdeaFailed, b.reason)
		return
	}
	if len(t.Task.Sorts) > 0 {
		d.unjudged(t, b.reason)
		return
	}
	r := d.run()
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskBlocked, Run: r.ID, Task: id, Title: t.Task.Title,
		Text: b.reason, Tried: b.tried, Needs: b.needs, Excerpt: ExcerptOf(b.work), Asked: d.in.Time,
	}
	d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Blocked, Why: b.reason, Question: q.ID})
	d.add(scope{task: id}, ledger.QuestionAsked{Question: q})
	if !b.marked {
		d.mark(id, ledger.MarkBlocked)
		t.Attempt = b.work
		d.progress(t, "blocked", "", b.reason)
	}
}

// endsWhenBlocked reports whether the run ends when the task is blocked: by the
// settings, or because no other task can be verified on a red baseline.
func (d *decision) endsWhenBlocked(t TaskState) bool {
	return d.run().Settings.OnBlocked == ledger.OnBlockedStop || t.Task.Own
}

// endedAt returns the end of a run at the blocked task that a question is about.
func endedAt(q ledger.Question) ledger.RunEnded {
	return ledger.RunEnded{Reason: ledger.ReasonBlocked, Text: fmt.Sprintf("%s is blocked (%s): %s", ledger.ShortID(q.Task), q.ID, q.Text)}
}

// streakText describes the tasks that were blocked in a row, with the reason of the
// last one.
func (d *decision) streakText() string {
	text := fmt.Sprintf("%d tasks blocked in a row", d.run().Streak)
	for _, q := range slices.Backward(d.Project.Questions) {
		if q.Kind == ledger.AskBlocked && q.Run == d.run().ID {
			return reason(fmt.Sprintf("%s, the last %s: %s", text, ledger.ShortID(q.Task), q.Text))
		}
	}
	return text
}

// blockedHere returns the question about a task that was blocked in this run and
// ends it.
func (d *decision) blockedHere() (ledger.Question, bool) {
	for _, q := range d.Project.Questions {
		if q.Kind != ledger.AskBlocked || q.Run != d.run().ID {
			continue
		}
		if t, ok := d.task(q.Task); ok && t.Status == ledger.Blocked && t.Question == q.ID && d.endsWhenBlocked(t) {
			return q, true
		}
	}
	return ledger.Question{}, false
}

// putAway skips a task and settles its open questions, parts and guidance.
func (d *decision) putAway(t TaskState) {
	d.closeQuestions(t.Task.ID, "skip")
	d.dropParts(t, "its task was skipped")
	switch {
	case t.Task.Idea != "":
		d.giveUpIdea(t, ledger.IdeaDropped, "skipped by "+d.by())
	case len(t.Task.Sorts) > 0:
		d.unjudged(t, "skipped by "+d.by())
	default:
		d.setTask(t.Task.ID, ledger.Skipped, "by "+d.by())
	}
	d.expireGuidance(t.Task.ID, "its task was skipped")
	if of, ok := d.task(t.Task.Parent); ok && t.Task.Joins && of.Status == ledger.Pending && of.mergedParts(d.Project.Tasks) {
		d.settleParts() // without a run nothing else would notice
		d.goOn()
	}
}

// dependents returns the ids of the open tasks that depend on t, or have it as a
// part.
func (d *decision) dependents(t TaskState) []string {
	var need []string
	for _, u := range d.Project.Tasks.All() {
		revised := slices.Contains(u.Parts, t.Task.ID) // u's plan is being revised while parts of it are built
		if (u.Status == ledger.Pending || u.Status == ledger.Ready && (u.Attempt == nil || revised)) && d.dependsOn(u, t) {
			need = append(need, u.Task.ID)
		}
	}
	return need
}

// needing returns the given tasks that are pending or ready, and all tasks that
// depend on them, directly or not. For the dependents of a skipped task, these
// are the tasks that cannot be done without it.
func (d *decision) needing(ids []string) (all []string) {
	for len(ids) > 0 {
		t, ok := d.task(ids[0])
		if ids = ids[1:]; !ok || t.Status != ledger.Pending && t.Status != ledger.Ready || slices.Contains(all, t.Task.ID) {
			continue
		}
		all = append(all, t.Task.ID)
		ids = append(slices.Clip(ids), d.dependents(t)...)
	}
	return all
}

func (d *decision) dependsOn(t *TaskState, on TaskState) bool {
	for _, id := range slices.Concat(t.Task.DependsOn, t.Parts) {
		if dep, ok := d.Project.Find(id); ok && ledger.SameID(dep.Task.ID, on.Task.ID) && !(dep.Task.Joins && ledger.SameID(dep.Task.Parent, t.Task.ID)) {
			return true
		}
	}
	return false
}

// closeQuestions settles the open questions of a task unanswered. choice names
// the command or event that made them pointless, such as "skip".
func (d *decision) closeQuestions(task, choice string) {
	for _, q := range d.Project.questionsAbout(task) {
		if q.Kind == ledger.AskNow { // the words are queued for the next session
			d.settleNow(q, choice)
		} else {
			d.add(scope{task: task}, ledger.QuestionAnswered{ID: q.ID, Choice: choice, By: d.by()})
		}
	}
}

func (d *decision) noTask(id string) {
	has := "no tasks"
	var ids []string
	for _, t := range d.Project.Tasks.All() {
		if t.Status != ledger.Withdrawn && t.Task.Parent == "" {
			ids = append(ids, ledger.ShortID(t.Task.ID))
		}
	}
	if n := len(ids); n > 0 {
		has = fmt.Sprintf("%s–%s", ids[0], ids[n-1])
	}
	if d.run() == nil && len(ids) == 0 {
		d.refuse(ledger.CodeNoTask, "%s has had no run yet: change task %s in its file. Nothing was changed.", d.in.Project, id)
		return
	}
	d.refuse(ledger.CodeNoTask, "%s has no task %s (it has %s). Nothing was changed.", d.in.Project, id, has)
}
