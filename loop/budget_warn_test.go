package loop

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// warnings returns what people were told of budgets, in order.
func (d *director) warnings() (all []ledger.BudgetWarned) {
	for _, e := range d.entries {
		if b, ok := e.Body.(ledger.BudgetWarned); ok {
			all = append(all, b)
		}
	}
	return all
}

// TestRunBudgetWarned: people are told once that most of the run's budget is spent, also
// after a restart, and again when somebody has raised it.
func TestRunBudgetWarned(t *testing.T) {
	d := spends(t, "1 2 3 4 5 6 7", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun, s.Stays = 2.8, true })
	for range 2 {
		d.play("task") // three sessions of 0.25
	}
	d.play("plan")
	d.play("build")
	d.play("greens")
	if all := d.warnings(); len(all) != 0 {
		t.Fatalf("told at $2.00 of $2.80: %+v", all)
	}
	d.play("ok")
	all := d.warnings()
	if len(all) != 1 || all[0].Limit != ledger.BudgetRun || all[0].Of != 2.8 || all[0].Spent != 2.25 || all[0].Outlook == nil || all[0].Task != "" {
		t.Fatalf("told: %+v", all)
	}
	if o := all[0].Outlook; o.Done != 1 || o.Low != 0 || o.Budget.Limit != ledger.BudgetRun || o.Budget.Task != "Task 4" {
		t.Errorf("is enough for %+v", o)
	}
	d.play("plan")
	if all := d.warnings(); len(all) != 1 || len(d.folded.Project.Run.Warned) != 1 {
		t.Fatalf("told again: %+v", all)
	}
	d.play("build")
	d.play("greens")
	d.play("/answer " + d.asked().ID + " more 0.6") // to 3.4: 2.75 is 81 %
	d.play("ok")                                    // 3.00
	if all := d.warnings(); len(all) != 2 || all[1].Of != 3.4 {
		t.Errorf("after it was raised: %+v", all)
	}
}

// TestBudgetMetAtOnce: the question about a budget is enough where the session that most of
// it was spent by has left no room for the next one.
func TestBudgetMetAtOnce(t *testing.T) {
	d := spends(t, "1 2", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun, s.Stays = 0.3, true })
	d.play("plan") // 83 %, and the builder does not fit
	d.asked()
	d.play("/answer q1 more 0.01") // 81 %, and it does not fit again
	d.play("/answer " + d.asked().ID + " task")
	d.play("build")
	if all := d.warnings(); len(all) != 0 {
		t.Errorf("told: %+v", all)
	}
	d = spends(t, "1", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.3 })
	d.play("plan")
	if all := d.warnings(); len(all) != 0 || d.s.Project.Run.Ended == nil {
		t.Errorf("told, and the run has ended: %+v", all)
	}
}

// TestTaskBudgetWarned: so it is with a task's own budget, which names what its next session
// takes.
func TestTaskBudgetWarned(t *testing.T) {
	d := spends(t, "1 2 3 4", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDTask, s.Stays = 1.9, true })
	for range 2 {
		d.play("task")
	}
	d.emit("plan.complete", fmt.Sprintf(planned, ""))
	d.exit(func(x *ledger.Exit) { x.CostUSD = 1.6 })
	all := d.warnings()
	if len(all) != 1 || all[0].Limit != ledger.BudgetTask || all[0].Task != "Task 3" || all[0].Spent != 1.6 || all[0].Needs != 0.25 {
		t.Errorf("told: %+v", all)
	}
}

// TestDayBudgetWarned: the warning about the day's budget belongs to all projects, and is
// told again a day later.
func TestDayBudgetWarned(t *testing.T) {
	d := spends(t, "1 2 3 4 5", func(s *ledger.Settings, day *ledger.DayBudget) { day.USD, s.Stays = 2.8, true })
	for range 2 {
		d.play("task")
	}
	d.play("plan")
	d.play("build")
	d.play("greens")
	d.play("ok") // 2.25 of 2.80
	all := d.warnings()
	if len(all) != 1 || all[0].Limit != ledger.BudgetDay || all[0].Spent != 2.25 || all[0].Tokens {
		t.Fatalf("told: %+v", all)
	}
	for _, e := range d.entries {
		if _, is := e.Body.(ledger.BudgetWarned); is && e.Stream != ledger.SharedStream {
			t.Errorf("it is in %s", e.Stream)
		}
	}
	if w := d.s.Shared.Purse.Warned; len(w) != 1 || w[0].Of != 2.8 {
		t.Errorf("kept: %+v", w)
	}
	dec := &decision{State: d.s, in: Input{Project: "shop", Time: d.now}}
	if !dec.warned(all[0]) {
		t.Error("it would be told again")
	}
	dec.in.Time = d.now.Add(25 * time.Hour)
	if dec.warned(all[0]) {
		t.Error("it is not told again a day later")
	}
	dec.in.Time = d.now
	all[0].Of = 7
	if dec.warned(all[0]) {
		t.Error("it is not told again after it was raised")
	}
}

