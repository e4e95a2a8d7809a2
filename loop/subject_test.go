package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestSubject(t *testing.T) {
	for _, c := range []struct {
		task ledger.Task
		want string
	}{
		{ledger.Task{ID: "Task 5", Title: "Round totals"}, "feat: Task 5 - Round totals"},
		{ledger.Task{ID: "Task 5", Title: "Fix totals"}, "fix: Task 5 - Fix totals"},
		{ledger.Task{ID: "BUG-069", Title: "Round totals"}, "fix: BUG-069 - Round totals"},
		{ledger.Task{ID: "tech-1", Title: "Newer compiler"}, "chore: tech-1 - Newer compiler"},
		{ledger.Task{ID: "ARCH-1", Title: "Split it"}, "refactor: ARCH-1 - Split it"},
		{ledger.Task{ID: "FTR-1", Title: "Maps"}, "feat: FTR-1 - Maps"},
		{ledger.Task{ID: "GROWTH-001", Title: "Docs of it"}, "docs: GROWTH-001 - Docs of it"},
		{ledger.Task{ID: "TECH-2", Title: "Fix the build"}, "fix: TECH-2 - Fix the build"},
		{ledger.Task{ID: "TESTING", Title: "x"}, "feat: TESTING - x"},
		{ledger.Task{ID: "Checks", Title: "Checks fail", Own: true}, "fix: Checks - Checks fail"},
	} {
		if got := subject(c.task); got != c.want {
			t.Errorf("%+v: %q, want %q", c.task, got, c.want)
		}
	}
}
