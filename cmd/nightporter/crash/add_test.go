package crash

import (
	"os"
	"strings"
	"testing"
)

// addPoints are the steps of an added task at which the program is killed.
var addPoints = []string{
	"before-commit:add", "after-commit:add", "before-effect:tasks.add", "after-effect:tasks.add", "before-commit:tasks_written", "after-commit:tasks_written",
}

// TestAddOnce kills the program at every step of an added task, as it is typed without
// a daemon. The next start finishes what was asked, and the file has the line once.
func TestAddOnce(t *testing.T) {
	t.Parallel()
	for _, point := range sampled(t, addPoints) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			n := newRun(t)
			n.Through()
			p, err := n.Machine.Start([]string{"NIGHTPORTER_CRASH=" + point}, "add", "Zoom", "on", "a", "tap")
			if err != nil {
				t.Fatal(err)
			}
			if code, err := p.Wait(); code != -9 || err != nil {
				t.Fatalf("exit %d, %v: it never came to %s\n%s", code, err, point, p.Out)
			}
			if point == "before-commit:add" { // nothing was promised, so the person types it again
				n.Out("nightporter", "add", "Zoom on a tap")
			}
			for range 2 {
				run := n.Start("")
				if code, err := run.Wait(); code != 0 || err != nil {
					t.Fatalf("run: exit %d, %v\n%s", code, err, run.Out)
				}
				plan, err := os.ReadFile(n.Path("repo", "plan.md"))
				if err != nil || strings.Count(string(plan), "Zoom on a tap") != 1 {
					t.Fatalf("the file: %v\n%s", err, plan)
				}
			}
			plan, _ := os.ReadFile(n.Path("repo", "plan.md"))
			if !strings.Contains(string(plan), "- [x] **Task 3: Zoom on a tap**") {
				t.Errorf("it was not done:\n%s", plan)
			}
		})
	}
}
