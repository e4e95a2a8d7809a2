package loop

import (
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
