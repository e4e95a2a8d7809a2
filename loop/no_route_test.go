package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestNoRoute: a run with lanes ends when an event has no route.
func TestNoRoute(t *testing.T) {
	d := playing(t, "set parallel=2 pattern=unrouted", "tasks 1", "go quiet", "build", "greens", "failed")
	if r := d.s.Project.Run; !r.Over() || r.Ended.Reason != ledger.ReasonInternal {
		t.Errorf("the run is %s, finishing %+v", r.State, r.Finishing)
	}
}
