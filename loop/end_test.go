package loop

import (
	"testing"
	"time"
)

// An end without a turn within ten seconds makes an agent unusable, unless the
// agent named what went wrong: an overloaded provider refuses the very first
// request, and nobody has to do anything about it.
func TestClassifyEarlyEnd(t *testing.T) {
	began := time.Unix(1795190000, 0)
	for _, c := range []struct {
		trouble Trouble
		turns   int
		took    time.Duration
		want    End
	}{
		{"", 0, 2 * time.Second, EndUnusable},
		{"", 0, 11 * time.Second, EndSilent},
		{"", 1, 2 * time.Second, EndSilent},
		{"", -1, 2 * time.Second, EndSilent},
		{TroubleNetwork, 0, 2 * time.Second, EndNetwork},
		{TroubleLimit, 0, 2 * time.Second, EndLimit},
		{TroubleAuth, 3, time.Minute, EndUnusable},
	} {
		x := Exit{Why: WhyExited, Code: 1, Trouble: c.trouble, Turns: c.turns, Started: began, Ended: began.Add(c.took)}
		if got, _ := Classify(x, false, false); got != c.want {
			t.Errorf("%q, %d turns, %s: %s, want %s", c.trouble, c.turns, c.took, got, c.want)
		}
	}
}
