package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// settleReady moves tasks between pending and ready according to their
// dependencies and phases.
func (d *decision) settleReady() {
	list := d.Project.Tasks
	for n, t := range list.of(setUnsettled) {
		switch {
		case t.Status == ledger.Pending && len(t.Parts) > 0: // settleParts completes it
		case t.Status == ledger.Pending:
			d.setTask(t.Task.ID, ledger.Ready, "")
		case t.Attempt != nil:
			d.setTask(t.Task.ID, ledger.Pending, fmt.Sprintf("%d parts", len(t.Parts)))
		default:
			d.setTask(t.Task.ID, ledger.Pending, list.waitsFor(n, t))
		}
	}
}

// waitsFor returns what the task at position n waits for before it is ready, in
// words, or "".
func (l TaskList) waitsFor(n int, t *TaskState) string {
	if t.Untaken() {
		return "by " + t.Task.Author + ", who may not write here: waits for /next " + strings.TrimPrefix(ledger.ShortID(t.Task.ID), "#")
	}
	if on := l.missing(n, t); on != "" {
		return "needs " + ledger.ShortID(on)
	}
	if phase := l.earlier(t); phase > 0 {
		return fmt.Sprintf("waits for phase %d", phase)
	}
	return ""
}

// wanted reports whether the run's --from and --only include the task. A part
// is included with its task; a task that belongs to the run alone is always
// included.
func (d *decision) wanted(t *TaskState) bool {
	tasks, s := d.Project.Tasks, &d.run().Settings
	if t.Task.Own || d.run().Aside() {
		return t.Task.Own
	}
	if n := tasks.index(t.Task.Parent); n >= 0 {
		return !d.lineGone(t) && d.wanted(tasks.At(n))
	}
	if s.Only != "" {
		only := tasks.find(s.Only)
		return only >= 0 && tasks.index(t.Task.ID) == tasks.index(tasks.At(only).Task.ID)
	}
	if s.From != "" {
		from := tasks.find(s.From)
		return from >= 0 && tasks.index(t.Task.ID) >= from
	}
	return true
}

// chosen returns the ready task that a person asked for with /next. A run that works on
// none of the source's tasks has none.
func (d *decision) chosen() (TaskState, bool) {
	if d.run().Next == "" || d.run().Aside() {
		return TaskState{}, false
	}
	t, ok := d.task(d.run().Next)
	return t, ok && t.Status == ledger.Ready && t.wish() == ledger.MarkOpen && !t.Queued() && !d.unfit(&t)
}

// firstReady returns the ready task whose turn comes first among those that the run
// may take.
func (d *decision) firstReady() (TaskState, bool) {
	if t, ok := d.chosen(); ok {
		return t, true
	}
	for _, t := range d.byTurn(setReady, setReady) {
		if d.wanted(t) && t.wish() == ledger.MarkOpen && !t.Queued() && d.inWave(t) {
			return *t, true
		}
	}
	return TaskState{}, false
}

// wait puts the run into the waiting state. It adds no entry if the run waits
// for the same thing already. agent names the agent that the run waits for, or
// is "".
func (d *decision) wait(w ledger.WaitReason, until time.Time, agent, text string) {
	r := d.run()
	if r.State == ledger.RunWaiting && r.Wait == w && r.Until.Equal(until) && r.Text == text {
		return
	}
	d.add(scope{}, ledger.RunStateSet{State: ledger.RunWaiting, Wait: w, Until: until, Agent: agent, Text: text})
}

// inOrder reports whether the tasks of the source already stand in the order of
// ids.
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

// order returns the ids of the tasks in the source, in document order.
func (d *decision) order() []string {
	var ids []string
	for _, t := range d.Project.Tasks.All() {
		if t.inSource() {
			ids = append(ids, t.Task.ID)
		}
	}
	return ids
}
