package payload

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// AllObjections are all of a verdict, with the section that each is about.
func (c Critique) AllObjections() []string {
	var out []string
	for _, j := range c.Sections {
		for _, o := range j.Objections {
			out = append(out, j.ID+": "+o)
		}
	}
	return append(out, c.Objections...)
}

// AsIssues is a verdict as evidence.
func (c Critique) AsIssues() []ledger.Issue {
	var out []ledger.Issue
	for _, o := range c.AllObjections() {
		out = append(out, ledger.Issue{Severity: ledger.Major, Rule: "plan", Text: o})
	}
	return out
}

// Critique is one verdict of the critic.
type Critique struct {
	OK         bool        `json:"ok"`
	Sections   []Judgement `json:"sections,omitempty"`
	Objections []string    `json:"objections,omitempty"` // about the whole
}
