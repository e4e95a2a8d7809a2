package loop

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/outlook"
)

// budgeted returns a night of eight tasks of one session each, which takes an hour and
// costs $0.20, as the ledger has it.
func budgeted(t *testing.T) *director {
	d := playing(t, "tasks 1 2 3 4 5 6 7 8", "set pattern=single verify=", "go quiet")
	h := d.s.Project.History
	for range history.Enough {
		h = h.WithTask(history.Kind{Pattern: "single", Size: history.Small}, history.Task{Outcome: history.OutcomeDone, Sessions: 1, Ms: 3_600_000, USD: 0.2, Tokens: 1000})
		h = h.WithSession(history.Key{Hat: "builder", Agent: "claude", Model: d.session().Planned.Model, Size: history.Small}, history.Session{Ms: 3_600_000, USD: 0.2, Tokens: 1000})
	}
	d.s.Project.History = h
	r := *d.s.Project.Run
	d.s.Project.Run = &r
	return d
}

// TestOutlookWithinBudget: what a night gets done ends where its budgets do.
func TestOutlookWithinBudget(t *testing.T) {
	const all = 8
	for _, c := range []struct {
		name   string
		change func(*State, time.Time)
		done   int
		end    ledger.OutlookBudget
	}{
		{"none", func(*State, time.Time) {}, all, ledger.OutlookBudget{}},
		{"of the run", func(s *State, _ time.Time) { s.Project.Run.Settings.Budget.USDRun = 0.6 }, 3, ledger.OutlookBudget{Limit: ledger.BudgetRun, Of: 0.6, Task: "Task 4"}},
		{"of the run, with what is spent", func(s *State, _ time.Time) {
			s.Project.Run.Settings.Budget.USDRun, s.Project.Run.CostUSD, s.Project.Run.AssumedUSD = 1, 0.3, 0.1
		}, 3, ledger.OutlookBudget{Limit: ledger.BudgetRun, Of: 1, Task: "Task 4"}},
		{"of the run, raised", func(s *State, _ time.Time) {
			s.Project.Run.Settings.Budget.USDRun, s.Project.Run.ExtraUSD = 0.6, 5
		}, all, ledger.OutlookBudget{}},
		{"of the run, in tokens", func(s *State, _ time.Time) { s.Project.Run.Settings.Budget.TokensRun = 3500 }, 3, ledger.OutlookBudget{Limit: ledger.BudgetRun, Tokens: true, Of: 3500, Task: "Task 4"}},
		{"of the day", func(s *State, at time.Time) {
			s.Shared.Purse.Day.USD = 1
			s.Shared.Purse.Window = []SpentSlot{{At: at.Add(-time.Hour), USD: 0.3}, {At: at.Add(-30 * time.Hour), USD: 9}}
			s.Shared.Leases = append(s.Shared.Leases, ledger.LeaseGranted{Project: "blog", Session: "r2-1", Reserved: ledger.Reservation{USD: 0.1}})
		}, 3, ledger.OutlookBudget{Limit: ledger.BudgetDay, Of: 1, Task: "Task 4"}},
		{"of the day, which has room again in the night", func(s *State, at time.Time) {
			s.Project.Run.Settings.Stays = true
			s.Shared.Purse.Day.USD = 4
			s.Shared.Purse.Window = []SpentSlot{{At: at.Add(-20 * time.Hour), USD: 3.9}}
		}, all, ledger.OutlookBudget{}},
		{"of a task", func(s *State, _ time.Time) {
			s.Project.Run.Settings.Budget.USDTask = 0.1
		}, 0, ledger.OutlookBudget{Limit: ledger.BudgetTask, Of: 0.1, Task: "Task 1", Tasks: 8}},
		{"of a task, lifted", func(s *State, _ time.Time) {
			s.Project.Run.Settings.Budget.USDRun = 0.6
			s.Project.Run.TaskBudgets = map[string]TaskBudget{}
			for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
				s.Project.Run.TaskBudgets[ledger.FoldID("Task "+id)] = TaskBudget{Lifted: true}
			}
		}, all, ledger.OutlookBudget{}},
	} {
		d := budgeted(t)
		c.change(&d.s, d.now)
		o := SaidOf(OutlookOf(d.s, d.now))
		if o.Done > c.done || o.Done < c.done-1 || c.end.Limit != "" && o.Done != c.done && c.done > 0 || o.Budget != c.end {
			t.Errorf("%s: %+v", c.name, o)
		}
		if b := o.Budget; !b.Tokens && b.Limit != "" && o.USDHigh > b.Of+0.01 && b.Limit != ledger.BudgetTask {
			t.Errorf("%s: it costs up to %v", c.name, o.USDHigh)
		}
	}
}

