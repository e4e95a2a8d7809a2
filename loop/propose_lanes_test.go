package loop

import (
	"fmt"
	"testing"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// scopedPlan has n tasks with a folder of their own each, but for the last ones, which
// share one.
func scopedPlan(n, sharing int) (plan ledger.Snapshot) {
	plan.Name = "checkout"
	for i := range n {
		scope := fmt.Sprintf("`src/%d/`", i)
		if i >= n-sharing {
			scope = "`src/shared/`"
		}
		plan.Tasks = append(plan.Tasks, ledger.Task{ID: fmt.Sprintf("Task %d", i+1), Title: "A", Mark: ledger.MarkOpen, Scope: scope})
	}
	return plan
}

// TestOfferedLanes checks when several lanes are proposed, and that hours are said only
// where something is known.
func TestOfferedLanes(t *testing.T) {
	n := newNight(t)
	known := n.s
	for range history.Enough {
		known.Project.History = known.Project.History.WithTask(history.Kind{Pattern: n.settings.Pattern.Name, Size: history.Small}, history.Task{Outcome: history.OutcomeDone, Ms: 3_600_000, USD: 1})
	}
	checked := func(part int64) State {
		s := n.s
		for range history.Enough {
			s.Project.History = s.Project.History.WithTask(history.Kind{Pattern: n.settings.Pattern.Name, Size: history.Small}, history.Task{
				Outcome: history.OutcomeDone, Ms: 3_600_000, USD: 1, Checks: history.Checks{Times: 1, VerifyMs: 3_600_000 / part},
			})
		}
		return s
	}
	account := known
	account.Project.Run = &Run{ID: "r0", State: ledger.RunOver, Base: ledger.Base{OneSession: []string{"claude"}}}
	with := func(change func(*ledger.Settings)) ledger.Settings {
		s := n.settings
		s.MaxTasks = 0
		if change != nil {
			change(&s)
		}
		return s
	}
	for name, c := range map[string]struct {
		s    State
		set  ledger.Settings
		plan ledger.Snapshot
		most int
		want string
	}{
		"nothing is known":         {n.s, with(nil), scopedPlan(12, 0), 0, "4 of 12"},
		"known":                    {known, with(nil), scopedPlan(12, 0), 0, "4 of 12: 13h0m0s, 4h0m0s"},
		"some share a folder":      {known, with(nil), scopedPlan(12, 3), 0, "4 of 10: 13h0m0s, 5h0m0s"},
		"too many share a folder":  {known, with(nil), scopedPlan(12, 4), 0, ""},
		"nine tasks":               {known, with(nil), scopedPlan(9, 0), 0, ""},
		"two sessions are allowed": {known, with(nil), scopedPlan(12, 0), 2, "2 of 12: 13h0m0s, 7h0m0s"},
		"one session is allowed":   {known, with(nil), scopedPlan(12, 0), 1, ""},
		"the account allows one":   {account, with(nil), scopedPlan(12, 0), 0, ""},
		"the agent has three":      {known, with(func(s *ledger.Settings) { s.AgentSessions = map[string]int{"claude": 3} }), scopedPlan(12, 0), 0, "3 of 12: 13h0m0s, 5h0m0s"},
		"half is verification":     {checked(2), with(nil), scopedPlan(12, 0), 0, ""}, // which each task has twice, one after another
		"half, in own rooms":       {checked(2), with(func(s *ledger.Settings) { s.Verify = []ledger.Command{{Run: "go test", Parallel: true}} }), scopedPlan(12, 0), 0, "4 of 12: 13h0m0s, 6h30m0s"},
		"a tenth is verification":  {checked(10), with(nil), scopedPlan(12, 0), 0, "4 of 12: 13h0m0s, 4h12m0s"},
		"lanes are configured":     {known, with(func(s *ledger.Settings) { s.Parallel = 2 }), scopedPlan(12, 0), 0, ""},
		"it pauses after five":     {known, with(func(s *ledger.Settings) { s.MaxTasks = 5 }), scopedPlan(12, 0), 0, ""},
		"one task":                 {known, with(func(s *ledger.Settings) { s.Only = "Task 1" }), scopedPlan(12, 0), 0, ""},
		"nobody knows where they work": {known, with(nil), func() ledger.Snapshot {
			p := scopedPlan(12, 0)
			for i := range p.Tasks {
				p.Tasks[i].Scope = ""
			}
			return p
		}(), 0, ""},
	} {
		got := ""
		if p := OfferedLanes(c.s, c.set, c.plan, c.most, n.now); p != nil {
			got = fmt.Sprintf("%d of %d", p.Parallel, p.Tasks)
			if p.One > 0 {
				got += fmt.Sprintf(": %s, %s", p.One.D(), p.Several.D())
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestStartParallel checks that the answer to the proposal holds for one run, and is in
// the ledger.
func TestStartParallel(t *testing.T) {
	for verb, want := range map[string]int{"parallel": 4, "start": 0} {
		n := newNight(t)
		n.do(OfferRun{Settings: n.settings, MaxSessions: 1, Tasks: 12, Lanes: &ledger.LanesProposal{Parallel: 4, Tasks: 12}}, "offer")
		q := n.s.Project.Questions[0]
		if fmt.Sprint(q.Verbs()) != "[start parallel cancel]" {
			t.Error(q.Verbs())
		}
		n.do(AnswerQuestion{Question: q.ID, Choice: verb}, "answer")
		r := n.s.Project.Run
		if r == nil || r.Settings.Parallel != want || n.s.Shared.MaxSessions != max(want, 1) {
			t.Errorf("%s: the run has %+v, and %d sessions are allowed", verb, r, n.s.Shared.MaxSessions)
		}
	}
}
