package loop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestTwentySessions: an attempt that only asks ends, too (docs/spec 2.5).
func TestTwentySessions(t *testing.T) {
	d := playing(t, "tasks 1 2<1", "go quiet")
	for n := range ledger.MaxSessions {
		if d.s.Project.Tasks.At(0).Attempts != 1 {
			t.Fatalf("attempt %d after %d sessions", d.s.Project.Tasks.At(0).Attempts, n)
		}
		d.play(fmt.Sprintf(`ask {"text":"which %d?","options":["x"],"choice":"x"}`, n))
		d.play(fmt.Sprintf("/answer q%d a", n+1))
	}
	if got := d.s.Project.Tasks.At(0); got.Attempts != 2 || got.Failed != 1 || !strings.Contains(got.LastFail, "20 sessions") {
		t.Errorf("after 20 sessions: %+v", got)
	}
}
