package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// A verifier or tester says of each acceptance criterion of the task whether it holds.
// What it says is held against the list: a verdict that passes the task is refused as long
// as it leaves one out, so that "done" is never said of what nobody tried (docs/spec 4.2).

// Criteria returns what a verifier or tester of the task tries: the acceptance that the
// task lists, and then what its plan adds. A part has its own only.
func (t *TaskState) Criteria() payload.Criteria {
	plan := t.Plan
	if t.Attempt != nil && len(t.Attempt.Plan) > 0 {
		plan = t.Attempt.Plan
	}
	if t.Task.Parent != "" {
		plan = nil
	}
	return payload.NewCriteria(t.Task.Acceptance, payload.Strings(plan, "acceptance"))
}

// lists reports whether the task itself lists a criterion. No ruling drops that.
func (t *TaskState) lists(criterion string) bool {
	return slices.ContainsFunc(t.Task.Acceptance, func(own string) bool { return payload.SameCriterion(own, criterion) })
}

// judgedCriteria returns what a verdict on the task says of each criterion. What sessions
// leave out on their own authority counts as untried.
func (d *decision) judgedCriteria(t TaskState, data json.RawMessage) []ledger.CriterionResult {
	results := t.Criteria().Results(data)
	for n, r := range results {
		if r.Verdict != ledger.CriterionLeftOut {
			if r.Number > 0 && r.Verdict != ledger.CriterionHeld && t.Attempt.dropped(r.Criterion) {
				results[n].Verdict = ledger.CriterionDropped
			}
			continue
		}
		results[n].Verdict = ledger.CriterionUntried
		if a := t.Attempt.waived(r.Criterion); a != nil {
			results[n].Verdict, results[n].By, results[n].How = ledger.CriterionLeftOut, a.By, oneLine(a.Words)
		} else if section := d.skippedSection(t); section != "" && !t.lists(r.Criterion) {
			results[n].Verdict, results[n].How = ledger.CriterionLeftOut, "section "+section+" is left out"
		}
	}
	return results
}

// waived returns the newest answer of a person to a question that quotes the criterion,
// nil if there is none.
func (w *Attempt) waived(criterion string) *Answer {
	for n := len(w.Answers) - 1; n >= 0; n-- {
		a := &w.Answers[n]
		if a.By != "" && payload.QuotesCriterion(a.Text+" "+strings.Join(a.Options, " "), criterion) {
			return a
		}
	}
	return nil
}

// dropped reports whether it was ruled in this attempt that the criterion counts no more.
func (w *Attempt) dropped(criterion string) bool {
	return slices.ContainsFunc(w.Rulings, func(r payload.Ruling) bool { return !r.Upheld() && payload.SameCriterion(r.Criterion, criterion) })
}

// skippedSection returns the id of a section of the task's plan that a person had left
// out, "" if there is none.
func (d *decision) skippedSection(t TaskState) string {
	for _, s := range payload.Sections(t.Attempt.Plan) {
		if part, ok := d.task(t.PartOf(s.ID)); ok && part.Status == ledger.Skipped {
			return s.ID
		}
	}
	return ""
}

// nextTrying returns the next hat of an attempt where the pattern says to. A ruling that
// drops all that failed would let a task converge of which its tester, in a verdict that
// needs not be complete, left a criterion out: then the tester tries it first.
func nextTrying(t TaskState, to string) string {
	w := t.Attempt
	if w.Event.Type != ledger.EventDismissed {
		return to
	}
	open := func(r ledger.CriterionResult) bool {
		ruled := slices.ContainsFunc(payload.Rulings(w.Event.Data), func(b payload.Ruling) bool { return payload.SameCriterion(b.Criterion, r.Criterion) })
		return r.Number > 0 && r.Verdict == ledger.CriterionUntried && !ruled && !w.dropped(r.Criterion)
	}
	for n := len(w.History) - 1; n >= 0 && slices.ContainsFunc(w.Criteria, open); n-- {
		if w.History[n].Event == ledger.EventFailed {
			return w.History[n].Hat
		}
	}
	return to
}

// Limits of what a refusal says of criteria. The prompt has them whole.
const (
	maxUntried      = 10  // criteria that it names
	maxUntriedWords = 120 // characters of each
)

// untried returns why a verdict is refused that passes the task and leaves out a
// criterion, in words for the agent. "" = it leaves out none.
func (d *decision) untried(t TaskState, data json.RawMessage) string {
	var missing, words []string
	first := 0
	for _, r := range d.judgedCriteria(t, data) {
		if r.Number == 0 || r.Verdict != ledger.CriterionUntried {
			continue
		}
		if missing = append(missing, fmt.Sprint(r.Number)); first == 0 {
			first = r.Number
		}
		words = append(words, fmt.Sprintf("%d. %s", r.Number, cutText(oneLine(r.Criterion), maxUntriedWords)))
	}
	if len(missing) == 0 {
		return ""
	}
	if more := len(words) - maxUntried; more > 0 {
		words = append(words[:maxUntried:maxUntried], fmt.Sprintf("%d more", more))
	}
	list := strings.Join(words, " · ")
	if d.run().TasksForeign() || d.Project.TaintedText(t) { // text by others is never told as ours
		list = "numbers " + strings.Join(missing, ", ") + " of Acceptance"
	}
	return fmt.Sprintf(`no check says of these criteria that they hold: %s. Try each, and send all checks again, these with their numbers: {"number":%d,"criterion":"…","ok":true,"how":"…"}. If one does not hold, this is %s. One that cannot be tried here: %s with its words, and "left_out":true instead of ok once a person said so`,
		list, first, ledger.EventFailed, ledger.EventQuestion)
}
