package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSessionOver: the run keeps the session that went over its own budget by most, and how
// many did.
func TestSessionOver(t *testing.T) {
	r := &Run{Settings: ledger.Settings{Hats: map[string]ledger.Hat{"builder": {MaxCostUSD: 1}, "writer": {}}}}
	spend := func(hat, task string, usd float64) {
		r.spend(Session{Planned: ledger.SessionPlanned{Hat: hat}}, task, ledger.Exit{CostUSD: usd})
	}
	spend("builder", "Task 1", 1.004)
	spend("builder", "Task 1", -1)
	spend("writer", "Task 1", 9)
	if r.SessionOver != nil {
		t.Errorf("none went over: %+v", r.SessionOver)
	}
	spend("builder", "Task 1", 1.2)
	spend("builder", "Task 2", 1.42)
	spend("builder", "Task 3", 1.3)
	if want := (SessionOver{Task: "Task 2", Hat: "builder", Of: 1, Spent: 1.42, Times: 3}); *r.SessionOver != want {
		t.Errorf("%+v, not %+v", *r.SessionOver, want)
	}
	before := r.SessionOver
	r.TaskBudgets = map[string]TaskBudget{ledger.FoldID("Task 4"): {Session: 5}, ledger.FoldID("Task 5"): {Lifted: true}}
	spend("builder", "Task 4", 5.9)
	spend("builder", "Task 5", 50)
	if r.SessionOver != before {
		t.Errorf("raised and lifted: %+v", r.SessionOver)
	}
}
