package loop

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWaveUntold: a session that reports no tokens counts as one whose tokens are
// unknown, and not as one that took none.
func TestWaveUntold(t *testing.T) {
	r := Run{Wave: &Wave{N: 1}}
	for _, tokens := range []int64{1200, -1, 0} {
		r.applyWave(ledger.Entry{Body: ledger.SessionEnded{Kind: ledger.KindAgent, Exit: ledger.Exit{Tokens: tokens}}})
	}
	if w := r.Wave; w.Tokens != 1200 || w.Untold != 1 || w.Sessions != 3 {
		t.Errorf("%d tokens, unknown of %d of %d sessions; want 1200, 1 of 3", w.Tokens, w.Untold, w.Sessions)
	}
}

// TestWorked: the time that a fix took is known until its report is worked on again.
func TestWorked(t *testing.T) {
	x, r := TaskState{Task: ledger.Task{ID: "B1", Report: &ledger.Report{}}}, &Run{}
	at := time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)
	session := ledger.SessionEnded{Kind: ledger.KindAgent, Exit: ledger.Exit{Started: at, Ended: at.Add(time.Minute)}}
	for n, c := range []struct {
		body ledger.Body
		want int64
	}{
		{session, 60_000},
		{ledger.TaskSet{From: ledger.Active, To: ledger.Done}, 60_000},
		{ledger.TaskSet{From: ledger.Done, To: ledger.Ready, Fresh: true}, 0},
		{session, 60_000},
		{ledger.TaskSet{From: ledger.Active, To: ledger.Ready}, 60_000},
		{session, 120_000},
	} {
		if applyTask(&x, r, ledger.Entry{Time: at, Task: "B1", Body: c.body}, &owned{}); x.WorkedMs != c.want {
			t.Errorf("%d: %d ms, want %d", n, x.WorkedMs, c.want)
		}
	}
}
