package bot

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// OutcomeWord says in a word or two how an attempt ended, "" where the ledger
// does not say so.
func OutcomeWord(o ledger.AttemptOutcome) string {
	switch o {
	case ledger.OutcomeLimit:
		return fmt.Sprintf("limit of %d sessions", ledger.MaxSessions)
	case ledger.OutcomeAnew:
		return "starts anew"
	case ledger.OutcomePlanned:
		return "became parts"
	}
	return Clean(string(o))
}

// outcomeSign is the sign of an attempt's end that is no success.
func outcomeSign(o ledger.AttemptOutcome) string {
	switch o {
	case ledger.OutcomeConverged, ledger.OutcomePlanned:
		return SignDone
	case ledger.OutcomeBlocked:
		return SignBlocked
	case ledger.OutcomeBudget:
		return SignLook
	case ledger.OutcomeParked:
		return SignAway
	case ledger.OutcomeAnew:
		return SignAgain
	}
	return SignFailed
}

// OutcomeWhy says why an attempt ended: "verification red 3 times in a row:
// …". A parked attempt's reason, that of its run's end, does not tell how the
// attempt ended, so the outcome stands in front of it: "parked: wall clock".
func OutcomeWhy(o ledger.AttemptOutcome, why string) string {
	why = Clean(why)
	switch o {
	case ledger.OutcomeBudget, ledger.OutcomeParked:
		if why != "" {
			return OutcomeWord(o) + ": " + why
		}
		return OutcomeWord(o)
	case ledger.OutcomeStalled, ledger.OutcomeLimit, ledger.OutcomeRed:
		return orElse(why, OutcomeWord(o))
	}
	return why
}

// outcomeOf is how an attempt ended, also by entries that were written before
// the ledger said so in a word.
func outcomeOf(b ledger.AttemptEnded) ledger.AttemptOutcome {
	switch {
	case b.Outcome != "":
		return b.Outcome
	case b.Failed:
		return ledger.OutcomeFailed
	case b.Replan:
		return ledger.OutcomeAnew
	}
	return ledger.OutcomeParked
}

// lastOutcome is how the last attempt that has ended came out, "" where the
// records do not say it in a word.
func lastOutcome(records []ledger.Record) ledger.AttemptOutcome {
	var last ledger.AttemptOutcome
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			continue
		}
		if b, ok := e.Body.(ledger.AttemptEnded); ok {
			last = b.Outcome
		}
	}
	return last
}

// lastAttempt begins the reason why a task's last attempt came to nothing.
func lastAttempt(o ledger.AttemptOutcome) string {
	switch o {
	case ledger.OutcomeStalled:
		return "The last attempt stalled:"
	case ledger.OutcomeLimit:
		return fmt.Sprintf("The last attempt came to its limit of %d sessions:", ledger.MaxSessions)
	case ledger.OutcomeRed:
		return "The last attempt stayed red:"
	case ledger.OutcomeBlocked:
		return "The last attempt ended as blocked:"
	case ledger.OutcomeBudget:
		return "The last attempt came to its budget:"
	case ledger.OutcomeAnew:
		return "The last attempt starts anew:"
	case ledger.OutcomeParked:
		return "The last attempt is parked:"
	case ledger.OutcomePlanned:
		return "The last attempt became parts:"
	}
	return "The last attempt failed:"
}
