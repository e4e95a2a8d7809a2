package request

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// apart returns a state in which fixes were lifted and pushed, one after the other. Each
// is "TASK COMMIT TIP ON", with "-" for the base; without a tip it is the run's own
// commit.
func apart(t *testing.T, fixes ...[4]string) State {
	t.Helper()
	var s State
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	for _, f := range fixes {
		b := Branch{Run: "r1-" + f[0], Of: "r1", Task: f[0], Name: "nightporter/shop/r1-" + f[0]}
		begun, effect, ok := b.BeginLift("bugs:bugs.json", ledger.LiftCommit{Commit: f[1]}, f[1])
		if !ok {
			t.Fatalf("%v cannot be lifted", f)
		}
		s = Apply(s, entry("r1", at, begun))
		if kind, key, busy := s.Branch(b.Run).UnderWay(); !busy || kind != effect.EffectKind() || key != LiftKey(b.Run, effect.N) {
			t.Fatalf("%s %s is under way: %v", kind, key, busy)
		}
		lifted := ledger.Lifted{Tip: f[2], On: f[3], Why: "it conflicts"}
		if f[2] != "" {
			lifted.Why = ""
		}
		s = Apply(s, entry("r1", at, ledger.LiftEnded{Run: b.Run, Commit: f[1], Lifted: lifted}))
		b = s.Branch(b.Run)
		b.On = b.Lift.On
		push, _, ok := b.Push(b.Name, "bugs:bugs.json", b.Lift.Tip, "")
		if !ok {
			t.Fatalf("%v cannot be pushed", f)
		}
		s = Apply(s, entry("r1", at, push))
		s = Apply(s, entry("r1", at, ledger.BranchPushed{Run: b.Run, Branch: b.Name, Commit: b.Lift.Tip, Forge: ledger.ForgeGitHub}))
	}
	return s
}

// asked opens the request of a branch, or says what became of it.
func asked(s State, run string, number int, base string, state ledger.RequestState) State {
	b := s.Branch(run)
	return Apply(s, entry("r1", time.Time{}, ledger.RequestOpened{Run: run, Request: ledger.Request{Number: number, Head: b.Name, Base: base, State: state}}))
}

