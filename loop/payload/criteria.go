package payload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// RuleAcceptance is the rule of an issue that is a criterion which failed.
const RuleAcceptance = "acceptance"

// check is one entry of a verifier's list of checks.
type check struct {
	Number    json.RawMessage `json:"number"` // of the criterion in the list that the session was given; absent = its words tell
	Criterion string          `json:"criterion"`
	OK        *bool           `json:"ok"`
	LeftOut   bool            `json:"left_out"` // a person said that it need not be tried; then OK is not needed
	How       string          `json:"how"`
	Section   string          `json:"section"` // of the plan, that it is about; "" = the whole task
}

func (k check) failed() bool { return !k.LeftOut && (k.OK == nil || !*k.OK) }

// verdict returns what the check says of its criterion.
func (k check) verdict() ledger.CriterionVerdict {
	switch {
	case k.LeftOut:
		return ledger.CriterionLeftOut
	case k.failed():
		return ledger.CriterionFailed
	}
	return ledger.CriterionHeld
}

func checksOf(data json.RawMessage) []check {
	var list []check
	_ = json.Unmarshal(Field(data, "checks"), &list)
	return list
}

func checkChecks(raw json.RawMessage) string {
	var list []check
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return `has to be a list, not empty, of {"criterion":"…","ok":true,"how":"what you ran and saw"}`
	}
	for n, k := range list {
		if strings.TrimSpace(k.Criterion) == "" || k.OK == nil && !k.LeftOut || strings.TrimSpace(k.How) == "" {
			return fmt.Sprintf("has a check (number %d) without criterion, ok or how", n+1)
		}
	}
	return ""
}

// checkPassed refuses a verification.passed with a check that failed.
func checkPassed(data json.RawMessage) string {
	if slices.ContainsFunc(checksOf(data), check.failed) {
		return "a check is not ok: send the same checks with " + ledger.EventFailed
	}
	return ""
}

// checkFailed refuses a verification.failed without a check that failed.
func checkFailed(data json.RawMessage) string {
	if !slices.ContainsFunc(checksOf(data), check.failed) {
		return "every check is ok: send the same checks with " + ledger.EventPassed
	}
	return ""
}

// Criteria are what a task is accepted by. The number of each is its place, from 1.
type Criteria []string

// NewCriteria joins lists of criteria. It leaves out those that are empty or there
// already.
func NewCriteria(lists ...[]string) Criteria {
	var all Criteria
	for _, text := range slices.Concat(lists...) {
		if folded(text) != "" && !slices.ContainsFunc(all, func(c string) bool { return folded(c) == folded(text) }) {
			all = append(all, strings.TrimSpace(text))
		}
	}
	return all
}

// SameCriterion reports whether two texts are the same criterion. Case, white space,
// quotes and punctuation do not matter, signs such as < do.
func SameCriterion(a, b string) bool { return criterionKey(a) == criterionKey(b) }

// QuotesCriterion reports whether a text contains the words of a criterion.
func QuotesCriterion(text, criterion string) bool {
	return strings.Contains(criterionKey(text), criterionKey(criterion))
}

func folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// criterionKey returns the form of a criterion in which it is compared.
func criterionKey(text string) string {
	key := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || unicode.IsSymbol(r) && r != '`' {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	if key == "" {
		return folded(text)
	}
	return key
}

// Labels in front of a criterion: a bullet or a box, and a number with or without a word.
var (
	bulletForm = regexp.MustCompile(`^\s*(?:[-*•]\s+)?(?:\[[ xX]?\]\s*)?`)
	numberForm = regexp.MustCompile(`^(?i)(?:(?:acceptance )?criterion|ac|number|no\.?)?[\s:#-]*(\d{1,3})(?:[.):\s–-]+|$)`)
)

// Number returns the number of the criterion that a text names: by its words, with or
// without a bullet or a number before them, or by its number alone. 0 = by neither, or
// the words fit several.
func (c Criteria) Number(text string) int {
	if n := slices.IndexFunc(c, func(own string) bool { return folded(own) == folded(text) }); n >= 0 {
		return n + 1
	}
	if n := c.only(text); n > 0 {
		return n
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, bulletForm.FindString(text)))
	label := numberForm.FindStringSubmatch(text)
	if label == nil {
		return c.only(text)
	}
	if rest := strings.TrimPrefix(text, label[0]); criterionKey(rest) != "" {
		return c.only(rest)
	}
	if n, err := strconv.Atoi(label[1]); err == nil && n <= len(c) {
		return n
	}
	return 0
}

