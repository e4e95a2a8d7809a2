package request

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// stacked returns the state of a run with requests 1, 2, 3, … in these states, each on
// the one before.
func stacked(states ...ledger.RequestState) State {
	var s State
	base, on := "main", ""
	for n, state := range states {
		id := string(rune('a' + n))
		b := Branch{Run: "r1-" + id, Name: "nightporter/shop/r1-" + id, Of: "r1", Task: id, On: on, Pushed: "c" + id, Forge: ledger.ForgeGitHub}
		b.Request = &ledger.Request{Number: n + 1, State: state, Head: b.Name, Base: base}
		base, on = b.Name, b.Run
		s.Branches = append(s.Branches, b)
	}
	return s
}

// TestStackBases: what a request asks to be merged into follows the merges below it,
// and nothing else; and nothing is merged that stands on another one.
func TestStackBases(t *testing.T) {
	const open, closed, merged = ledger.RequestOpen, ledger.RequestClosed, ledger.RequestMerged
	for name, c := range map[string]struct {
		states  []ledger.RequestState
		base    string // of the last one
		blocked bool
		first   int // that /merge takes
	}{
		"lowest":                    {[]ledger.RequestState{open}, "", false, 1},
		"on an open one":            {[]ledger.RequestState{open, open}, "nightporter/shop/r1-a", true, 1},
		"on a closed one":           {[]ledger.RequestState{closed, open}, "nightporter/shop/r1-a", true, 2},
		"on a merged one":           {[]ledger.RequestState{merged, open}, "main", true, 2}, // until its base is changed
		"merged into the one below": {[]ledger.RequestState{open, merged, open}, "nightporter/shop/r1-a", true, 1},
		"all below merged":          {[]ledger.RequestState{merged, merged, open}, "main", true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := stacked(c.states...)
			last := s.Branches[len(s.Branches)-1]
			if base := s.BaseOf(last); base != c.base {
				t.Errorf("base %q, want %q", base, c.base)
			}
			if why := s.Blocked(last); (why != nil) != c.blocked {
				t.Errorf("blocked: %v", why)
			}
			if b, ok := s.Numbered(0); !ok || b.Request.Number != c.first {
				t.Errorf("/merge takes %+v, want %d", b.Request, c.first)
			}
			last.Request.Base = "main" // the forge or a person changed it
			if why := s.Blocked(last); why != nil {
				t.Errorf("on main, blocked: %v", why)
			}
		})
	}
}

func TestOnOurs(t *testing.T) {
	for base, ours := range map[string]bool{"main": false, "nightporter/shop/r1-1": true, "nightporter/other/r1": false, "shop/r1": false} {
		if why := OnOurs(ledger.Request{Head: "nightporter/shop/r1-2", Base: base}); (why != nil) != ours {
			t.Errorf("%s: %v", base, why)
		}
	}
}

func TestSlug(t *testing.T) {
	for id, want := range map[string]string{"Task 5": "5", "Task 5.1": "5-1", "TECH-069": "tech-069", "Äpfel": "pfel", "…": "task", "a..b/c~": "a-b-c"} {
		if got := Slug(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

// TestBaseBelowGivenUp: where the push of a branch was given up, the request of the one
// above asks to be merged into the nearest branch below that the remote has.
func TestBaseBelowGivenUp(t *testing.T) {
	at := time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC)
	s := State{}
	push := func(run, on, commit string) {
		s = Apply(s, entry("r1", at, ledger.PushBegun{Run: run, Branch: "nightporter/shop/" + run, Commit: commit, Of: "r1", On: on}))
	}
	pushed := func(run, commit string) {
		s = Apply(s, entry("r1", at, ledger.BranchPushed{Run: run, Branch: "nightporter/shop/" + run, Commit: commit, Forge: ledger.ForgeGitHub}))
	}
	push("r1-1", "", "c1")
	pushed("r1-1", "c1")
	push("r1-2", "r1-1", "c2")
	s = Apply(s, entry("r1", at, ledger.EffectFailed{Kind: "push", Key: PushKey("r1-2", "c2"), Text: "it broke"}))
	push("r1-3", "r1-2", "c3")
	pushed("r1-3", "c3")
	if base := s.BaseOf(s.Branch("r1-3")); base != "nightporter/shop/r1-1" {
		t.Errorf("stands on %q, which the remote lacks", base)
	}
	push("r1-2", "r1-1", "c2")
	pushed("r1-2", "c2")
	if base := s.BaseOf(s.Branch("r1-3")); base != "nightporter/shop/r1-2" {
		t.Errorf("stands on %q after the push was made", base)
	}
}
