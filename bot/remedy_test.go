package bot

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestRemedy: a login is advised for an agent that is logged out, not for one whose
// program is gone: nightporter can log in few of them.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		why       ledger.FailureClass
		loggedOut bool
		want      string
	}{
		{ledger.FailureAuth, true, "On the host: nightporter login mine."},
		{ledger.FailureAuth, false, "On the host: nightporter doctor."},
		{ledger.FailureLimit, false, "Look at the limit of its account."},
	} {
		if got := remedy("mine", c.why, c.loggedOut); got != c.want {
			t.Errorf("%s, logged out %v: %q", c.why, c.loggedOut, got)
		}
	}
}