// TestAssumedIsMarked: what is said of any budget is marked where some of it is assumed or
// estimated, and only there.
func TestAssumedIsMarked(t *testing.T) {
	settings := ledger.Settings{Budget: ledger.Budget{USDRun: 10, TokensRun: 1000}}
	day := ledger.DayBudget{USD: 20, Tokens: 2000}
	names := func(marked bool, all []ledger.BudgetWarned) (names []string) {
		for _, b := range all {
			if b.About == marked {
				names = append(names, fmt.Sprintf("%s %v %v", b.Limit, b.Tokens, b.Spent))
			}
		}
		return names
	}
	for name, c := range map[string]struct {
		run    Run
		slot   SpentSlot
		marked []string
	}{
		"all known":          {Run{CostUSD: 1, Tokens: 10}, SpentSlot{USD: 1, Tokens: 10}, nil},
		"a cost assumed":     {Run{CostUSD: 1, AssumedUSD: 2, Unpriced: 1, Tokens: 10}, SpentSlot{USD: 3, Tokens: 10, Assumed: Assumed{USD: 2, Unpriced: 1}}, []string{"run false 3", "day false 3"}},
		"a cost estimated":   {Run{CostUSD: 1, Estimated: 1, Tokens: 10}, SpentSlot{USD: 1, Tokens: 10, Assumed: Assumed{Estimated: 1}}, []string{"run false 1", "day false 1"}},
		"tokens assumed":     {Run{CostUSD: 1, Tokens: 15, AssumedTokens: 5, Untold: 1}, SpentSlot{USD: 1, Tokens: 15, Assumed: Assumed{Tokens: 5, Untold: 1}}, []string{"run true 15", "day true 15"}},
		"of another project": {Run{CostUSD: 1, Tokens: 10}, SpentSlot{USD: 3, Tokens: 15, Assumed: Assumed{USD: 2, Tokens: 5}}, []string{"day false 3", "day true 15"}},
	} {
		at := time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC)
		c.run.Settings, c.slot.At = settings, at
		s := State{Project: Project{Run: &c.run}, Shared: Shared{Purse: Purse{Day: day, Window: []SpentSlot{c.slot}}}}
		all := s.Budgets(at)
		if marked := names(true, all); !slices.Equal(marked, c.marked) || len(all) != 4 {
			t.Errorf("%s: marked %q of %+v", name, marked, all)
		}
	}
}

// TestWarnedOfAssumed: so is the warning that people get, whose sum has what was reserved.
func TestWarnedOfAssumed(t *testing.T) {
	for name, change := range map[string]func(*ledger.Settings, *ledger.DayBudget){
		"day":           func(_ *ledger.Settings, day *ledger.DayBudget) { day.USD = 2.6 },
		"tokens":        func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.TokensRun = 600_000 },
		"tokens, a day": func(_ *ledger.Settings, day *ledger.DayBudget) { day.Tokens = 600_000 },
	} {
		d := spends(t, "1 2 3 4 5", func(s *ledger.Settings, day *ledger.DayBudget) { s.Stays = true; change(s, day) })
		for range 2 {
			d.play("task") // three sessions of 0.25 and 1000 tokens
		}
		d.emit("plan.complete", fmt.Sprintf(planned, ""))
		d.exit(func(x *ledger.Exit) { x.CostUSD, x.Tokens = -1, -1 })
		d.emit("build.complete", `{"summary":"built it","files_modified":["a.go"]}`)
		d.exit(func(x *ledger.Exit) { x.CostUSD, x.Tokens = 0.5, 485_000 })
		if all := d.warnings(); len(all) != 1 || !all[0].About {
			t.Errorf("%s: told %+v, asked %+v", name, all, d.s.Project.Questions)
		}
	}
}
