package bot

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestForetold: the end of a run says what was said before it and what came, where that
// was more than a guess.
func TestForetold(t *testing.T) {
	now := time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)
	said := ledger.Outlook{Total: 12, Done: 9, Low: 7, High: 11, By: now.Add(8 * time.Hour), USDLow: 11.2, USDHigh: 15.8, Unsure: "Task 8", Chance: 0.41, Basis: "project"}
	with := func(change func(*ledger.Outlook)) *ledger.Outlook {
		o := said
		change(&o)
		return &o
	}
	for _, c := range []struct {
		name string
		said *ledger.Outlook
		want string
	}{
		{"nothing was said", nil, ""},
		{"said", &said, "Said 9 (7–11) for $11–16, came 8"},
		{"cost unknown", with(func(o *ledger.Outlook) { o.USDLow, o.USDHigh = -1, -1 }), "Said 9 (7–11), came 8"},
		{"sure", with(func(o *ledger.Outlook) { o.Low, o.High = 9, 9 }), "Said 9 for $11–16, came 8"},
		{"a guess", with(func(o *ledger.Outlook) { o.Basis = "prior" }), ""},
		{"one task", with(func(o *ledger.Outlook) { o.Total = 1 }), ""},
	} {
		if got := Foretold(&loop.Run{Said: c.said, DoneIn: 8}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if Foretold(nil) != "" {
		t.Error("no run is foretold")
	}
	want := []string{"Done by about 07:10: 9 (7–11), $11–16.", "Least sure: #8 (41 %)."}
	if diff := cmp.Diff(want, outlookLines(&said, now)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	guess := outlookLines(with(func(o *ledger.Outlook) { o.Basis = "prior" }), now)
	if text := strings.Join(guess, "\n"); text != "A rough guess: 9 (7–11) by 07:10, $11–16." {
		t.Errorf("a guess reads as %q", text)
	}
}

// TestOutlookLimit: the question before a run, its start and the answer about a night name
// the window that will probably be used up, and who goes on.
func TestOutlookLimit(t *testing.T) {
	now := time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)
	o := ledger.Outlook{Total: 12, Done: 9, Low: 7, High: 11, By: now.Add(8 * time.Hour), USDLow: 11.2, USDHigh: 15.8, Basis: "project"}
	s := loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14"}}}
	for _, c := range []struct {
		limit ledger.OutlookLimit
		want  string
	}{
		{ledger.OutlookLimit{}, ""},
		{ledger.OutlookLimit{Agent: "claude", At: now.Add(4 * time.Hour), Then: "codex", Until: now.Add(6 * time.Hour)}, "claude's window ends at about 03:10, then codex"},
		{ledger.OutlookLimit{Agent: "claude", At: now.Add(4 * time.Hour), Until: now.Add(6 * time.Hour)}, "claude's window ends at about 03:10, then it waits until 05:10"},
		{ledger.OutlookLimit{Agent: "claude", At: now.Add(4 * time.Hour), Until: now.Add(60 * time.Hour)}, "claude's window ends at about 03:10, then it waits until Sun 11:10"},
	} {
		o.Limit = c.limit
		for _, basis := range []string{"project", "prior"} {
			o.Basis = basis
			for name, text := range map[string]string{
				"question": strings.Join(outlookLines(&o, now), "\n"),
				"night":    Night(s, &o, now).Text(200),
			} {
				if got := strings.Contains(text, "window"); got != (c.want != "") || !strings.Contains(text, c.want) {
					t.Errorf("%s, %s: %q is not in\n%s", name, basis, c.want, text)
				}
			}
		}
		o.Basis = "project"
		if text := Started(s, ledger.RunStarted{Tasks: 12, Outlook: &o}, 0, now).Text(200); !strings.Contains(text, c.want) || strings.Contains(text, "window") != (c.want != "") {
			t.Errorf("started: %q is not in\n%s", c.want, text)
		}
	}
}

// TestRetold: people read what is another thing than they were told first, and the status
// keeps it.
func TestRetold(t *testing.T) {
	now := time.Date(2026, 11, 20, 1, 12, 0, 0, time.UTC)
	told := ledger.Outlook{Total: 12, Done: 9, Low: 7, High: 11, By: now.Add(6 * time.Hour), USDLow: 11, USDHigh: 16, Basis: "project"}
	with := func(done, low, high int, usdLow, usdHigh float64) ledger.Outlook {
		o := told
		o.Done, o.Low, o.High, o.USDLow, o.USDHigh = done, low, high, usdLow, usdHigh
		return o
	}
	s := loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14", State: ledger.RunRunning, Said: &told}}}
	for _, c := range []struct {
		name string
		is   ledger.Outlook
		want string
	}{
		{"fewer", with(5, 4, 6, 10, 15), "shop forecast: 5 (4–6), not 9\nAt 01:12, by about 07:12: $10–15\n"},
		{"fewer, and cheaper", with(5, 4, 6, 5, 8), "shop forecast: 5 (4–6), not 9\nAt 01:12, by about 07:12: $5.00–8.00, not $11–16\n"},
		{"dearer", with(8, 7, 9, 20, 24), "shop forecast: $20–24, not $11–16\nAt 01:12, by about 07:12: 8 (7–9) done\n"},
		{"a cost that is unknown now", with(5, 4, 6, -1, -1), "shop forecast: 5 (4–6), not 9\nAt 01:12, by about 07:12: cost unknown\n"},
	} {
		if text := Retold(s, told, c.is, now).Text(200); !strings.HasPrefix(strings.TrimSpace(text), c.want) {
			t.Errorf("%s:\n%s", c.name, text)
		}
	}
	line := "forecast 01:12: 5 (4–6) by 07:12"
	if text := Status(s, now).Text(200); strings.Contains(text, "forecast") {
		t.Errorf("nothing else was told:\n%s", text)
	}
	s.Project.Run.Retold = &loop.RetoldOutlook{Outlook: with(5, 4, 6, 10, 15), At: now}
	if text := Status(s, now.Add(time.Hour)).Text(200); !strings.Contains(text, line) {
		t.Errorf("%q is not in\n%s", line, text)
	}
	s.Project.Run.DoneIn = 5
	if got := Foretold(s.Project.Run); got != "Said 9 (7–11) for $11–16, came 5" {
		t.Errorf("the end compares with what was said first: %s", got)
	}
}
