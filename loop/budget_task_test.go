package loop

import (
	"math"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// spendsInSections is a night whose first task is built in the sections a, b and c, with the
// sessions of the first of them under way. The planner's cost 0.25.
func spendsInSections(t *testing.T, pattern ledger.Pattern, lanes int, change func(*ledger.Settings, *ledger.DayBudget)) *director {
	t.Helper()
	d := spends(t, "1", func(s *ledger.Settings, day *ledger.DayBudget) {
		s.Pattern, s.Parallel, s.Stays = pattern, lanes, true
		change(s, day)
	})
	d.play("sections a b c")
	return d
}

// costs ends the session of a task, which built something, at a cost.
func (d *director) costs(task string, usd float64) {
	d.t.Helper()
	d.on = task
	d.emit("build.complete", `{"summary":"built it","files_modified":["a.go"]}`)
	d.exit(func(x *ledger.Exit) { x.CostUSD = usd })
	d.on = ""
}

// TestTaskBudgetOfSections checks that the budget of a task holds for all its sections
// together, whether they are merged into its tree or have commits of their own, and that an
// answer about it holds for all of them too.
func TestTaskBudgetOfSections(t *testing.T) {
	commits := ledger.Pattern{Name: "commits", Start: "planner", Routes: []ledger.Route{
		{From: "planner", On: ledger.EventPlan, To: "builder"}, {From: "builder", On: "build.complete", To: ledger.Converged},
	}}
	for name, pattern := range map[string]ledger.Pattern{"merged": patterns["ultrawork"], "team": patterns["team"], "with commits": commits} {
		t.Run(name, func(t *testing.T) {
			d := spendsInSections(t, pattern, 1, func(s *ledger.Settings, _ *ledger.DayBudget) {
				s.Budget.USDTask, s.Consensus = 0.9, name == "with commits"
			})
			if name == "with commits" {
				d.play("critic OKAY")
			}
			spent := d.s.Project.Run.CostUSD
			short := func(of float64) (id string) {
				t.Helper()
				d.play("greens")
				q := d.asked()
				if s := q.Short; s.Limit != ledger.BudgetTask || math.Abs(s.Spent-spent) > cent || math.Abs(s.Of-of) > cent {
					t.Fatalf("%s asks about %+v, not $%.2f of $%.2f", q.Task, s, spent, of)
				}
				return q.ID
			}
			d.costs("Task 1/a", 0.5)
			spent += 0.5
			d.play("/answer " + short(0.9) + " more 1")
			s := d.session()
			if got := s.Planned.Reserved; got.Limit != ledger.BudgetTask || math.Abs(got.MaxUSD-(1.9-spent)) > cent {
				t.Errorf("%s may spend %+v", s.Task, got)
			}
			d.costs(s.Task, 1)
			spent += 1
			d.play("/answer " + short(1.9) + " task")
			if s := d.session(); s.Planned.Reserved.Limit != "" {
				t.Errorf("of a task without a limit: %+v", s.Planned.Reserved)
			}
			if over := d.s.Overshoots(d.now); len(over) != 0 {
				t.Errorf("of a task without a limit: %+v", over)
			}
		})
	}
}

// TestTaskOvershootOfSections checks that what the sections of a task spend is that task's.
func TestTaskOvershootOfSections(t *testing.T) {
	d := spendsInSections(t, patterns["ultrawork"], 1, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDTask = 0.7 })
	d.costs("Task 1/a", 1.5)
	over := d.s.Overshoots(d.now)
	if len(over) != 1 || over[0].Task != "Task 1" || over[0].Of != 0.7 || over[0].Spent != 1.75 {
		t.Errorf("%+v", over)
	}
}

// TestSectionsShareBudget checks that the sessions of several sections at a time keep to
// their task's budget together, also if each spends all that it may.
func TestSectionsShareBudget(t *testing.T) {
	d := spendsInSections(t, patterns["ultrawork"], 2, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDTask = 1.5 })
	if n := len(d.s.Project.Sessions); n != 2 {
		t.Fatalf("%d sessions are at work", n)
	}
	for _, s := range d.s.Project.Sessions {
		if got := s.Planned.Reserved; got.Limit != ledger.BudgetTask || got.MaxUSD < 0.62 || got.MaxUSD > 0.63 {
			t.Errorf("%s may spend $%.2f of the $1.25 that is left of its task's budget", s.Task, got.MaxUSD)
		}
	}
	// What is left beside a session that may spend 0.63 does not do for the third section,
	// which waits for what that one really spends. Nobody is asked.
	d.costs("Task 1/b", 0.4)
	if n := len(d.s.Project.Sessions); n != 1 || len(d.s.Project.Questions) != 0 {
		t.Fatalf("%d sessions are at work, asked: %+v", n, d.s.Project.Questions)
	}
	d.costs("Task 1/a", 0.3)
	if s := d.session(); s.Task != "Task 1/c" || s.Planned.Reserved.MaxUSD < 0.54 || s.Planned.Reserved.MaxUSD > 0.56 {
		t.Errorf("%s may spend $%.2f", s.Task, s.Planned.Reserved.MaxUSD)
	}
}

// TestOneTaskHasItsBudget checks that a task without sections has all of its budget in each
// of several lanes.
func TestOneTaskHasItsBudget(t *testing.T) {
	d := spends(t, "1[scope=src/a] 2[scope=src/b]", func(s *ledger.Settings, _ *ledger.DayBudget) {
		s.Budget.USDTask, s.Parallel, s.Pattern = 2, 3, patterns["single"]
	})
	for _, s := range d.s.Project.Sessions {
		if got := s.Planned.Reserved.MaxUSD; got != 2 {
			t.Errorf("%s may spend $%.2f of $2", s.Task, got)
		}
	}
}
