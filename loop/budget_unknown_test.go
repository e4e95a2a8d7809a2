package loop

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUnknownIsSaid: of sessions whose figures nobody knows it is said what was assumed for
// them, in a run's budget and a day's, in money and in tokens.
func TestUnknownIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ledger.Settings, *ledger.DayBudget)
		want   string
	}{
		"run":         {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.3 }, "unknown of $0.30 spent in this run ($0.29 assumed for 2 sessions)"},
		"day":         {func(_ *ledger.Settings, d *ledger.DayBudget) { d.USD = 0.3 }, "unknown of $0.30 spent in 24 hours ($0.29 assumed for 2 sessions)"},
		"tokens":      {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.TokensRun = 1_200_000 }, "unknown of 1.2 M tokens spent in this run (1.0 M assumed for 2 sessions)"},
		"day's token": {func(_ *ledger.Settings, d *ledger.DayBudget) { d.Tokens = 1_200_000 }, "unknown of 1.2 M tokens spent in 24 hours (1.0 M assumed for 2 sessions)"},
	} {
		d := spends(t, "1", func(s *ledger.Settings, day *ledger.DayBudget) { s.Stays = true; c.change(s, day) })
		for range 2 {
			d.exit(func(x *ledger.Exit) { x.Reason, x.CostUSD, x.Tokens = ledger.ExitLost, -1, -1 })
		}
		if q := d.asked(); !strings.HasPrefix(q.Text, c.want+"; the next session") || q.Short.Known() != 0 {
			t.Errorf("%s: %q, %+v", name, q.Text, q.Short)
		}
	}
}

