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

// TestLeftUnpushed: what was done about red checks is not the end of it as long as its
// push waits for a remote that is away.
func TestLeftUnpushed(t *testing.T) {
	at := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	red := ledger.RequestStanding{Number: 1, State: ledger.RequestOpen, HeadCommit: "c1", Base: "main", Failing: 1, Failed: []string{"lint"}}
	s := Apply(State{}, entry("r1", at, ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Forge: ledger.ForgeGitHub}))
	s = Apply(s, entry("r1", at, ledger.RequestOpened{Run: "r1", Request: ledger.Request{Number: 1, State: ledger.RequestOpen}}))
	s = Apply(s, entry("r1", at, ledger.RequestSeen{Run: "r1", Now: red}))
	s = Apply(s, entry("r2", at, ledger.RunPlanned{Run: "r2", Upkeep: &ledger.Upkeep{Run: "r1", Number: 1, Reason: ledger.UpkeepChecks}}))
	s = Apply(s, entry("r2", at, ledger.PreflightDone{Base: ledger.Base{Commit: "c1", Upkeep: &ledger.BaseUpkeep{Head: "c1"}}}))
	s = Apply(s, entry("r2", at, ledger.PushBegun{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c2"}))
	s = Apply(s, entry("r2", at, ledger.RunEnded{Reason: ledger.ReasonUpkeep}))
	if s.Branch("r1").IsLeft() {
		t.Error("a push waits, and it is left to a person")
	}
	s = Apply(s, entry("", at, ledger.EffectFailed{Kind: ledger.EffectPush{}.EffectKind(), Key: PushKey("r1", "c2")}))
	if s.Branch("r1").IsLeft() {
		t.Error("somebody else pushed meanwhile, which no look has shown yet, and it is left to a person")
	}
	red.HeadCommit = "c3"
	s = Apply(s, entry("r1", at, ledger.RequestSeen{Run: "r1", Now: red}))
	if needs := s.Branch("r1").Needs(); s.Branch("r1").IsLeft() || len(needs) != 1 || needs[0].Reason != ledger.UpkeepChecks {
		t.Errorf("theirs is red: left %v, needs %v", s.Branch("r1").IsLeft(), needs)
	}
	s = Apply(s, entry("r3", at, ledger.RunPlanned{Run: "r3", Upkeep: &ledger.Upkeep{Run: "r1", Number: 1, Reason: ledger.UpkeepChecks}}))
	s = Apply(s, entry("r3", at, ledger.PreflightDone{Base: ledger.Base{Commit: "c3", Upkeep: &ledger.BaseUpkeep{Head: "c3"}}}))
	if s = Apply(s, entry("r3", at, ledger.RunEnded{Reason: ledger.ReasonUpkeep})); !s.Branch("r1").IsLeft() {
		t.Error("nothing came of the next run, and nobody is told")
	}
}

// TestQueuedEnds: a merge queue tells nobody that it gave a request up. One that is open
// still is no longer taken for queued after its head changed, a check failed, or hours.
func TestQueuedEnds(t *testing.T) {
	at := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	stands := ledger.RequestStanding{Number: 1, State: ledger.RequestOpen, HeadCommit: "c1", Base: "main", BaseCommit: "m1", Passed: 1}
	s := Apply(State{}, entry("r1", at, ledger.PushBegun{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Contains: "m1"}))
	s = Apply(s, entry("r1", at, ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Forge: ledger.ForgeGitHub}))
	s = Apply(s, entry("r1", at, ledger.RequestOpened{Run: "r1", Request: ledger.Request{Number: 1, State: ledger.RequestOpen}}))
	s = Apply(s, entry("r1", at, ledger.RequestSeen{Run: "r1", Now: stands}))
	s = Apply(s, entry("r1", at, ledger.MergeBegun{Run: "r1", N: 1, Number: 1, HeadCommit: "c1"}))
	s = Apply(s, entry("r1", at, ledger.MergeEnded{Run: "r1", Request: ledger.Request{Number: 1, State: ledger.RequestOpen}}))
	moved := stands
	moved.BaseCommit = "m2"
	s = Apply(s, entry("r1", at.Add(time.Minute), ledger.RequestSeen{Run: "r1", Now: moved}))
	b := s.Branch("r1")
	if needs := b.Needs(); !b.Queued || len(needs) != 1 || !needs[0].From.Equal(at.Add(queueTime)) {
		t.Errorf("in the queue, of which the base moved: %v, needs %v", b.Queued, needs)
	}
	failed, pushed := stands, stands
	failed.Passed, failed.Failing, failed.Failed = 0, 1, []string{"lint"}
	pushed.HeadCommit = "c2"
	for name, now := range map[string]ledger.RequestSeen{"failed": {Run: "r1", Now: failed}, "pushed": {Run: "r1", Now: pushed}} {
		if Apply(s, entry("r1", at.Add(time.Minute), now)).Branch("r1").Queued {
			t.Errorf("%s: it is queued still", name)
		}
	}
	if s = Apply(s, entry("r1", at.Add(queueTime), ledger.RequestSeen{Run: "r1", Now: stands})); s.Branch("r1").Queued {
		t.Error("after hours it is queued still")
	}
}

// TestPushFetched: a commit that a run fetched from the request's branch is not pushed
// back, also once others pushed another one; but where a push of ours replaced it and the branch was made again, it is.
func TestPushFetched(t *testing.T) {
	at := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	s := Apply(State{}, entry("r1", at, ledger.PushBegun{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1"}))
	for _, b := range []ledger.Body{
		ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Forge: ledger.ForgeGitHub},
		ledger.RequestOpened{Run: "r1", Request: ledger.Request{Number: 1, State: ledger.RequestOpen}},
		ledger.RunPlanned{Run: "r2", Upkeep: &ledger.Upkeep{Run: "r1", Number: 1, Reason: ledger.UpkeepChecks}},
	} {
		s = Apply(s, entry("r1", at, b))
	}
	s = Apply(s, entry("r2", at, ledger.PreflightDone{Base: ledger.Base{Commit: "h1", Upkeep: &ledger.BaseUpkeep{Head: "h1"}}}))
	s = Apply(s, entry("r1", at, ledger.RequestSeen{Run: "r1", Now: ledger.RequestStanding{Number: 1, State: ledger.RequestOpen, HeadCommit: "h2"}}))
	s = Apply(s, entry("r2", at, ledger.RunEnded{Reason: ledger.ReasonInternal}))
	push := func(commit string) bool {
		_, _, ok := s.Branch("r1").Push("nightporter/shop/r1", "plan:checkout.md", commit, "")
		return ok
	}
	if push("h1") {
		t.Error("the commit of somebody else is pushed")
	}
	if !push("c2") {
		t.Error("a commit of ours is not pushed")
	}
	s = Apply(s, entry("r1", at, ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c2", Forge: ledger.ForgeGitHub}))
	s = Apply(s, entry("r1", at, ledger.BranchRemade{Branch: "nightporter/shop/r1", From: "nightporter/shop/r1", Tip: "h1"}))
	if !push("h1") {
		t.Error("a branch that was made again is not pushed")
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
