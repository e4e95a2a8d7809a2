package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/guidance"
)

// TestGuidanceFits: 16k tokens a session; the rest stays queued, in order.
func TestGuidanceFits(t *testing.T) {
	d := playing(t, "tasks 1 2<1", "go quiet")
	words := strings.Repeat("word ", 799) + "end." // 3,999 characters
	for range 20 {
		d.play("/guidance " + words)
	}
	d.play("plan")
	bound := d.session().Planned.Guidance.Bound
	if len(bound) != 13 || bound[0] != "g1" || bound[12] != "g13" {
		t.Fatalf("bound %v", bound)
	}
	d.play("/guidance short")
	d.play("exit stall")
	if again := d.session().Planned.Guidance.Bound; len(again) != 13 || again[12] != "g13" {
		t.Errorf("the session that replaces it has %v", again)
	}
	for _, i := range d.s.Project.Guidance.Items[13:] {
		if i.State != guidance.Queued {
			t.Errorf("%s is %s", i.ID, i.State)
		}
	}
}