// TestPartlyKnownIsSaid: what is known stands apart from what is assumed, what running
// sessions have reserved is not called spent, and figures that are not an agent's own are
// marked.
func TestPartlyKnownIsSaid(t *testing.T) {
	b := ledger.BudgetShort{Limit: ledger.BudgetDay, Of: 0.4, Spent: 0.39, Reserved: 0.1, Assumed: 0.25, Unknown: 1, About: true, Needs: 0.11}
	if got, want := shortText(b), "≈$0.04 + unknown of $0.40 spent in 24 hours ($0.25 assumed for 1 session, $0.10 reserved by sessions at work); the next session takes about $0.11"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestDayOvershootIsAbout: the overshoot of a day, and one in tokens, says what of it nobody
// knows.
func TestDayOvershootIsAbout(t *testing.T) {
	s := Shared{Purse: Purse{Day: ledger.DayBudget{USD: 1}}}
	for n, b := range []ledger.Spending{{USD: 0.9, Tokens: 10, Estimated: true}, {USD: 0.5, Tokens: 500, Assumed: true, Untold: true}} {
		id := []string{"r1-1", "r1-2"}[n]
		s = applyShared(s, ledger.Entry{Body: ledger.LeaseGranted{Session: id, Project: "shop"}})
		s = applyShared(s, ledger.Entry{Body: ledger.LeaseReleased{Session: id, Spent: &b}})
	}
	at := s.Purse.Window[0].At
	over := State{Shared: s, Project: Project{Run: &Run{}}}.Overshoots(at)
	if len(over) != 1 || over[0].Assumed != 0.5 || over[0].Unknown != 1 || !over[0].About {
		t.Errorf("%+v", over)
	}
	s.Purse.Day = ledger.DayBudget{Tokens: 100}
	over = State{Shared: s, Project: Project{Run: &Run{}}}.Overshoots(at)
	if len(over) != 1 || over[0].Assumed != 500 || over[0].Unknown != 1 {
		t.Errorf("%+v", over)
	}
}

// TestMetTokens: a session has its part of what is left of a budget in tokens. Where it is
// ended at it, its work is gone on with, whatever limit in money it had besides.
func TestMetTokens(t *testing.T) {
	d := spends(t, "1", func(s *ledger.Settings, _ *ledger.DayBudget) {
		s.Stays, s.Budget.TokensRun = true, 1_200_000
		capHat(s, "builder", 5)
	})
	d.play("plan") // 1000 tokens
	first := d.session()
	if got := first.Planned.Reserved; got.MaxTokens != 1_199_000 || got.Limit != ledger.BudgetSession {
		t.Fatalf("reserved: %+v", got)
	}
	d.exit(func(x *ledger.Exit) {
		x.Reason, x.OverBudget, x.OverTokens, x.Tokens = ledger.ExitBudget, true, true, 200_000
	})
	if s := d.session(); s.Planned.Hat != "builder" || s.Planned.Replaces != first.ID || s.Planned.Reserved.MaxTokens != 999_000 {
		t.Errorf("goes on as %+v", s.Planned)
	}
}

// TestBudgetOfNothing: 0 is no limit, also where it replaces one.
func TestBudgetOfNothing(t *testing.T) {
	d := spends(t, "1", func(s *ledger.Settings, day *ledger.DayBudget) {
		s.Stays, s.Budget, *day = true, ledger.Budget{}, ledger.DayBudget{}
	})
	if got := d.session().Planned.Reserved; got != (ledger.Reservation{}) {
		t.Errorf("reserved: %+v", got)
	}
	d.exit(func(x *ledger.Exit) { x.CostUSD, x.Tokens = 1e6, 1e12 })
	if len(d.s.Project.Questions) != 0 || len(d.s.Overshoots(d.now)) != 0 {
		t.Errorf("asked: %+v", d.s.Project.Questions)
	}
}

// TestBudgetChangedInRun: a changed budget of a project holds from its next start on, and
// not from when the files on disk are read again.
func TestBudgetChangedInRun(t *testing.T) {
	d := spends(t, "1", func(s *ledger.Settings, _ *ledger.DayBudget) { s.Stays, s.Budget.USDRun = true, 0.3 })
	d.settings.Budget.USDRun = 50
	d.input(HatsChanged{Pattern: d.settings.Pattern, Hats: d.settings.Hats})
	d.play("plan")
	if q := d.asked(); q.Short.Of != 0.3 {
		t.Errorf("asked: %+v", q.Short)
	}
	d.play("/answer " + d.asked().ID + " stop")
	d.input(StartRun{Settings: d.settings, MaxSessions: 1})
	if got := d.s.Project.Run.Settings.Budget.USDRun; got != 50 {
		t.Errorf("it may then spend %v", got)
	}
}

// TestBudgetChangedWhileAsked: a start of the open run with other budgets withdraws a question
// about the old one. What still does not fit is asked about anew, with the new figures; where
// nothing changed, the question stays.
func TestBudgetChangedWhileAsked(t *testing.T) {
	for name, c := range map[string]struct {
		change, then func(*ledger.Settings, *ledger.DayBudget)
		asks         float64 // the budget that is asked about then; 0 = the session begins
	}{
		"run":         {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.3 }, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 50 }, 0},
		"none":        {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.3 }, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0 }, 0},
		"a little":    {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.3 }, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.4 }, 0.4},
		"the same":    {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.3 }, func(*ledger.Settings, *ledger.DayBudget) {}, 0.3},
		"another one": {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun = 0.3 }, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDRun, s.Budget.USDTask = 50, 0.35 }, 0.35},
		"task":        {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDTask = 0.3 }, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.USDTask = 3 }, 0},
		"tokens":      {func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.TokensRun = 500_500 }, func(s *ledger.Settings, _ *ledger.DayBudget) { s.Budget.TokensRun = 1e9 }, 0},
		"day":         {func(_ *ledger.Settings, d *ledger.DayBudget) { d.USD = 0.3 }, func(_ *ledger.Settings, d *ledger.DayBudget) { d.USD = 5 }, 0},
		"day, little": {func(_ *ledger.Settings, d *ledger.DayBudget) { d.USD = 0.3 }, func(_ *ledger.Settings, d *ledger.DayBudget) { d.USD = 0.35 }, 0.35},
	} {
		var day ledger.DayBudget
		d := spends(t, "1", func(s *ledger.Settings, of *ledger.DayBudget) {
			s.Stays = true
			c.change(s, of)
			day = *of
		})
		d.emit("plan.complete", fmt.Sprintf(planned, ""))
		d.exit(func(x *ledger.Exit) { x.CostUSD, x.Tokens = 0.25, 400_000 })
		before := d.asked()
		c.then(&d.settings, &day)
		d.input(StartRun{Settings: d.settings, MaxSessions: 1, Day: day})
		_, open := d.s.Project.Question(before.ID)
		switch {
		case c.asks == 0:
			if len(d.s.Project.Questions) != 0 || len(d.s.Project.Sessions) != 1 || d.session().Task != "Task 1" || d.session().Planned.Hat != "builder" {
				t.Errorf("%s: asked %+v, at work %+v", name, d.s.Project.Questions, d.s.Project.Sessions)
			}
		default:
			if q := d.asked(); q.Short.Of != c.asks || open != (name == "the same") || d.s.Project.Run.State != ledger.RunWaiting {
				t.Errorf("%s: asked %+v, %+v, the run is %s", name, q, q.Short, d.s.Project.Run.State)
			}
		}
	}
}

// TestSessionBudgetChanged: so it is with the limit of one session, at which one was ended.
func TestSessionBudgetChanged(t *testing.T) {
	for name, c := range map[string]struct {
		usd  float64
		asks bool
	}{"more": {3, false}, "the same": {1.5, true}, "none": {0, false}} {
		d := spends(t, "1", func(s *ledger.Settings, _ *ledger.DayBudget) {
			s.Stays = true
			capHat(s, "builder", 1.5)
		})
		d.play("plan")
		d.exit(func(x *ledger.Exit) { x.OverBudget, x.Code, x.CostUSD = true, 1, 1.8 })
		d.asked()
		d.settings.Hats = maps.Clone(d.settings.Hats) // the run has the others
		capHat(&d.settings, "builder", c.usd)
		d.input(StartRun{Settings: d.settings, MaxSessions: 1})
		if asks := len(d.s.Project.Questions) == 1; asks != c.asks {
			t.Errorf("%s: asked %+v", name, d.s.Project.Questions)
		}
	}
}