// only returns the number of the only criterion that a text is, 0 if there is none or
// several.
func (c Criteria) only(text string) (number int) {
	for n, own := range c {
		if !SameCriterion(own, text) {
			continue
		}
		if number > 0 {
			return 0
		}
		number = n + 1
	}
	return number
}

// numberOf returns the number of the criterion that a check is about, 0 for none of the
// list. A number of the check counts more than its words, unless they are those of
// another criterion: then contradicts is that one.
func (c Criteria) numberOf(k check) (number, contradicts int) {
	byWords := c.Number(k.Criterion)
	n, err := strconv.Atoi(strings.TrimPrefix(strings.Trim(strings.TrimSpace(string(k.Number)), `"`), "#"))
	switch {
	case err != nil || n < 1 || n > len(c):
		return byWords, 0
	case byWords > 0 && byWords != n:
		return n, byWords
	}
	return n, 0
}

// Contradiction says which check has the number of one criterion and the words of
// another, in words for the agent. "" = none.
func (c Criteria) Contradiction(data json.RawMessage) string {
	for n, k := range checksOf(data) {
		if number, words := c.numberOf(k); words > 0 {
			return fmt.Sprintf("check %d has the number %d and the words of criterion %d; give one check to each", n+1, number, words)
		}
	}
	return ""
}

// words returns the criterion that a check is about in the words of the list, or in its
// own for one that the list does not have.
func (c Criteria) words(k check) string {
	if n, _ := c.numberOf(k); n > 0 {
		return c[n-1]
	}
	return strings.TrimSpace(k.Criterion)
}

// FailedChecks returns the criteria that a verifier reports as failed, as issues for the
// fixer, in the words of the list where that has them.
func (c Criteria) FailedChecks(data json.RawMessage) []ledger.Issue {
	var issues []ledger.Issue
	for _, k := range checksOf(data) {
		if k.failed() {
			words := c.words(k)
			issues = append(issues, ledger.Issue{Severity: ledger.Major, Rule: RuleAcceptance, Text: words + ": " + k.How, Section: k.Section, Criterion: words})
		}
	}
	return issues
}

// maxHow limits what a result says of how a criterion was tried, in characters. The
// event has all of it.
const maxHow = 300

// Results returns what the checks of a verdict say of each criterion of the list, and
// then of what else was tried. A criterion that several checks are about has the worst
// that one of them says.
func (c Criteria) Results(data json.RawMessage) []ledger.CriterionResult {
	results := make([]ledger.CriterionResult, len(c))
	for n := range c {
		results[n] = ledger.CriterionResult{Number: n + 1, Criterion: c[n], Verdict: ledger.CriterionUntried}
	}
	rank := []ledger.CriterionVerdict{ledger.CriterionUntried, ledger.CriterionHeld, ledger.CriterionLeftOut, ledger.CriterionFailed}
	for _, k := range checksOf(data) {
		n, _ := c.numberOf(k)
		said := ledger.CriterionResult{Number: n, Criterion: oneLine(c.words(k), maxHow), Verdict: k.verdict(), How: oneLine(k.How, maxHow)}
		switch {
		case n == 0:
			results = append(results, said)
		case slices.Index(rank, said.Verdict) > slices.Index(rank, results[n-1].Verdict):
			said.Criterion = c[n-1]
			results[n-1] = said
		}
	}
	return results
}
