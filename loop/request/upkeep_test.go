package request

import (
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// entry returns an entry of the daemon.
func entry(run string, at time.Time, body ledger.Body) ledger.Entry {
	return ledger.Entry{Actor: "daemon", Run: run, Time: at, Body: body}
}

// TestAwaitsChecks: a head without checks is one whose checks have not begun, if the
// project has some and nobody saw that head before.
func TestAwaitsChecks(t *testing.T) {
	at := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	look := func(head string, passed int) ledger.RequestStanding {
		return ledger.RequestStanding{Number: 1, State: ledger.RequestOpen, HeadCommit: head, Passed: passed}
	}
	s := Apply(State{}, entry("r1", at, ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Forge: ledger.ForgeGitHub}))
	s = Apply(s, entry("r1", at, ledger.RequestOpened{Run: "r1", Request: ledger.Request{Number: 1, State: ledger.RequestOpen}}))
	if s.AwaitsChecks("r1", look("c1", 0)) {
		t.Error("a project without checks")
	}
	s = Apply(s, entry("r1", at, ledger.RequestSeen{Run: "r1", Now: look("c1", 1)}))
	s = Apply(s, entry("r1", at, ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c2", Forge: ledger.ForgeGitHub}))
	if !s.AwaitsChecks("r1", look("c2", 0)) || s.AwaitsChecks("r1", look("c2", 1)) {
		t.Error("a head that was just pushed")
	}
	s = Apply(s, entry("r1", at, ledger.RequestSeen{Run: "r1", Now: look("c2", 0)}))
	if s.AwaitsChecks("r1", look("c2", 0)) {
		t.Error("a head that was seen without checks")
	}
}

// TestHad: what was pushed, and what a run fetched afterwards, is known to have been on
// the remote, also after a run that pushed nothing.
func TestHad(t *testing.T) {
	at := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	s := Apply(State{}, entry("r1", at, ledger.PushBegun{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1"}))
	s = Apply(s, entry("r1", at, ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Forge: ledger.ForgeGitHub}))
	if had := s.Branch("r1").Had(); !slices.Equal(had, []string{"c1"}) {
		t.Errorf("after a push: %q", had)
	}
	s = Apply(s, entry("r2", at, ledger.RunPlanned{Run: "r2", Upkeep: &ledger.Upkeep{Run: "r1", Number: 1, Reason: ledger.UpkeepBase}}))
	s = Apply(s, entry("r2", at, ledger.PreflightDone{Base: ledger.Base{Commit: "c2", Upkeep: &ledger.BaseUpkeep{Head: "c2"}}}))
	s = Apply(s, entry("r2", at, ledger.RunEnded{Reason: ledger.ReasonUpkeep}))
	if had := s.Branch("r1").Had(); !slices.Equal(had, []string{"c1", "c2"}) {
		t.Errorf("after a run: %q", had)
	}
}
