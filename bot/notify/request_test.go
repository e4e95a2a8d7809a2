package notify_test

import (
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// published gives the run a branch on the remote and a request.
func (p *fixture) published() {
	p.project(ledger.PushBegun{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1"}, ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Forge: ledger.ForgeGitHub},
		ledger.RequestBegun{Run: "r1", N: 1, Print: "t"},
		ledger.RequestOpened{Run: "r1", Print: "t", Request: ledger.Request{Number: 48, URL: "https://forge.test/48", State: ledger.RequestOpen, Base: "main"}})
}

// looksAfter is a run that keeps the request green: it starts at base and pushes tip.
func (p *fixture) looksAfter(reason ledger.UpkeepReason, base, tip string) {
	const branch = "nightporter/shop/r1"
	head := p.Night.State.Project.Requests.Branch("r1").Seen.HeadCommit
	p.project(ledger.RunPlanned{Run: "r2", Settings: p.Night.State.Project.Run.Settings, Upkeep: &ledger.Upkeep{Run: "r1", Number: 48, Reason: reason, Head: head, Failed: []string{"lint"}}})
	p.project(ledger.PreflightDone{Base: ledger.Base{Commit: base, Tree: "t9", Head: "b1", HeadName: "main", Branch: branch, Upkeep: &ledger.BaseUpkeep{Head: head, Into: "b1", Contained: true}}})
	p.project(ledger.RunStarted{})
	if tip != base {
		p.project(ledger.TaskCommitted{Commit: tip, Parent: base, Tree: "t10"})
	}
	p.project(ledger.PushBegun{Run: "r1", Branch: branch, Commit: tip}, ledger.BranchPushed{Run: "r1", Branch: branch, Commit: tip, Forge: ledger.ForgeGitHub})
	p.project(ledger.RunEnded{Reason: ledger.ReasonUpkeep, Branch: branch, Tip: tip})
}

// sawAt is saw of another head.
func (p *fixture) sawAt(head string, s ledger.RequestStanding) ledger.RequestSeen {
	seen := p.saw(s)
	seen.Now.HeadCommit = head
	return seen
}

// saw is what a look at the request showed.
func (p *fixture) saw(s ledger.RequestStanding) ledger.RequestSeen {
	s.Number, s.Base, s.HeadCommit = 48, "main", "c1"
	if s.State == "" {
		s.State = ledger.RequestOpen
	}
	return ledger.RequestSeen{Run: "r1", Now: s}
}

// commented returns the guidance that a comment on the request of r1 becomes.
func (p *fixture) commented(id, by, words string) ledger.GuidanceQueued {
	return ledger.GuidanceQueued{Item: guidance.Item{
		ID: id, By: by, Text: words, At: p.Now, Origin: &guidance.Origin{Run: "r1", Number: 48, Comment: "line:7", Path: "cart/total.go", Line: 12, Time: p.Now},
	}}
}
