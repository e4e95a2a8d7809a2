package task

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// self is an assignee that is no claim, and the name of a nightporter without another.
const self = "nightporter"

// claimedByOthers returns tasks without the claims of this nightporter: the ledger knows
// what it works on.
func (o Options) claimedByOthers(tasks []ledger.Task) []ledger.Task {
	copied := false
	for n := range tasks {
		r := tasks[n].Report
		if r == nil || r.Claim == nil || r.Claim.How != ledger.ClaimField || !strings.EqualFold(r.Claim.By, cmp.Or(o.Self, self)) {
			continue
		}
		if !copied { // a reading may be kept
			tasks, copied = slices.Clone(tasks), true
		}
		own := *r
		own.Claim = nil
		tasks[n].Report = &own
	}
	return tasks
}

// claiming returns marks of bug reports with the name of this nightporter: one that
// begins no work gives its claim back.
func (o Options) claiming(k *Kind, marks []ledger.Marking) []ledger.Marking {
	if k.Name != KindBugs {
		return marks
	}
	marks = slices.Clone(marks)
	for n := range marks {
		c := ledger.Claiming{}
		if marks[n].Claim != nil {
			c = *marks[n].Claim
		}
		c.By = cmp.Or(o.Self, self)
		marks[n].Claim = &c
	}
	return marks
}
