package payload

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// AllObjections returns all objections of the verdict, each with the id of its
// section. Objections to the whole plan come last.
func (c Critique) AllObjections() []string {
	var out []string
	for _, j := range c.Sections {
		for _, o := range j.Objections {
			out = append(out, j.ID+": "+o)
		}
	}
	return append(out, c.Objections...)
}

// AsIssues returns the objections as issues, the form in which a submission
// holds evidence.
func (c Critique) AsIssues() []ledger.Issue {
	var out []ledger.Issue
	for _, o := range c.AllObjections() {
		out = append(out, ledger.Issue{Severity: ledger.Major, Rule: "plan", Text: o})
	}
	return out
}

// Critique is one verdict of the critic on a plan.
type Critique struct {
	OK         bool        `json:"ok"`
	Sections   []Judgement `json:"sections,omitempty"`
	Objections []string    `json:"objections,omitempty"` // objections to the plan as a whole
}
