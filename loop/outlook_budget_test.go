package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
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
