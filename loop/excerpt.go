package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/cause"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ExcerptOf returns what programs said in an attempt that went wrong: the end of the
// command that failed in its last verification, what hat refused, and the last words of
// a session that ended without an event. It returns nil for no attempt, and for one in
// which nothing of the kind happened.
func ExcerptOf(w *Attempt) *ledger.FailureExcerpt {
	if w == nil {
		return nil
	}
	var x ledger.FailureExcerpt
	if res, red := failedResult(w.Verified); red {
		x.Run, x.Exit, x.Output = res.Run, max(res.Exit, 0), ledger.LastLines(cause.WithoutSummary(res.Tail))
	}
	if w.Refusal != nil {
		x.Event, x.Refused = w.Refusal.Type, w.Refusal.Why
	}
	if w.Said != "" {
		x.Hat, x.Said = w.SaidBy, w.Said
	}
	if x.IsZero() {
		return nil
	}
	return &x
}

// failedResult returns the first command of a red check that counts.
func failedResult(v *ledger.Verified) (ledger.Result, bool) {
	if v == nil || v.OK {
		return ledger.Result{}, false
	}
	n := slices.IndexFunc(v.Results, func(r ledger.Result) bool { return !r.OK && !r.Advisory })
	if n < 0 {
		return ledger.Result{}, false
	}
	return v.Results[n], true
}

// silentWords returns what a session said last, "" for one that ended with its event:
// the event says it.
func silentWords(b ledger.SessionEnded) string {
	if b.End == ledger.EndedEvent {
		return ""
	}
	return ledger.LastLines(b.Exit.Words())
}
