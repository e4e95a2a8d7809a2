package payload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Ruling is a word of authority about a criterion that a tester found failed (docs/spec
// 4.5).
type Ruling struct {
	Criterion string `json:"criterion"` // as the issue has it
	Holds     *bool  `json:"holds"`     // it has to be met; false = it counts no more
	Reason    string `json:"reason"`
}

// Upheld reports whether the criterion has to be met.
func (r Ruling) Upheld() bool { return r.Holds != nil && *r.Holds }

// About reports whether the ruling is about an issue that FailedChecks returned.
func (r Ruling) About(i ledger.Issue) bool {
	return i.Rule == RuleAcceptance && SameCriterion(r.Criterion, i.Criterion)
}

// Rulings returns the rulings of an event, nil if it has none.
func Rulings(data json.RawMessage) (list []Ruling) {
	_ = json.Unmarshal(Field(data, "rulings"), &list)
	return list
}

// Counting returns the issues but those whose criterion counts no more.
func Counting(issues []ledger.Issue, rulings []Ruling) (left []ledger.Issue) {
	for _, i := range issues {
		if !slices.ContainsFunc(rulings, func(r Ruling) bool { return !r.Upheld() && r.About(i) }) {
			left = append(left, i)
		}
	}
	return left
}

// WrongRulings returns what rulings lack or have too much, in words for the agent: there
// is one for each criterion that failed. "" = nothing.
func WrongRulings(failed []ledger.Issue, data json.RawMessage) string {
	rulings := Rulings(data)
	var all, lacks []string
	for _, i := range failed {
		if i.Rule != RuleAcceptance {
			continue
		}
		all = append(all, i.Criterion)
		if !slices.ContainsFunc(rulings, func(r Ruling) bool { return r.About(i) }) {
			lacks = append(lacks, i.Text)
		}
	}
	for _, r := range rulings {
		if !slices.ContainsFunc(failed, r.About) {
			return fmt.Sprintf("no criterion %q failed; write it as it stands in Issues: %s", r.Criterion, strings.Join(all, " · "))
		}
	}
	if len(lacks) > 0 {
		return "rule on every criterion that failed; these have none: " + strings.Join(lacks, " · ")
	}
	return ""
}

func checkRulings(raw json.RawMessage) string {
	var list []Ruling
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return `has to be a list, not empty, of {"criterion":"as it stands in Issues","holds":true,"reason":"…"}`
	}
	for n, r := range list {
		if strings.TrimSpace(r.Criterion) == "" || r.Holds == nil || strings.TrimSpace(r.Reason) == "" {
			return fmt.Sprintf("has a ruling (number %d) without criterion, holds or reason", n+1)
		}
	}
	return ""
}

// checkUpheld refuses a ruling.upheld that upholds nothing.
func checkUpheld(data json.RawMessage) string {
	if !slices.ContainsFunc(Rulings(data), Ruling.Upheld) {
		return "no criterion holds: send the same rulings with " + ledger.EventDismissed
	}
	return ""
}

// checkDismissed refuses a ruling.dismissed that upholds a criterion.
func checkDismissed(data json.RawMessage) string {
	if slices.ContainsFunc(Rulings(data), Ruling.Upheld) {
		return "a criterion holds: send the same rulings with " + ledger.EventUpheld
	}
	return ""
}
