package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOutlookBudget: a forecast names the budget that ends the night, or that tasks meet.
func TestOutlookBudget(t *testing.T) {
	o := ledger.Outlook{Total: 8, Done: 2, Low: 1, High: 3, By: evening.Add(3 * time.Hour), USDLow: 0.4, USDHigh: 0.6, Basis: "project"}
	s := loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14", Said: &o}}}
	for _, c := range []struct {
		b    ledger.OutlookBudget
		want string
	}{
		{ledger.OutlookBudget{}, ""},
		{ledger.OutlookBudget{Limit: ledger.BudgetRun, Of: 0.6, Task: "Task 3"}, "The budget of $0.60 ends it at about #3"},
		{ledger.OutlookBudget{Limit: ledger.BudgetRun, Tokens: true, Of: 4e6, Task: "Task 3"}, "The budget of 4.0 M tokens ends it at about #3"},
		{ledger.OutlookBudget{Limit: ledger.BudgetDay, Of: 15, Task: "Task 3"}, "The 24 h budget of $15 ends it at about #3"},
		{ledger.OutlookBudget{Limit: ledger.BudgetRun, Of: 0.6, Task: "Task 1", Needs: 1}, "The budget of $0.60 has no room for one session, about $1"},
		{ledger.OutlookBudget{Limit: ledger.BudgetTask, Of: 1, Task: "Task 4", Tasks: 1}, "#4 meets its budget of $1"},
		{ledger.OutlookBudget{Limit: ledger.BudgetTask, Of: 1, Task: "Task 4", Tasks: 3}, "About 3 tasks meet their budget of $1 each, #4 first"},
	} {
		o.Budget = c.b
		q := ledger.Question{ID: "q2", Kind: ledger.AskStart, Offer: &ledger.Settings{}, Outlook: &o, Asked: evening, Expires: evening.Add(time.Minute)}
		said := o
		said.Done, said.Low, said.High = 6, 5, 7
		for name, m := range map[string]bot.Message{
			"forecast": bot.Night(s, &o, evening), "question": bot.Ask(s, q, evening), "told anew": bot.Retold(s, said, o, evening),
		} {
			messagelint.Check(t, name, m)
			if text := m.Text(200); !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "udget of") {
				t.Errorf("%s: %q is not in\n%s", name, c.want, text)
			}
		}
	}
}

// TestBudgetWarned: people read what is spent of a budget, what is left, and how far it goes.
func TestBudgetWarned(t *testing.T) {
	o := ledger.Outlook{Total: 4, Done: 2, Low: 1, High: 3, By: evening.Add(3 * time.Hour), USDLow: 2, USDHigh: 3, Basis: "project"}
	ends := o
	ends.Budget = ledger.OutlookBudget{Limit: ledger.BudgetRun, Of: 15, Task: "Task 11"}
	none, guess := ends, ends
	none.Done, none.Low, none.High = 0, 0, 0
	guess.Basis = "prior"
	s := loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14"}}}
	s.Project.Run.Settings.Stays = true
	for _, c := range []struct {
		name string
		b    ledger.BudgetWarned
		want string
	}{
		{"of the run", ledger.BudgetWarned{Limit: ledger.BudgetRun, Of: 15, Spent: 12.01, Outlook: &ends},
			"! shop budget 80 %: $12.01\nof $15 · 23:10 · 0/0\n$2.99 left, enough for about 2 (1–3) of 4 tasks, to #11.\nWork goes on. You are asked once a session does not fit."},
		{"estimated", ledger.BudgetWarned{Limit: ledger.BudgetRun, Of: 15, Spent: 12.6, About: true, Outlook: &o},
			"! shop budget 84 %: ≈$12.60\nof $15 · 23:10 · 0/0\n≈$2.40 left, enough: about 2 (1–3) of 4 tasks by 02:10."},
		{"too little", ledger.BudgetWarned{Limit: ledger.BudgetRun, Of: 15, Spent: 14.1, Outlook: &none}, "$0.90 left, not enough for #11."},
		{"a guess", ledger.BudgetWarned{Limit: ledger.BudgetRun, Of: 15, Spent: 12.01, Outlook: &guess}, "$2.99 left.\nWork goes on."},
		{"in tokens", ledger.BudgetWarned{Limit: ledger.BudgetRun, Tokens: true, Of: 4e6, Spent: 3.3e6}, "! shop budget 82 %: 3.3 M tokens\nof 4.0 M tokens · 23:10 · 0/0\n700 k tokens left."},
		{"in tokens, assumed", ledger.BudgetWarned{Limit: ledger.BudgetRun, Tokens: true, Of: 4e6, Spent: 3.3e6, About: true}, "! shop budget 82 %: ≈3.3 M tokens\nof 4.0 M tokens · 23:10 · 0/0\n≈700 k tokens left."},
		{"of the day", ledger.BudgetWarned{Limit: ledger.BudgetDay, Of: 20, Spent: 16.4}, "! shop 24 h budget 82 %: $16.40\nof $20, all projects · 23:10 · 0/0\n$3.60 left."},
		{"of a task", ledger.BudgetWarned{Limit: ledger.BudgetTask, Task: "Task 3", Of: 1, Spent: 0.85, Needs: 0.14}, "! shop #3 budget 85 %: $0.85\nof $1 · 23:10 · 0/0\n$0.15 left; the next session takes about $0.14."},
	} {
		m := bot.BudgetWarned(s, c.b, evening)
		messagelint.Pushed(t, c.name, m)
		if text := m.Text(200); !strings.Contains(text, c.want) {
			t.Errorf("%s: not\n%s\nbut\n%s", c.name, c.want, text)
		}
	}
	s.Project.Run.Settings.Stays = false
	if text := bot.BudgetWarned(s, ledger.BudgetWarned{Limit: ledger.BudgetRun, Of: 15, Spent: 12.01}, evening).Text(200); !strings.Contains(text, "Work goes on. The run ends where no session fits.") {
		t.Errorf("a run that ends:\n%s", text)
	}
	s.Project.Name = "a-project-with-a-very-long-name"
	messagelint.Pushed(t, "long", bot.BudgetWarned(s, ledger.BudgetWarned{Limit: ledger.BudgetDay, Tokens: true, Of: 4e9, Spent: 3.3e9}, evening))
}

