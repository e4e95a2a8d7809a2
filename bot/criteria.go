package bot

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxCriteria limits the criteria that a message names.
const maxCriteria = 12

// CriteriaTally returns how many of a task's criteria a verdict says hold, and how much was
// tried that the task does not list: "2 of 3 criteria hold, 1 check more". whole reports
// whether a verdict like it passes the task.
func CriteriaTally(all []ledger.CriterionResult) (text string, whole bool) {
	own, held, more, failed := 0, 0, 0, false
	for _, c := range all {
		failed = failed || c.Verdict == ledger.CriterionFailed || c.Number > 0 && c.Verdict == ledger.CriterionUntried
		switch {
		case c.Number == 0:
			more++
		case c.Verdict == ledger.CriterionHeld:
			held++
			fallthrough
		default:
			own++
		}
	}
	switch {
	case own == 0:
		text = Plural(more, "check")
		if more == 1 {
			return text + map[bool]string{true: " fails", false: " holds"}[failed], !failed
		}
		return text + map[bool]string{true: ", not all hold", false: " hold"}[failed], !failed
	case own == 1:
		text = "the criterion" + map[bool]string{true: " holds", false: " is not shown"}[held == 1]
	default:
		text = fmt.Sprintf("%d of %d criteria hold", held, own)
	}
	if more > 0 {
		text += ", " + Plural(more, "check") + " more"
	}
	return text, !failed
}

// CriterionSign returns the sign that stands before a criterion.
func CriterionSign(c ledger.CriterionResult) string {
	switch c.Verdict {
	case ledger.CriterionHeld:
		return SignDone
	case ledger.CriterionFailed:
		return SignFailed
	case ledger.CriterionUntried:
		return SignLater
	}
	return SignLook
}

// CriterionNote returns what a person has to know of a criterion that was not tried, "" for
// others.
func CriterionNote(c ledger.CriterionResult) string {
	switch c.Verdict {
	case ledger.CriterionUntried:
		return "not tried"
	case ledger.CriterionDropped:
		return "dropped by a ruling"
	case ledger.CriterionLeftOut:
		text := "left out"
		if c.By != "" {
			text += " by " + Cut(Foreign(c.By), 20)
		}
		if c.How != "" {
			text += ": " + Cut(Clean(c.How), 40)
		}
		return text
	}
	return ""
}

// criteria adds what a verifier or tester says of each criterion of the task. What it
// tried besides is counted: it is nobody's criterion.
func (c *chain) criteria(b ledger.Evidence) {
	text, whole := CriteriaTally(b.Criteria)
	sign := SignDone
	if !whole {
		sign = SignFailed
	}
	c.add(sign, orElse(Cut(Clean(b.Type), 24), "verifier")+": "+text, "verification")
	shown := 0
	for _, r := range b.Criteria {
		if r.Number == 0 {
			continue
		}
		if shown++; shown > maxCriteria {
			continue
		}
		line := CriterionSign(r) + " " + Cut(Clean(r.Criterion), quoteWidth)
		if note := CriterionNote(r); note != "" {
			line += " (" + note + ")"
		}
		c.lines = append(c.lines, Line{Text: line})
	}
	if more := shown - maxCriteria; more > 0 {
		c.lines = append(c.lines, Line{Text: fmt.Sprintf("and %d more", more)})
	}
}
