package stats

import "github.com/nightporter/nightporter/loop/ledger"

// Flawed reports whether an entry keeps its task from being done at the first pass: a
// session, a check, a review or an attempt failed, or a person wants it done again.
func Flawed(e ledger.Entry) bool {
	if e.Task == "" {
		return false
	}
	switch b := e.Body.(type) {
	case ledger.SessionEnded:
		return b.Kind == ledger.KindAgent && b.Counts == ledger.CountsAsFailed
	case ledger.Verified:
		return !b.OK && (b.Kind == ledger.KindVerify || b.Kind == ledger.KindBatch)
	case ledger.Redo:
		return true
	case ledger.Routed:
		return SentBack(b)
	case ledger.AttemptEnded:
		return b.Failed
	case ledger.TaskSet: // somebody looked, and wants it done again
		return b.Fresh && !b.Again && (b.From == ledger.Done || b.From == ledger.ManualVerify)
	}
	return false
}

// SentBack reports whether a review, or a verifier or tester, sent the work to another hat:
// a fix round begins.
func SentBack(b ledger.Routed) bool {
	return (b.On == ledger.EventReview || b.On == ledger.EventFailed) && b.To != ledger.Converged && b.To != b.From
}
