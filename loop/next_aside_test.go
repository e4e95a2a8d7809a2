package loop

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestNextWhileAside: a run that keeps a pull request green, or drafts an idea's plan,
// takes no task of the source, whoever asks for it. TestSchedules found one that did.
func TestNextWhileAside(t *testing.T) {
	ready := TaskState{Task: ledger.Task{ID: "Task 1", Title: "Sum", Mark: ledger.MarkOpen}, Status: ledger.Ready}
	for name, run := range map[string]Run{
		"upkeep": {Upkeep: &ledger.Upkeep{Run: "r1"}},
		"idea":   {Idea: "i1"},
	} {
		run.ID, run.State = "r4", ledger.RunRunning
		s := State{Project: Project{Name: "shop", Run: &run, Tasks: NewTaskList(ready)}}
		d := Decide(s, Input{Project: "shop", Time: time.Unix(1e9, 0), Actor: "mira", Body: NextTask{Task: "Task 1"}})
		if d.Answer.OK || d.Answer.Code != ledger.CodeIdle {
			t.Errorf("%s: /next answers %+v", name, d.Answer)
		}
		run.Next = "task 1" // as an earlier release recorded it
		asked := &decision{State: s, in: Input{Project: "shop"}}
		if got, ok := asked.chosen(); ok {
			t.Errorf("%s: %s is chosen", name, got.Task.ID)
		}
	}
}
