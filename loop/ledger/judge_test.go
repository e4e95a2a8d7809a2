package ledger_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// settingsOf returns settings with a pattern of "FROM EVENT TO" routes. Hats
// named w… write, and all others only read.
func settingsOf(routes ...string) ledger.Settings {
	s := ledger.Settings{Hats: map[string]ledger.Hat{}}
	for _, r := range routes {
		f := strings.Fields(r)
		s.Pattern.Routes = append(s.Pattern.Routes, ledger.Route{From: f[0], On: f[1], To: f[2]})
		hat := ledger.Hat{Name: f[0]}
		if f[0][0] == 'w' {
			hat.WriteAllowed = []string{"**"}
		}
		s.Hats[f[0]] = hat
	}
	s.Pattern.Start = s.Pattern.Routes[0].From
	return s
}

func TestJudges(t *testing.T) {
	for _, c := range []struct {
		name     string
		s        ledger.Settings
		judges   string // the hats that judge
		judged   string // the hats that write and are judged
		unproved string // the hat that is named without a verification command
	}{
		{"a builder alone", settingsOf("wb built converged"), "", "", "wb"},
		{"a planner is no judge", settingsOf("plan planned wb", "wb built converged"), "", "", "wb"},
		{"a planner that can end the task is none", settingsOf("plan planned wb", "plan trivial converged", "wb built converged"), "", "", "wb"},
		{"review and fix", settingsOf("wb built rev", "rev bad wf", "rev good converged", "wf fixed rev"), "rev", "wb wf", ""},
		{"the fix is not reviewed", settingsOf("wb built rev", "rev bad wf", "rev good converged", "wf fixed converged"), "", "", "wb"},
		{"writing after the review", settingsOf("wb built rev", "rev bad wb", "rev good wd", "wd written converged"), "rev", "wb", "wd"},
		{"a review that always goes on", settingsOf("wb built rev", "rev seen converged"), "", "", "wb"},
		{"a verifier behind the reviewer", settingsOf("wb built rev", "rev bad wb", "rev good ver", "ver no wb", "ver yes converged"), "rev ver", "wb", ""},
		{"a hat that no route leads to", settingsOf("wb built rev", "rev bad wb", "rev good converged", "wx idle converged"), "rev", "wb", ""},
	} {
		var judges, judged []string
		for _, r := range c.s.Pattern.Routes {
			switch hat := c.s.Hats[r.From]; {
			case slices.Contains(judges, r.From) || slices.Contains(judged, r.From):
			case c.s.Judges(r.From):
				judges = append(judges, r.From)
			case hat.Writes() && c.s.JudgedAfter(r.From):
				judged = append(judged, r.From)
			}
		}
		if got := strings.Join(judges, " "); got != c.judges {
			t.Errorf("%s: %q judge, want %q", c.name, got, c.judges)
		}
		if got := strings.Join(judged, " "); got != c.judged {
			t.Errorf("%s: %q are judged, want %q", c.name, got, c.judged)
		}
		f, unproved := c.s.Unproved()
		if unproved != (c.unproved != "") || !strings.HasSuffix(f.Text, c.unproved) || unproved && f.Remedy == "" {
			t.Errorf("%s: unproved %v, %+v, want that of %q", c.name, unproved, f, c.unproved)
		}
		allowed, verified := c.s, c.s
		allowed.AllowUnproved, verified.Verify = true, []ledger.Command{{Run: "make e2e", When: "final"}}
		for _, s := range []ledger.Settings{allowed, verified} {
			if f, unproved := s.Unproved(); unproved {
				t.Errorf("%s: allowed %v, verified by %v, and %+v", c.name, s.AllowUnproved, s.Verify, f)
			}
		}
	}
}
