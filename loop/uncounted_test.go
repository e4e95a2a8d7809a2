package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUncounted: people are told once that an agent's figures are unknown, by whatever
// many sessions, and again only after a session of it was counted.
func TestUncounted(t *testing.T) {
	d := playing(t, "set pattern=single", "tasks 1 2 3 4", "go quiet")
	for n, c := range []struct {
		uncounted bool
		tokens    int64
		told      bool // unknown from here on, or no longer
		unknown   bool
	}{
		{false, 1000, false, false},
		{true, -1, true, true},
		{true, -1, false, true},
		{false, -1, false, true}, // cut off: nothing is known of how it counts
		{false, 1000, true, false},
		{true, -1, true, true},
	} {
		if d.s.Project.Run.Over() {
			t.Fatalf("the run is over before exit %d\n%s", n, d.out.String())
		}
		d.out.Reset()
		d.exit(func(x *ledger.Exit) { x.Uncounted, x.Tokens = c.uncounted, c.tokens })
		told := strings.Count(d.out.String(), "agent.uncounted")
		if told != map[bool]int{true: 1}[c.told] || d.s.Shared.Uncounted["claude"] != c.unknown {
			t.Errorf("exit %d: told %d times, unknown %v\n%s", n, told, d.s.Shared.Uncounted, d.out.String())
		}
	}
}
