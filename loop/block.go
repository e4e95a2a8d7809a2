package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// blockage is why a task is blocked, for the person who has to decide.
type blockage struct {
	reason, tried, needs string
	marked               bool     // by a person, in the source
	work                 *Attempt // the attempt that ended with it, nil where there was none
}

// block asks a person about a task that cannot go on, and ends the run where
// the profile says so.
func (d *decision) block(id string, b blockage) {
	t, ok := d.task(id)
	if !ok {
		return
	}
	r := d.run()
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskBlocked, Run: r.ID, Task: id, Title: t.Task.Title,
		Text: b.reason, Tried: b.tried, Needs: b.needs, Asked: d.in.Time,
	}
	d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Blocked, Why: b.reason, Question: q.ID})
	d.add(scope{task: id}, ledger.QuestionAsked{Question: q})
	if !b.marked {
		d.mark(id, ledger.MarkBlocked)
		t.Attempt = b.work
		d.progress(t, "blocked", "", b.reason)
	}
	r = d.run()
	switch {
	case r.Settings.OnBlocked == ledger.OnBlockedStop, t.Task.Own: // WithAgent a red baseline nothing else can get green
		d.finish(ledger.RunEnded{Reason: ledger.ReasonBlocked, Exit: 1, Text: fmt.Sprintf("%s is blocked (%s): %s", ledger.ShortID(id), q.ID, b.reason)})
	case r.Streak >= ledger.MaxBlockedInARow:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonStreak, Exit: 1, Text: fmt.Sprintf("%d tasks blocked in a row", r.Streak)})
	}
}

// skipTask puts a task away. Its dependents are asked about: skipped alone it
// does not satisfy them (SPEC 3.1).
func (d *decision) skipTask(id string) {
	t, ok := d.Project.Find(id)
	if !ok {
		d.noTask(id)
		return
	}
	if t.Status == ledger.Active {
		d.refuse(ledger.CodeActive, "%s is at work; /stop now first, then skip it", ledger.ShortID(t.Task.ID))
		return
	}
	if t.Status == ledger.Done || t.Status == ledger.Skipped {
		d.say("%s is %s already", ledger.ShortID(t.Task.ID), t.Status)
		return
	}
	d.putAway(t)
	d.say("%s skipped", ledger.ShortID(t.Task.ID))
	need := d.dependents(t)
	if len(need) == 0 {
		return
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskSkip, Task: t.Task.ID, Tasks: need, Title: t.Task.Title, Asked: d.in.Time,
		Text: fmt.Sprintf("%s is skipped, and %s needs it", ledger.ShortID(t.Task.ID), strings.Join(shortIDs(need), " ")),
	}
	if r := d.run(); r != nil {
		q.Run = r.ID
	}
	d.add(scope{task: t.Task.ID}, ledger.QuestionAsked{Question: q})
	d.say("%s skipped; %s needs it and waits. Skip it too: %s skip", ledger.ShortID(t.Task.ID), strings.Join(shortIDs(need), " "), q.ID)
}

// putAway skips a task and settles what was asked about it.
func (d *decision) putAway(t TaskState) {
	d.closeQuestions(t.Task.ID, "skip")
	d.dropParts(t, "its task was skipped")
	d.setTask(t.Task.ID, ledger.Skipped, "by "+d.by())
	d.expireGuidance(t.Task.ID, "its task was skipped")
}

// dependents lists the tasks that wait for t alone or among others.
func (d *decision) dependents(t TaskState) []string {
	var need []string
	for _, u := range d.Project.Tasks.All() {
		revised := slices.Contains(u.Parts, t.Task.ID) // parked, while parts of it are built
		if (u.Status == ledger.Pending || u.Status == ledger.Ready && (u.Attempt == nil || revised)) && d.dependsOn(u, t) {
			need = append(need, u.Task.ID)
		}
	}
	return need
}

// needing lists those of some tasks that wait, and what needs them in turn:
// what cannot be done without a task that was skipped.
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
		if dep, ok := d.Project.Find(id); ok && ledger.SameID(dep.Task.ID, on.Task.ID) {
			return true
		}
	}
	return false
}

// closeQuestions settles the open questions of a task by what was done.
func (d *decision) closeQuestions(task, choice string) {
	for _, q := range d.Project.Questions {
		switch {
		case q.Task == "" || !ledger.SameID(q.Task, task) || d.Project.shelved(q) != "":
		case q.Kind == ledger.AskNow: // its words are for whoever comes next
			d.settleNow(q, choice)
		default:
			d.add(scope{task: task}, ledger.QuestionAnswered{ID: q.ID, Choice: choice, By: d.by()})
		}
	}
}

// retryTask gives a task two new attempts.
func (d *decision) retryTask(id string) {
	t, ok := d.Project.Find(id)
	if !ok {
		d.noTask(id)
		return
	}
	switch t.Status {
	case ledger.Active, ledger.Ready, ledger.Pending:
		d.say("%s is %s already", ledger.ShortID(t.Task.ID), t.Status)
		return
	case ledger.Withdrawn:
		if t.Task.Parent == "" {
			d.refuse(ledger.CodeWithdrawn, "%s is no longer in the source", ledger.ShortID(t.Task.ID))
			return
		}
	}
	of, is := d.task(t.Task.Parent)
	if is && of.Status == ledger.Done {
		d.refuse(ledger.CodeOver, "%s is done; /retry %s has it planned anew", ledger.ShortID(of.Task.ID), strings.TrimPrefix(ledger.ShortID(of.Task.ID), "#"))
		return
	}
	if is && (!slices.Contains(of.Parts, t.Task.ID) || of.Status == ledger.Skipped || of.Status == ledger.Withdrawn) {
		d.refuse(ledger.CodeWithdrawn, "%s belongs to a plan of %s that was thrown away", ledger.ShortID(t.Task.ID), ledger.ShortID(of.Task.ID))
		return
	}
	d.closeQuestions(t.Task.ID, "retry")
	d.dropParts(t, "retry, by "+d.by())
	d.add(scope{task: t.Task.ID}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "retry, by " + d.by(), Fresh: true})
	d.mark(t.Task.ID, ledger.MarkOpen)
	d.say("%s ready again", ledger.ShortID(t.Task.ID))
	d.goOn()
}

func (d *decision) nextTask(id string) {
	t, ok := d.Project.Find(id)
	switch {
	case !ok:
		d.noTask(id)
	case t.Status != ledger.Ready:
		d.refuse(ledger.CodeNotReady, "%s is %s; only a ready task can be next", ledger.ShortID(t.Task.ID), t.Status)
	case d.run().Over():
		d.refuse(ledger.CodeIdle, "%s is idle", d.in.Project)
	default:
		d.add(scope{task: t.Task.ID}, ledger.TaskNext{})
		d.say("%s is next", ledger.ShortID(t.Task.ID))
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
	d.refuse(ledger.CodeNoTask, "%s has no task %s (it has %s). Nothing was changed.", d.in.Project, id, has)
}
