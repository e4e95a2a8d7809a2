package loop

import (
	"fmt"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUndoneIsBounded checks that a session that installs packages into a
// folder that is not ignored fills neither the ledger nor the state, and does
// not stop the run.
func TestUndoneIsBounded(t *testing.T) {
	d := newDirector(t, "undone")
	var outside []string
	for n := range 20_000 {
		outside = append(outside, fmt.Sprintf("web/node_modules/package-%05d/index.js", n))
	}
	for _, line := range []string{"tasks 1", "go quiet", "plan", "build", "greens", "issues major:r", "fix", "greens"} {
		if line == "build" || line == "fix" {
			d.taken.Outside = outside
		}
		d.play(line)
	}
	if size := len(mustJSON(t, d.s)); size > 200<<10 {
		t.Errorf("the state has %d kB", size>>10)
	}
	if len(d.s.Project.Questions) != 1 {
		t.Fatalf("questions %v, want one", d.s.Project.Questions)
	}
	if q := d.s.Project.Questions[0]; q.Kind != ledger.AskAllow || len(q.Paths) > maxUndone || len(q.Text) > 2000 {
		t.Errorf("%s %s asks about %d paths in %d characters", q.ID, q.Kind, len(q.Paths), len(q.Text))
	}
}
