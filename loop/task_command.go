package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// skipTask skips a task and asks a person about the tasks that depend on it: a
// skipped task does not satisfy them (docs/spec 3.1).
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
	if of, ok := d.task(t.Task.Parent); ok && t.Task.Joins && of.Status == ledger.Skipped {
		d.say("%s skipped, and with it %s: all its sections are", ledger.ShortID(t.Task.ID), ledger.ShortID(of.Task.ID))
	}
	if need, q := d.askDependents(t); q != "" {
		d.say("%s skipped; %s needs it and waits. Skip it too: %s skip", ledger.ShortID(t.Task.ID), strings.Join(shortIDs(need), " "), q)
	}
}

// askDependents asks what becomes of the tasks that depend on a skipped one. It returns
// them and the id of the question, "" if there are none.
func (d *decision) askDependents(t TaskState) (need []string, question string) {
	if need = d.dependents(t); len(need) == 0 {
		return nil, ""
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskSkip, Task: t.Task.ID, Tasks: need, Title: t.Task.Title, Asked: d.in.Time,
		Text: fmt.Sprintf("%s is skipped, and %s needs it", ledger.ShortID(t.Task.ID), strings.Join(shortIDs(need), " ")),
	}
	if r := d.run(); r != nil {
		q.Run = r.ID
	}
	d.add(scope{task: t.Task.ID}, ledger.QuestionAsked{Question: q})
	return need, q.ID
}

// retryTask makes a task ready again and allows it two new attempts.
func (d *decision) retryTask(id string) {
	t, ok := d.Project.Find(id)
	if !ok {
		d.noTask(id)
		return
	}
	if t.Queued() {
		d.say("%s is finished already and waits for the batch", ledger.ShortID(t.Task.ID))
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
	if is && t.Task.Joins && t.Status == ledger.Done && of.Status != ledger.Done {
		d.refuse(ledger.CodeOver, "%s is part of %s by now; /plan redo %s has it planned anew", ledger.ShortID(t.Task.ID), ledger.ShortID(of.Task.ID), strings.TrimPrefix(ledger.ShortID(of.Task.ID), "#"))
		return
	}
	if is && of.Status == ledger.Done {
		d.refuse(ledger.CodeOver, "%s is done; /retry %s has it planned anew", ledger.ShortID(of.Task.ID), strings.TrimPrefix(ledger.ShortID(of.Task.ID), "#"))
		return
	}
	if is && (!slices.Contains(of.Parts, t.Task.ID) || of.Status == ledger.Skipped || of.Status == ledger.Withdrawn) {
		d.refuse(ledger.CodeWithdrawn, "%s belongs to a plan of %s that was thrown away", ledger.ShortID(t.Task.ID), ledger.ShortID(of.Task.ID))
		return
	}
	if why := d.Project.goneOn(t); why != "" {
		again := "/plan redo"
		if of.Attempt == nil {
			again = "/retry"
		}
		d.refuse(ledger.CodeOver, "%s; %s %s has it planned anew", why, again, strings.TrimPrefix(ledger.ShortID(of.Task.ID), "#"))
		return
	}
	d.closeQuestions(t.Task.ID, "retry")
	d.dropParts(t, "retry, by "+d.by())
	d.add(scope{task: t.Task.ID}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "retry", By: d.by(), Fresh: true})
	d.mark(t.Task.ID, ledger.MarkOpen)
	d.say("%s ready again", ledger.ShortID(t.Task.ID))
	d.goOn()
}

// nextTask makes a ready task the next task of the run.
func (d *decision) nextTask(b NextTask) {
	t, ok := d.Project.Find(b.Task)
	switch {
	case !ok:
		d.noTask(b.Task)
	case t.Untaken() && b.Text != "" && b.Text != t.TextID():
		d.refuse(ledger.CodeOtherText, "the text of %s has changed since you read it; nothing was taken", ledger.ShortID(t.Task.ID))
	case t.Untaken():
		d.take(t)
	case t.Queued():
		d.refuse(ledger.CodeNotReady, "%s is finished and waits for the batch; only a ready task can be next", ledger.ShortID(t.Task.ID))
	case t.Status != ledger.Ready:
		d.refuse(ledger.CodeNotReady, "%s is %s; only a ready task can be next", ledger.ShortID(t.Task.ID), t.Status)
	case d.run().Over():
		d.refuse(ledger.CodeIdle, "%s is idle; a task can be next while it runs", d.in.Project)
	case d.run().Aside():
		d.refuse(ledger.CodeIdle, "%s works on none of its tasks now, and %s was not made the next one; say it again in the next run", d.in.Project, ledger.ShortID(t.Task.ID))
	default:
		d.add(scope{task: t.Task.ID}, ledger.TaskNext{})
		d.say("%s is next", ledger.ShortID(t.Task.ID))
	}
}

// fixReport makes a bug report the next one, whatever triage says of it.
func (d *decision) fixReport(id string) {
	t, ok := d.Project.Find(id)
	short := ledger.ShortID(t.Task.ID)
	again := t.Status == ledger.Blocked || t.Status == ledger.Skipped
	switch {
	case !ok:
		d.noTask(id)
		return
	case t.Task.Report == nil:
		d.refuse(ledger.CodeNotReady, "%s is no bug report; /next takes a task first", short)
		return
	case t.Queued():
		d.refuse(ledger.CodeNotReady, "%s is finished and waits for the batch", short)
		return
	case t.Status == ledger.Active:
		d.say("%s is at work already", short)
		return
	case t.Status == ledger.Done:
		d.refuse(ledger.CodeNotReady, "%s is done; /retry works on it again", short)
		return
	case t.Status != ledger.Ready && !again:
		d.refuse(ledger.CodeNotReady, "%s is %s; only a report that is to do can be next", short, t.Status)
		return
	case !d.run().Over() && (d.run().Aside() || !d.wanted(&t)):
		d.refuse(ledger.CodeIdle, "this run of %s does not work on %s; say it again in the next one", d.in.Project, short)
		return
	}
	claim, claimed := d.Project.claimOn(&t, d.in.Time)
	if again {
		d.closeQuestions(t.Task.ID, "fix")
		d.dropParts(t, "fix, by "+d.by())
		d.add(scope{task: t.Task.ID}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "to be fixed", By: d.by(), Fresh: true})
		d.mark(t.Task.ID, ledger.MarkOpen)
	}
	d.add(scope{task: t.Task.ID}, ledger.TaskNext{Fix: true})
	text := short + " is next"
	if d.run().Over() {
		text = short + " comes first in the next run"
	}
	if claimed {
		text += ", although " + claim.Text(d.in.Time)
	}
	d.say("%s", text)
	if again {
		d.goOn()
	}
}
