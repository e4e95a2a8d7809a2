package loop_test

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPartsTakeTheCommit checks that a task which was done before, and is done again by
// parts, does not keep the commit of then: the branch may not have it any more.
func TestPartsTakeTheCommit(t *testing.T) {
	n := scenario.New("shop", time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC))
	n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "One"))
	n.Until(func() bool { return n.State.Project.Run.Commits == 1 })
	if task, _ := n.State.Project.Find("Task 1"); task.Commit == "" {
		t.Fatal("Task 1 has no commit: the test shows nothing")
	}
	n.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: n.Now, Run: "r1", Task: "Task 1", Body: ledger.AttemptEnded{Outcome: ledger.OutcomePlanned, Why: "its plan has parts"}})
	if task, _ := n.State.Project.Find("Task 1"); task.Commit != "" {
		t.Errorf("Task 1 has parts, and still the commit %s", task.Commit)
	}
}
