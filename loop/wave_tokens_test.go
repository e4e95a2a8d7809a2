package loop

import (
	"testing"

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