// TestCostOfBudget: what a run may spend stands beside what it has spent.
func TestCostOfBudget(t *testing.T) {
	s := loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14", State: ledger.RunRunning, Started: evening, CostUSD: 6.42}}}
	r := s.Project.Run
	has := func(name, text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is not in\n%s", name, w, text)
			}
		}
	}
	if text := bot.Spent(s, evening).Text(0) + bot.Status(s, evening).Text(0); strings.Contains(text, " of $") || strings.Contains(text, "24 h") {
		t.Errorf("without a budget:\n%s", text)
	}
	r.Settings.Budget = ledger.Budget{USDRun: 10, TokensRun: 4_000_000}
	r.ExtraUSD, r.Tokens = 5, 1_200_000
	s.Shared.Purse.Day.USD = 20
	s.Shared.Purse.Window = []loop.SpentSlot{{At: evening, USD: 9.2}}
	has("/cost", bot.Spent(s, evening).Text(0), "$6.42 of $15 · shop r14", "1.2 M of 4.0 M tokens", "24 h, all projects: $9.20 of $20")
	has("/status", bot.Status(s, evening).Text(0), " · $6.42 of $15", "1.2 M of 4.0 M tokens", "24 h, all projects: $9.20 of $20")
	s.Shared.Purse.Window[0].Estimated, r.Untold, r.AssumedTokens = 1, 1, 500_000
	has("/status, assumed", bot.Status(s, evening).Text(0), "≈1.2 M of 4.0 M tokens", "24 h, all projects: ≈$9.20 of $20")
	r.Estimated, r.Unpriced = 2, 1
	m := bot.Spent(s, evening)
	has("/cost, estimated", m.Text(0), "≈$6.42 + unknown (1 session)", "of $15")
	r.CostUSD = 0
	has("/status, unknown", bot.Status(s, evening).Text(0), "cost unknown, budget $15")
}

// TestOfferedBudget: the question that confirms a run says in one line what it may spend, and
// what is left of the day's budget.
func TestOfferedBudget(t *testing.T) {
	for name, c := range map[string]struct {
		run  ledger.Budget
		day  ledger.DayBudget
		slot loop.SpentSlot
		want string
	}{
		"none":        {},
		"of the run":  {run: ledger.Budget{USDRun: 15}, want: "Budget $15"},
		"of a task":   {run: ledger.Budget{USDRun: 15, USDTask: 2.5}, want: "Budget $15, $2.50 a task"},
		"in tokens":   {run: ledger.Budget{TokensRun: 4e6}, want: "Budget 4.0 M tokens"},
		"of the day":  {day: ledger.DayBudget{USD: 40}, want: "24 h budget: $40 of $40 left"},
		"of both":     {run: ledger.Budget{USDRun: 15}, day: ledger.DayBudget{USD: 40}, slot: loop.SpentSlot{USD: 12.4}, want: "Budget $15 · 24 h: $27.60 of $40 left"},
		"estimated":   {day: ledger.DayBudget{USD: 40}, slot: loop.SpentSlot{USD: 12.4, Assumed: loop.Assumed{Estimated: 1}}, want: "24 h budget: ≈$27.60 of $40 left"},
		"assumed":     {day: ledger.DayBudget{Tokens: 4e6}, slot: loop.SpentSlot{Tokens: 3e6, Assumed: loop.Assumed{Tokens: 5e5, Untold: 1}}, want: "24 h budget: ≈1.0 M of 4.0 M tokens left"},
		"none left":   {run: ledger.Budget{USDRun: 15}, day: ledger.DayBudget{USD: 40}, slot: loop.SpentSlot{USD: 41}, want: "Budget $15 · 24 h: $0 of $40 left"},
		"of the past": {day: ledger.DayBudget{USD: 40}, slot: loop.SpentSlot{At: evening.Add(-30 * time.Hour), USD: 39}, want: "24 h budget: $40 of $40 left"},
	} {
		if c.slot.At.IsZero() {
			c.slot.At = evening.Add(-time.Hour)
		}
		s := loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r1", State: ledger.RunOver, CostUSD: 15, ExtraUSD: 5}}, Shared: loop.Shared{Purse: loop.Purse{Day: c.day, Window: []loop.SpentSlot{c.slot}}}}
		s.Project.Run.Settings.Budget.USDRun = 3 // of the run before
		q := ledger.Question{ID: "q2", Kind: ledger.AskStart, Offer: &ledger.Settings{Agent: "claude", Budget: c.run}, Asked: evening, Expires: evening.Add(time.Minute)}
		m := bot.Ask(s, q, evening)
		messagelint.Check(t, name, m)
		var lines []string
		for line := range strings.SplitSeq(m.Text(0), "\n") {
			if strings.Contains(line, "udget") || strings.Contains(line, "24 h") {
				lines = append(lines, line)
			}
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
