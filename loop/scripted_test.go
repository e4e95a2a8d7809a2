package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestScripted: nothing that the scripted agent ends is marked, and the next run
// has it to do again; with ScriptedWritten it is an agent like any other. A run of
// an earlier release says neither, and marks.
func TestScripted(t *testing.T) {
	for _, c := range []struct {
		name  string
		marks ledger.ScriptedMarks
		mark  ledger.Mark // of task 1 in the source, after the run
		next  ledger.Status
	}{
		{"withheld", ledger.ScriptedWithheld, ledger.MarkOpen, ledger.Active},
		{"written", ledger.ScriptedWritten, ledger.MarkDone, ledger.Done},
		{"an earlier release", "", ledger.MarkDone, ledger.Done},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDirector(t, c.name)
			d.play("tasks 1 2")
			d.play("set agent=" + ledger.ScriptedAgent)
			d.play("set scripted=" + string(c.marks))
			d.play("set max_tasks=1")
			d.play("go quiet")
			d.play("task")
			task := func() TaskState { return *d.s.Project.Tasks.At(d.s.Project.index("Task 1")) }
			if got := task(); got.Status != ledger.Done || got.Task.Mark != c.mark || got.Scripted != (c.marks == ledger.ScriptedWithheld) {
				t.Errorf("after the task: %s, mark %q, scripted %v", got.Status, got.Task.Mark, got.Scripted)
			}
			if r := d.s.Project.Run; (r.Scripted > 0) != (c.marks != "") {
				t.Errorf("%d scripted sessions", r.Scripted)
			}
			d.play("/answer q1 stop")
			d.play("greens")
			d.play("go quiet")
			if got := task().Status; got != c.next {
				t.Errorf("in the next run: %s, want %s", got, c.next)
			}
			if tip, ok := d.s.Project.Branches[d.s.Project.Source]; ok == (c.marks == ledger.ScriptedWithheld) {
				t.Errorf("the next run builds on %v", tip)
			}
		})
	}
}
