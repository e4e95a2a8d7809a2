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
		run := &loop.Run{ID: "r1", State: ledger.RunOver}
		for _, b := range branches {
			run.Made = append(run.Made, loop.MadeCommit{Task: b.Task})
		}
		s := loop.State{Project: loop.Project{Run: run, Requests: requests.State{Branches: branches}}}
		if got := bot.StackText(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
