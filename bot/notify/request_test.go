package notify_test

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// published gives the run a branch on the remote and a request.
func (p *fixture) published() {
	p.project(ledger.PushBegun{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1"}, ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Forge: ledger.ForgeGitHub},
		ledger.RequestBegun{Run: "r1", N: 1, Print: "t"},
		ledger.RequestOpened{Run: "r1", Print: "t", Request: ledger.Request{Number: 48, URL: "https://forge.test/48", State: ledger.RequestOpen, Base: "main"}})
}

// saw is what a look at the request showed.
func (p *fixture) saw(s ledger.RequestStanding) ledger.RequestSeen {
	s.Number, s.Base, s.HeadCommit = 48, "main", "c1"
	if s.State == "" {
		s.State = ledger.RequestOpen
	}
	return ledger.RequestSeen{Run: "r1", Now: s}
}
