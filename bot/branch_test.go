package bot_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	requests "github.com/nightporter/nightporter/loop/request"
)

// TestRemoteText says "pushed" only of the commit that the branch has.
func TestRemoteText(t *testing.T) {
	const tip, before = "c2", "4f0c2d1ab29876543210"
	open := &ledger.Request{Number: 48, State: ledger.RequestOpen}
	merged := &ledger.Request{Number: 48, State: ledger.RequestMerged}
	for _, c := range []struct {
		tip  string
		b    requests.Branch
		want string
	}{
		{tip, requests.Branch{}, ""},
		{tip, requests.Branch{Pushing: tip}, ""},
		{tip, requests.Branch{Pushed: tip}, "pushed"},
		{"", requests.Branch{Pushed: tip}, "pushed"},
		{tip, requests.Branch{Pushed: before, Pushing: tip}, "pushed up to 4f0c2d1ab2"},
		{tip, requests.Branch{Pushed: before}, "pushed up to 4f0c2d1ab2"}, // a red tip is not pushed
		{tip, requests.Branch{Pushed: tip, Request: open}, "PR 48"},
		{tip, requests.Branch{Pushed: before, Request: open}, "PR 48 up to 4f0c2d1ab2"},
		{tip, requests.Branch{Pushed: before, Request: merged}, "PR 48 merged"},
	} {
		if got := bot.RemoteText(c.tip, c.b); got != c.want {
			t.Errorf("tip %q, %+v: %q, want %q", c.tip, c.b, got, c.want)
		}
	}
}

// TestStackTextLeftovers counts the fixes of earlier runs that a run pushes with its own,
// and fixes that were not even lifted.
func TestStackTextLeftovers(t *testing.T) {
	apart := ledger.Settings{Push: ledger.PushEnd, Source: ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json"}, Requests: ledger.Requests{PerTask: true, Apart: true}}
	run := &loop.Run{ID: "r2", State: ledger.RunOver, Settings: apart, Base: ledger.Base{Commit: "c1", From: "nightporter/shop/r1", Branch: "nightporter/shop/r2"}}
	s := loop.State{Project: loop.Project{Run: run, Leftovers: map[string][]loop.Leftover{"bugs:bugs.json": {
		{MadeCommit: loop.MadeCommit{Task: "b1", Commit: "c1"}, ID: "r1-b1", Name: "nightporter/shop/r1-b1", Of: "r1"},
	}}}}
	if got, want := bot.StackText(s), "1 report not pushed"; got != want {
		t.Errorf("nothing lifted: %q, want %q", got, want)
	}
	pushed := requests.Branch{
		Run: "r1-b1", Of: "r1", Task: "b1", Name: "nightporter/shop/r1-b1", Pushed: "l1",
		Lift:    &requests.Lift{Commit: "c1", Made: "l1", Tip: "l1", Passed: true},
		Request: &ledger.Request{Number: 48, State: ledger.RequestOpen, Base: "main"},
	}
	s.Project.Requests.Branches = []requests.Branch{pushed}
	if got, want := bot.StackText(s), "1 request, one a report, to merge in any order"; got != want {
		t.Errorf("pushed: %q, want %q", got, want)
	}
	if got := s.Project.FirstBranch().Run; got != "r1-b1" {
		t.Errorf("the first branch to merge is %q", got)
	}
}

// TestStackTextApart claims no stack for reports whose branches stand apart.
func TestStackTextApart(t *testing.T) {
	lift := &requests.Lift{Commit: "c1", Made: "l1", Tip: "l1", Passed: true}
	fix := func(id, base, state string) requests.Branch {
		b := requests.Branch{Run: "r1-" + id, Of: "r1", Task: id, Name: "nightporter/shop/r1-" + id, Pushed: "l1", Lift: lift}
		if state != "" {
			b.Request = &ledger.Request{Number: 48, State: ledger.RequestState(state), Base: base}
		}
		return b
	}
	with := fix("b3", "", "")
	with.With = []string{"b1"}
	left := requests.Branch{Run: "r1-b9", Of: "r1", Task: "b9", Lift: lift}
	for want, branches := range map[string][]requests.Branch{
		"2 reports pushed, a branch each":                            {fix("b1", "", ""), fix("b2", "", "")},
		"2 requests, one a report, to merge in any order":            {fix("b1", "main", "open"), fix("b2", "main", "open")},
		"2 requests, one a report; 1 stands on another":              {fix("b1", "main", "open"), fix("b2", "nightporter/shop/r1-b1", "open")},
		"2 reports pushed, a branch each; 1 with changes of others":  {fix("b1", "", ""), with},
		"1 request, one a report; none is open":                      {fix("b1", "main", "merged")},
		"1 request, one a report; none is open; 1 report not pushed": {fix("b1", "main", "closed"), left},
		"1 report not pushed":                                        {left},
	} {
		run := &loop.Run{ID: "r1", State: ledger.RunOver, Settings: ledger.Settings{Push: ledger.PushEnd}, Base: ledger.Base{Commit: "c0"}}
		for _, b := range branches {
			run.Made = append(run.Made, loop.MadeCommit{Task: b.Task, Commit: "c1"})
		}
		s := loop.State{Project: loop.Project{Run: run, Requests: requests.State{Branches: branches}}}
		if got := bot.StackText(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