// TestOver names what may have to be under the next fix, and what each of them has: what
// stands on another has that, and one with the run's own commit all before it.
func TestOver(t *testing.T) {
	s := apart(t, [4]string{"b1", "c1", "l1"}, [4]string{"b2", "c2", "l2"}, [4]string{"b3", "c3", "l3", "r1-b1"}, [4]string{"b4", "c4"}, [4]string{"b5", "c5", "l5", "r1-b4"})
	next := Branch{Run: "r1-b6", Of: "r1", Task: "b6"}
	want := []ledger.LiftUnder{
		{ID: "r1-b1", Task: "b1", Commit: "c1", Tip: "l1"},
		{ID: "r1-b2", Task: "b2", Commit: "c2", Tip: "l2"},
		{ID: "r1-b3", Task: "b3", Commit: "c3", Tip: "l3", Has: []string{"r1-b1"}},
		{ID: "r1-b4", Task: "b4", Commit: "c4", Tip: "c4", Has: []string{"r1-b1", "r1-b2", "r1-b3"}},
		{ID: "r1-b5", Task: "b5", Commit: "c5", Tip: "l5", Has: []string{"r1-b4", "r1-b1", "r1-b2", "r1-b3"}},
	}
	if diff := cmp.Diff(want, s.Over(next)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s = asked(s, "r1-b1", 1, "main", ledger.RequestMerged)
	s = asked(s, "r1-b2", 2, "main", ledger.RequestClosed)
	s = asked(s, "r1-b3", 3, "main", ledger.RequestOpen)
	if over := s.Over(next); len(over) != 3 || over[0].ID != "r1-b3" {
		t.Errorf("merged and closed ones are over it: %+v", over)
	}
	if over := s.Over(s.Branch("r1-b3")); len(over) != 0 {
		t.Errorf("later ones are over it: %+v", over)
	}
}

// TestUnder says what a branch with the run's own commit stands on, and what it has
// besides.
func TestUnder(t *testing.T) {
	s := apart(t, [4]string{"b1", "c1", "c1"}, [4]string{"b2", "c2", "l2"}, [4]string{"b3", "c3", "l3"})
	s = asked(s, "r1-b3", 3, "main", ledger.RequestMerged)
	next := Branch{Run: "r1-b4", Of: "r1", Task: "b4"}
	on, with := s.Under(next)
	if on != "r1-b1" || cmp.Diff([]string{"b2"}, with) != "" {
		t.Errorf("on %s with %v", on, with)
	}
	s = asked(s, "r1-b1", 1, "main", ledger.RequestClosed)
	if on, with = s.Under(next); on != "" || cmp.Diff([]string{"b1", "b2"}, with) != "" {
		t.Errorf("on %s with %v", on, with)
	}
}

// TestLiftBack follows a change that is taken back and brought back after the push, and
// which request is to be merged first meanwhile.
func TestLiftBack(t *testing.T) {
	s := apart(t, [4]string{"b1", "c1", "l1"}, [4]string{"b2", "c2", "l2"})
	s = asked(s, "r1-b1", 1, "main", ledger.RequestOpen)
	s = asked(s, "r1-b2", 2, "main", ledger.RequestOpen)
	if b, _ := s.Numbered(0); b.Run != "r1-b1" {
		t.Errorf("first %s", b.Run)
	}
	turn := func(back bool, tip string) {
		t.Helper()
		begun, _, ok := s.Branch("r1-b1").BeginLift("", ledger.LiftCommit{Undo: back}, "c1")
		if !ok {
			t.Fatal("something is under way")
		}
		s = Apply(s, entry("r1", time.Time{}, begun))
		s = Apply(s, entry("r1", time.Time{}, ledger.LiftEnded{Run: "r1-b1", Commit: "c1", Lifted: ledger.Lifted{Tip: tip}}))
		s = Apply(s, entry("r1", time.Time{}, ledger.BranchPushed{Run: "r1-b1", Branch: "x", Commit: tip}))
	}
	turn(true, "u1")
	if b := s.Branch("r1-b1"); !b.TakenBack() || b.Lift.Made != "l1" || len(s.Over(Branch{Of: "r1"})) != 1 {
		t.Errorf("taken back: %+v", b.Lift)
	}
	if b, _ := s.Numbered(0); b.Run != "r1-b2" {
		t.Errorf("first %s, which has no change any more", b.Run)
	}
	turn(false, "l1b")
	if b := s.Branch("r1-b1"); b.TakenBack() || b.Lift.Made != "l1" || b.Lift.Tip != "l1b" {
		t.Errorf("brought back: %+v", b.Lift)
	}
}

// TestLiftChecked falls back to the run's own commit where the lifted one fails, and
// where its effect is given up.
func TestLiftChecked(t *testing.T) {
	b := Branch{Run: "r1-b1", Of: "r1", Task: "b1", Name: "x"}
	begun, effect, _ := b.BeginLift("", ledger.LiftCommit{}, "c1")
	began := Apply(State{}, entry("r1", time.Time{}, begun))
	s := Apply(began, entry("r1", time.Time{}, ledger.LiftEnded{Run: "r1-b1", Commit: "c1", Lifted: ledger.Lifted{Tip: "l1", On: "r1-b0", Files: []string{"a.go"}}}))
	red := ledger.Verified{Kind: ledger.KindLift, Tree: "l1", Results: []ledger.Result{{Run: "lint", OK: true}, {Run: "old", Advisory: true}, {Run: "npm test"}}}
	want := Lift{N: 1, Commit: "c1", Made: "c1", Tip: "c1", Passed: true, Why: "without the rest of the run npm test fails"}
	if diff := cmp.Diff(&want, Apply(s, entry("r1", time.Time{}, red)).Branch("r1-b1").Lift); diff != "" {
		t.Errorf("red (-want +got):\n%s", diff)
	}
	green := Apply(s, entry("r1", time.Time{}, ledger.Verified{Kind: ledger.KindLift, Tree: "l1", OK: true})).Branch("r1-b1").Lift
	if !green.Passed || green.Tip != "l1" || green.On != "r1-b0" {
		t.Errorf("green: %+v", green)
	}
	gaveUp := Apply(began, entry("r1", time.Time{}, ledger.EffectFailed{Kind: effect.EffectKind(), Key: LiftKey("r1-b1", 1), Text: "git failed"})).Branch("r1-b1").Lift
	if gaveUp.UnderWay || gaveUp.Tip != "c1" || gaveUp.Why == "" {
		t.Errorf("given up: %+v", gaveUp)
	}
}
