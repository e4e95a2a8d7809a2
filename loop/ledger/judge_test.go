package ledger_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// settingsOf returns settings with a pattern of "FROM EVENT TO" routes. Hats
// named w… write and expect a pass, hats named n… write and expect nothing, and
// all others only read.
func settingsOf(routes ...string) ledger.Settings {
	s := ledger.Settings{Hats: map[string]ledger.Hat{}}
	for _, r := range routes {
		f := strings.Fields(r)
		s.Pattern.Routes = append(s.Pattern.Routes, ledger.Route{From: f[0], On: f[1], To: f[2]})
		hat := ledger.Hat{Name: f[0], Expect: ledger.ExpectNone}
		switch f[0][0] {
		case 'w':
			hat.WriteAllowed, hat.Expect = []string{"**"}, ledger.ExpectPass
		case 'n':
			hat.WriteAllowed = []string{"**"}
		}
		s.Hats[f[0]] = hat
	}
	s.Pattern.Start = s.Pattern.Routes[0].From
	return s
}

func TestJudges(t *testing.T) {
	always, final := []ledger.Command{{Run: "make test"}}, []ledger.Command{{Run: "make e2e", When: "final"}}
	for _, c := range []struct {
		name     string
		s        ledger.Settings
		judges   string // the hats that judge
		judged   string // the hats that write and are judged
		unproved string // without a verification command
		verified string // with one
	}{
		{"a builder alone", settingsOf("wb built converged"), "", "", "wb", ""},
		{"a planner is no judge", settingsOf("plan planned wb", "wb built converged"), "", "", "wb", ""},
		{"a planner that can end the task is none", settingsOf("plan planned wb", "plan trivial converged", "wb built converged"), "", "", "wb", ""},
		{"review and fix", settingsOf("wb built rev", "rev bad wf", "rev good converged", "wf fixed rev"), "rev", "wb wf", "", ""},
		{"the fix is not reviewed", settingsOf("wb built rev", "rev bad wf", "rev good converged", "wf fixed converged"), "", "", "wb", ""},
		{"writing after the review", settingsOf("wb built rev", "rev bad wb", "rev good wd", "wd written converged"), "rev", "wb", "wd", ""},
		{"a review that always goes on", settingsOf("wb built rev", "rev seen converged"), "", "", "wb", ""},
		{"a verifier behind the reviewer", settingsOf("wb built rev", "rev bad wb", "rev good ver", "ver no wb", "ver yes converged"), "rev ver", "wb", "", ""},
		{"a hat that expects nothing", settingsOf("nb built converged"), "", "", "nb", "nb"},
		{"its work is verified after the next hat", settingsOf("nb built wd", "wd written converged"), "", "", "nb", ""},
		{"a hat that expects nothing after one that is verified", settingsOf("wb built nd", "nd written converged"), "", "", "wb", "nd"},
	} {
		var judges, judged []string
		for _, r := range c.s.Pattern.Routes {
			switch hat := c.s.Hats[r.From]; {
			case strings.Contains(strings.Join(append(judges, judged...), " "), r.From):
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
		if got := c.s.UnprovedHat(); got != c.unproved {
			t.Errorf("%s: without a command nothing proves the work of %q, want %q", c.name, got, c.unproved)
		}
		if c.s.Verify = final; c.s.UnprovedHat() != c.unproved {
			t.Errorf("%s: a command of the final check proves a task", c.name)
		}
		c.s.Verify = always
		if got := c.s.UnprovedHat(); got != c.verified {
			t.Errorf("%s: with a command nothing proves the work of %q, want %q", c.name, got, c.verified)
		}
	}
}
