package loop

import (
	"fmt"
	"slices"
	"strings"
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
	q := Question{
		ID: d.nextID("q"), Kind: AskBlocked, Run: r.ID, Task: id, Title: t.Task.Title,
		Text: b.reason, Tried: b.tried, Needs: b.needs, Asked: d.in.Time,
	}
	d.add(scope{task: id}, TaskSet{From: t.Status, To: Blocked, Why: b.reason, Question: q.ID})
	d.add(scope{task: id}, QuestionAsked{Question: q})
	if !b.marked {
		d.mark(id, MarkBlocked)
		t.Attempt = b.work
		d.progress(t, "blocked", "", b.reason)
	}
	r = d.run()
	switch {
	case r.Settings.OnBlocked == OnBlockedStop, t.Task.Own: // WithAgent a red baseline nothing else can get green
		d.finish(RunEnded{Reason: ReasonBlocked, Exit: 1, Text: fmt.Sprintf("%s is blocked (%s): %s", ShortID(id), q.ID, b.reason)})
	case r.Streak >= MaxBlockedInARow:
		d.finish(RunEnded{Reason: ReasonStreak, Exit: 1, Text: fmt.Sprintf("%d tasks blocked in a row", r.Streak)})
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
	if t.Status == Active {
		d.refuse("active", "%s is at work; /stop now first, then skip it", ShortID(t.Task.ID))
		return
	}
	if t.Status == Done || t.Status == Skipped {
		d.say("%s is %s already", ShortID(t.Task.ID), t.Status)
		return
	}
	d.putAway(t)
	d.say("%s skipped", ShortID(t.Task.ID))
	need := d.dependents(t)
	if len(need) == 0 {
		return
	}
	q := Question{
		ID: d.nextID("q"), Kind: AskSkip, Task: t.Task.ID, Tasks: need, Title: t.Task.Title, Asked: d.in.Time,
		Text: fmt.Sprintf("%s is skipped, and %s needs it", ShortID(t.Task.ID), strings.Join(shortIDs(need), " ")),
	}
	if r := d.run(); r != nil {
		q.Run = r.ID
	}
	d.add(scope{task: t.Task.ID}, QuestionAsked{Question: q})
	d.say("%s skipped; %s needs it and waits. Skip it too: %s skip", ShortID(t.Task.ID), strings.Join(shortIDs(need), " "), q.ID)
}

// putAway skips a task and settles what was asked about it.
func (d *decision) putAway(t TaskState) {
	d.closeQuestions(t.Task.ID, "skip")
	d.dropParts(t, "its task was skipped")
	d.setTask(t.Task.ID, Skipped, "by "+d.by())
	d.expireGuidance(t.Task.ID, "its task was skipped")
}

// dependents lists the tasks that wait for t alone or among others.
func (d *decision) dependents(t TaskState) []string {
	var need []string
	for _, u := range d.Project.Tasks {
		revised := slices.Contains(u.Parts, t.Task.ID) // parked, while parts of it are built
		if (u.Status == Pending || u.Status == Ready && (u.Attempt == nil || revised)) && d.dependsOn(u, t) {
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
		if ids = ids[1:]; !ok || t.Status != Pending && t.Status != Ready || slices.Contains(all, t.Task.ID) {
			continue
		}
		all = append(all, t.Task.ID)
		ids = append(slices.Clip(ids), d.dependents(t)...)
	}
	return all
}

func (d *decision) dependsOn(t, on TaskState) bool {
	for _, id := range slices.Concat(t.Task.DependsOn, t.Parts) {
		if dep, ok := d.Project.Find(id); ok && SameID(dep.Task.ID, on.Task.ID) {
			return true
		}
	}
	return false
}

// closeQuestions settles the open questions of a task by what was done.
func (d *decision) closeQuestions(task, choice string) {
	for _, q := range d.Project.Questions {
		switch {
		case q.Task == "" || !SameID(q.Task, task) || d.Project.shelved(q) != "":
		case q.Kind == AskNow: // its words are for whoever comes next
			d.settleNow(q, choice)
		default:
			d.add(scope{task: task}, QuestionAnswered{ID: q.ID, Choice: choice, By: d.by()})
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
	case Active, Ready, Pending:
		d.say("%s is %s already", ShortID(t.Task.ID), t.Status)
		return
	case Withdrawn:
		if t.Task.Parent == "" {
			d.refuse("withdrawn", "%s is no longer in the source", ShortID(t.Task.ID))
			return
		}
	}
	of, is := d.task(t.Task.Parent)
	if is && of.Status == Done {
		d.refuse("over", "%s is done; /retry %s has it planned anew", ShortID(of.Task.ID), strings.TrimPrefix(ShortID(of.Task.ID), "#"))
		return
	}
	if is && (!slices.Contains(of.Parts, t.Task.ID) || of.Status == Skipped || of.Status == Withdrawn) {
		d.refuse("withdrawn", "%s belongs to a plan of %s that was thrown away", ShortID(t.Task.ID), ShortID(of.Task.ID))
		return
	}
	d.closeQuestions(t.Task.ID, "retry")
	d.dropParts(t, "retry, by "+d.by())
	d.add(scope{task: t.Task.ID}, TaskSet{From: t.Status, To: Ready, Why: "retry, by " + d.by(), Fresh: true})
	d.mark(t.Task.ID, MarkOpen)
	d.say("%s ready again", ShortID(t.Task.ID))
	d.goOn()
}

func (d *decision) nextTask(id string) {
	t, ok := d.Project.Find(id)
	switch {
	case !ok:
		d.noTask(id)
	case t.Status != Ready:
		d.refuse("not ready", "%s is %s; only a ready task can be next", ShortID(t.Task.ID), t.Status)
	case d.run().Over():
		d.refuse("idle", "%s is idle", d.in.Project)
	default:
		d.add(scope{task: t.Task.ID}, TaskNext{})
		d.say("%s is next", ShortID(t.Task.ID))
	}
}

func (d *decision) noTask(id string) {
	has := "no tasks"
	var ids []string
	for _, t := range d.Project.Tasks {
		if t.Status != Withdrawn && t.Task.Parent == "" {
			ids = append(ids, ShortID(t.Task.ID))
		}
	}
	if n := len(ids); n > 0 {
		has = fmt.Sprintf("%s–%s", ids[0], ids[n-1])
	}
	d.refuse("no task", "%s has no task %s (it has %s). Nothing was changed.", d.in.Project, id, has)
}
