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
