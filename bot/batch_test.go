package bot_test

import (
	"testing"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestBatch: a task that waits to be verified with others is shown neither as done
// nor as ready, and those that are verified together are named together.
func TestBatch(t *testing.T) {
	d := newService("shop")
	set := d.Settings()
	set.Queue, set.Verify = ledger.QueueBatch, append(set.Verify, ledger.Command{Run: "npm run e2e", When: "final"})
	d.Start(set, d.Base("r1"), scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow"), scenario.Task(3, "Address form"))
	waits := func(id string) func() bool {
		return func() bool { task, ok := d.Night.State.Project.Find(id); return ok && task.Queued() }
	}
	all := topics{}
	d.Until(waits("Task 2"))
	for intent, line := range map[string]string{"status": "/status", "tasks": "/tasks", "task": "/task 1", "next": "/next 1", "retry": "/retry 1"} {
		all.add(t, "batch", intent+" while two wait", line, d.say(t, line), 38)
	}
	d.Until(func() bool { b := d.Night.State.Project.Run.Batch; return b != nil && b.Chained })
	all.add(t, "batch", "status while they are verified", "/status", d.say(t, "/status"), 38)
	d.Until(nil)
	all.add(t, "batch", "log", "/log", d.say(t, "/log"), 38)
	all.add(t, "batch", "evidence", "/evidence 2", d.say(t, "/evidence 2"), 38)
	all.compare(t)
}
