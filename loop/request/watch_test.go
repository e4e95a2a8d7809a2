package request

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOwnUnknown tells commits of nightporter whose author the forge does not know
// from those of strangers.
func TestOwnUnknown(t *testing.T) {
	b := open().Branch("r1")
	for name, c := range map[string]struct {
		view ledger.RequestView
		n    int
		own  bool
	}{
		"all may write":           {ledger.RequestView{Writers: true}, 0, false},
		"nobody knows":            {ledger.RequestView{}, 1, false},
		"a stranger":              {ledger.RequestView{Strangers: []string{"x1"}}, 1, false},
		"ours":                    {ledger.RequestView{Strangers: []string{"c0", "c1"}}, 2, true},
		"ours below a stranger's": {ledger.RequestView{Strangers: []string{"c1", "x1"}}, 2, true},
	} {
		if s := b.StandingOf(c.view); s.Strangers != c.n || s.OwnUnknown != c.own {
			t.Errorf("%s: %d strangers, ours %v", name, s.Strangers, s.OwnUnknown)
		}
	}
	if s := (Branch{}).StandingOf(ledger.RequestView{Strangers: []string{""}}); s.OwnUnknown {
		t.Errorf("a branch that was never pushed has commits: %+v", s)
	}
}

// TestAwaitChecks says until when checks of a head are waited for.
func TestAwaitChecks(t *testing.T) {
	apply := func(s State, at time.Duration, body ledger.Body) State {
		return Apply(s, ledger.Entry{Time: begun.Add(at), Body: body})
	}
	none := ledger.RequestStanding{Number: 48, State: ledger.RequestOpen, HeadCommit: "c1", Base: "main"}
	with := func(change func(*ledger.RequestStanding)) ledger.RequestStanding {
		now := none
		change(&now)
		return now
	}
	theirs := with(func(s *ledger.RequestStanding) { s.HeadCommit = "x1" })
	passed := with(func(s *ledger.RequestStanding) { s.Passed = 1 })
	late := apply(open(), 5*time.Minute, ledger.RequestOpened{Run: "r1", Request: ledger.Request{Number: 48, State: ledger.RequestOpen}})
	checked := apply(open(), time.Minute, ledger.RequestSeen{Run: "r1", Now: passed})
	again := apply(checked, 20*time.Minute, ledger.BranchPushed{Run: "r1", Branch: "b", Commit: "c2"})
	second := with(func(s *ledger.RequestStanding) { s.HeadCommit = "c2" })
	seen := apply(open(), 30*time.Minute, ledger.RequestSeen{Run: "r1", Now: theirs})
	for name, c := range map[string]struct {
		state State
		now   ledger.RequestStanding
		at    time.Duration
		want  time.Duration // 0 = none is waited for
	}{
		"right after the push":           {open(), none, time.Second, 2 * time.Minute},
		"two minutes later":              {open(), none, 2 * time.Minute, 0},
		"opened later":                   {late, none, 6 * time.Minute, 7 * time.Minute},
		"one has begun":                  {open(), passed, time.Second, 0},
		"closed":                         {open(), with(func(s *ledger.RequestStanding) { s.State = ledger.RequestClosed }), time.Second, 0},
		"somebody else pushed":           {open(), theirs, time.Hour, time.Hour + 2*time.Minute},
		"theirs, seen before":            {seen, theirs, 31 * time.Minute, 32 * time.Minute},
		"an earlier head had some":       {again, second, 22 * time.Minute, 30 * time.Minute},
		"an earlier head, ten minutes":   {again, second, 30 * time.Minute, 0},
		"the clock was set back":         {open(), none, -time.Hour, -time.Hour + 2*time.Minute},
		"a ledger from before":           {State{Branches: []Branch{{Run: "r1", Pushed: "c1"}}}, none, time.Second, 0},
		"the forge shows no request now": {open(), with(func(s *ledger.RequestStanding) { s.Failure, s.ChecksDue = ledger.ForgeAway, begun }), time.Hour, 0},
	} {
		want := time.Time{}
		if c.want != 0 {
			want = begun.Add(c.want)
		}
		if c.now.Failure != "" {
			want = c.now.ChecksDue // what the last look showed
		}
		if got := c.state.Branch("r1").AwaitChecks(c.now, begun.Add(c.at)).ChecksDue; !got.Equal(want) {
			t.Errorf("%s: until %v, want %v", name, got, want)
		}
	}
}
