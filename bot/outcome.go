package bot

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// OutcomeWord names an attempt's outcome in a few words, "" for an entry without
// an outcome.
func OutcomeWord(o ledger.AttemptOutcome) string {
	switch o {
	case ledger.OutcomeLimit:
		return fmt.Sprintf("limit of %d sessions", ledger.MaxSessions)
	case ledger.OutcomeAnew:
		return "starts anew"
	case ledger.OutcomePlanned:
		return "became parts"
	case ledger.OutcomeRed:
		return "checks fail"
	case ledger.OutcomeStalled:
		return "no progress"
	case ledger.OutcomeConverged:
		return "done"
	}
	return Clean(string(o))
}

// RedoText says in a few words, for people, why a hat runs again.
func RedoText(why ledger.RedoReason) string {
	switch why {
	case ledger.RedoRed:
		return "by checks"
	case ledger.RedoSilent:
		return "without a report"
	case ledger.RedoViolation:
		return "with what cannot be kept"
	case ledger.RedoLimit:
		return "that named a limit after work"
	case ledger.RedoChecks:
		return "by the start's checks"
	}
	return Clean(string(why))
}

// outcomeSign returns the sign of an attempt's outcome.
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

// OutcomeWhy says why an attempt ended: "go test still fails (…) after 3 sessions".
// It puts the outcome in front if the attempt was parked or ran out of budget,
// because then the reason alone does not tell how it ended: "parked: wall
// clock".
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

// outcomeOf returns an attempt's outcome. Entries that older versions wrote have
// none; for them it follows from the flags.
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

// TaskHistory is what a task's records in the ledger say about it. The zero value
// is a task without any.
type TaskHistory struct {
	Last ledger.AttemptOutcome // of its last attempt, "" if unknown
	// Summaries are what the sessions that changed files said of their work, in the
	// last attempt that had one. They are foreign text.
	Summaries []string
	Reach     Reach // hosts of its sessions
}

// HistoryOf reads the records of one task.
func HistoryOf(records []ledger.Record) TaskHistory {
	h := TaskHistory{Reach: ReachOf(records)}
	attempt := ""
	for _, r := range records {
		if r.Type != (ledger.AttemptEnded{}).EntryType() && r.Type != (ledger.EventAccepted{}).EntryType() {
			continue
		}
		e, err := r.Entry()
		if err != nil {
			continue
		}
		switch b := e.Body.(type) {
		case ledger.AttemptEnded:
			h.Last = b.Outcome
		case ledger.EventAccepted:
			if !payload.ChangesFiles(b.Type) {
				continue
			}
			if of := e.Run + " " + e.Attempt; of != attempt {
				attempt, h.Summaries = of, nil
			}
			if said := payload.String(b.Data, "summary"); said != "" {
				h.Summaries = append(h.Summaries, said)
			}
		}
	}
	return h
}

// lastAttempt returns the words that introduce the reason why a task's last
// attempt ended without a commit.
func lastAttempt(o ledger.AttemptOutcome) string {
	switch o {
	case ledger.OutcomeStalled:
		return "The last attempt made no progress:"
	case ledger.OutcomeLimit:
		return fmt.Sprintf("The last attempt came to its limit of %d sessions:", ledger.MaxSessions)
	case ledger.OutcomeRed:
		return "The checks of the last attempt kept failing:"
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
