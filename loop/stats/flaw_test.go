package stats_test

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/stats"
)

// TestSentBack: who finds fault with a task's work and sends it to another hat begins a fix
// round, and the task is none of the first pass.
func TestSentBack(t *testing.T) {
	for _, c := range []struct {
		routed ledger.Routed
		want   bool
	}{
		{ledger.Routed{From: "reviewer", On: ledger.EventReview, To: "fixer"}, true},
		{ledger.Routed{From: "tester", On: ledger.EventFailed, To: "fixer"}, true},
		{ledger.Routed{From: "tester", On: ledger.EventPassed, To: "reviewer"}, false},
		{ledger.Routed{From: "reviewer", On: ledger.EventReview, To: ledger.Converged}, false},
		{ledger.Routed{From: "builder", On: "build.complete", To: "reviewer"}, false},
	} {
		if got := stats.Flawed(ledger.Entry{Task: "Task 1", Body: c.routed}); got != c.want || stats.SentBack(c.routed) != c.want {
			t.Errorf("%+v: %v, want %v", c.routed, got, c.want)
		}
	}
}
