package bot

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop"
)

// OutcomeWord says in a word or two how an attempt ended, "" where the ledger
// does not say so.
func OutcomeWord(o loop.AttemptOutcome) string {
	switch o {
	case loop.OutcomeLimit:
		return fmt.Sprintf("limit of %d sessions", loop.MaxSessions)
	case loop.OutcomeAnew:
		return "starts anew"
	case loop.OutcomePlanned:
		return "became parts"
	}
	return Clean(string(o))
}

// outcomeSign is the sign of an attempt's end that is no success.
func outcomeSign(o loop.AttemptOutcome) string {
	switch o {
	case loop.OutcomeConverged, loop.OutcomePlanned:
		return SignDone
	case loop.OutcomeBlocked:
		return SignBlocked
	case loop.OutcomeBudget:
		return SignLook
	case loop.OutcomeParked:
		return SignAway
	case loop.OutcomeAnew:
		return SignAgain
	}
	return SignFailed
}

// outcomeTold are words by which a reason says already how its attempt ended.
var outcomeTold = map[loop.AttemptOutcome]string{
	loop.OutcomeStalled: "stall", loop.OutcomeLimit: "session", loop.OutcomeRed: "red", loop.OutcomeBudget: "budget",
	loop.OutcomeParked: "parked",
}

// OutcomeWhy is why an attempt ended, with how it ended in front where the
// reason does not say that itself: "stalled: the same tree as after round 1".
func OutcomeWhy(o loop.AttemptOutcome, why string) string {
	why = Clean(why)
	word, known := outcomeTold[o]
	switch {
	case !known, strings.Contains(strings.ToLower(Cut(why, 40)), word):
		return why
	case why == "":
		return OutcomeWord(o)
	}
	return OutcomeWord(o) + ": " + why
}

// outcomeOf is how an attempt ended, also by entries that were written before
// the ledger said so in a word.
func outcomeOf(b loop.AttemptEnded) loop.AttemptOutcome {
	switch {
	case b.Outcome != "":
		return b.Outcome
	case b.Failed:
		return loop.OutcomeFailed
	case b.Replan:
		return loop.OutcomeAnew
	}
	return loop.OutcomeParked
}

// lastOutcome is how the last attempt that has ended came out, "" where the
// records do not say it in a word.
func lastOutcome(records []loop.Record) loop.AttemptOutcome {
	var last loop.AttemptOutcome
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			continue
		}
		if b, ok := e.Body.(loop.AttemptEnded); ok {
			last = b.Outcome
		}
	}
	return last
}

// lastAttempt begins the reason why a task's last attempt came to nothing.
func lastAttempt(o loop.AttemptOutcome) string {
	switch o {
	case loop.OutcomeStalled:
		return "The last attempt stalled:"
	case loop.OutcomeLimit:
		return fmt.Sprintf("The last attempt came to its limit of %d sessions:", loop.MaxSessions)
	case loop.OutcomeRed:
		return "The last attempt stayed red:"
	case loop.OutcomeBlocked:
		return "The last attempt ended as blocked:"
	case loop.OutcomeBudget:
		return "The last attempt came to its budget:"
	case loop.OutcomeAnew:
		return "The last attempt starts anew:"
	case loop.OutcomeParked:
		return "The last attempt is parked:"
	case loop.OutcomePlanned:
		return "The last attempt became parts:"
	}
	return "The last attempt failed:"
}