// TestOfferedWithinBudget: a run that is offered spends nothing of the budget of the one
// before, and what does not fit at all is said before it starts.
func TestOfferedWithinBudget(t *testing.T) {
	d := budgeted(t)
	d.s.Project.Run.CostUSD, d.s.Project.Run.ExtraUSD = 40, 3
	d.s.Project.Sessions = nil
	d.settings.Budget.USDRun = 0.7
	o := OfferedOutlook(d.s, d.settings, ledger.DayBudget{}, d.plan, d.now)
	if o == nil || o.Done != 3 || o.Budget.Needs != 0 || o.Budget.Task != "Task 4" {
		t.Errorf("offered: %+v", o)
	}
	if w, small := NoRoom(d.s, d.settings, ledger.DayBudget{}, d.plan, d.now); small {
		t.Errorf("no room: %v", w)
	}
	w, small := NoRoom(d.s, d.settings, ledger.DayBudget{USD: 0.1}, d.plan, d.now)
	if !small || !strings.Contains(w.Text, "24 h budget of $0.10 has no room for one session now, which takes about $0.20") {
		t.Errorf("no room: %v", w)
	}
	d.settings.Budget = ledger.Budget{USDTask: 0.1}
	w, small = NoRoom(d.s, d.settings, ledger.DayBudget{}, d.plan, d.now)
	if !small || !strings.Contains(w.Text, "the budget of $0.10 for one task has no room for one session of #") || !strings.Contains(w.Remedy, "usd_task") {
		t.Errorf("no room: %v", w)
	}
	n := playing(t, "tasks 1 2", "set pattern=single verify=")
	n.settings.Budget.USDRun = 0.01
	n.play("run")
	n.play("preflight")
	said := false
	for _, e := range n.entries {
		if b, ok := e.Body.(ledger.PreflightDone); ok {
			for _, w := range b.Warnings {
				said = said || strings.Contains(w.Text, "the budget of $0.01 has no room for one session") && strings.Contains(w.Remedy, "usd_run")
			}
		}
	}
	if !said {
		t.Errorf("the preflight does not warn:\n%s", n.out.String())
	}
}

// TestOutlookOfSections: sections with commits of their own have what is left of their task's
// budget, with what people added to it.
func TestOutlookOfSections(t *testing.T) {
	pattern := ledger.Pattern{Name: "commits", Start: "planner", Routes: []ledger.Route{
		{From: "planner", On: ledger.EventPlan, To: "builder"}, {From: "builder", On: "build.complete", To: ledger.Converged},
	}}
	d := spendsInSections(t, pattern, 1, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDTask, s.Consensus = 5, true })
	d.play("critic OKAY")
	d.costs("Task 1/a", 1)
	d.play("greens")
	left := func(of float64) {
		t.Helper()
		dec := &decision{State: d.s, in: Input{Project: "shop", Time: d.now}}
		for _, id := range []string{"Task 1", "Task 1/b", "Task 1/c"} {
			task, _ := dec.task(id)
			got := dec.outlookBudget(outlook.Task{}, task, nil)
			if want := of - d.s.Project.Run.CostUSD; len(got.Budgets) != 1 || math.Abs(got.Budgets[0].Left-want) > cent || got.Budgets[0].Of != of {
				t.Errorf("%s has left %+v, not $%.2f of $%.2f", id, got.Budgets, want, of)
			}
		}
	}
	left(5)
	r := d.s.Project.Run.raise(ledger.BudgetRaised{Limit: ledger.BudgetTask, Task: "Task 1", USD: 2})
	d.s.Project.Run = &r
	left(7)
	// What is left is what the forecast goes by: no further section fits.
	r.Settings.Budget.USDTask, r.TaskBudgets = r.CostUSD+0.1, nil
	if o := SaidOf(OutlookOf(d.s, d.now)); o == nil || o.Done != 0 || o.Budget.Limit != ledger.BudgetTask {
		t.Errorf("the forecast: %+v", o)
	}
}
