package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Chain is what the last attempt at a task has shown, for those who review its change
// where they cannot see the ledger: the request of its branch (docs/spec 9.4). It outlives
// the attempt.
type Chain struct {
	Cause  string  `json:"cause,omitempty"` // why it went wrong, by the session that reproduced it
	Repro  string  `json:"repro,omitempty"` // the command that fails without the fix
	Review *Review `json:"review,omitempty"`

	Criteria []ledger.CriterionResult `json:"criteria,omitempty"` // by the last verdict of a verifier or tester

	Sessions int   `json:"sessions,omitempty"` // of agents
	WorkedMs int64 `json:"worked_ms,omitempty"`
}

// Review is the last review of an attempt.
type Review struct {
	Type    string              `json:"type"` // the kind of the fix, or the hat
	Rounds  int                 `json:"rounds"`
	Verdict string              `json:"verdict"`
	Issues  int                 `json:"issues,omitempty"`
	Looks   []ledger.PassResult `json:"looks,omitempty"`
}

// with returns the chain with one more entry of the attempt. It changes nothing of c.
func (c *Chain) with(b ledger.Body) *Chain {
	var n Chain
	if c != nil {
		n = *c
	}
	switch b := b.(type) {
	case ledger.Evidence:
		switch b.Kind {
		case "investigation":
			n.Cause, n.Repro = b.RootCause, b.Command
		case ledger.EvidenceVerification:
			n.Criteria = b.Criteria
		case "review":
			n.Review = &Review{Type: b.Type, Rounds: b.Passes, Verdict: b.Verdict, Issues: len(b.Issues), Looks: slices.Clone(b.Looks)}
		}
	case ledger.SessionEnded:
		n.Sessions++
		n.WorkedMs += max(b.Exit.Took().Milliseconds(), 0)
	}
	return &n
}
