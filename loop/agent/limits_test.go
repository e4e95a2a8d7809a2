package agent

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestStoppedSupervisor checks that a supervisor that was stopped for an hour, or
// whose machine was frozen, ends no session for the silence of that hour, and that
// it does for a silence that it saw.
func TestStoppedSupervisor(t *testing.T) {
	const stall = 15 * time.Minute
	s := &supervisor{folder: t.TempDir(), spec: spec{State: t.TempDir(), Stall: ledger.Duration(stall)}}
	s.spec.Timing.Check, s.spec.Timing.Abandon = ledger.Duration(10*time.Second), ledger.Duration(30*time.Minute)
	l := newLimits(s)
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }

	l.lastSign, l.looked, l.daemonGoneSince = ago(time.Hour+time.Minute), ago(time.Hour), ago(time.Hour+time.Minute)
	if why, text := l.check(0); why != "" {
		t.Errorf("ended after it was stopped: %s, %s", why, text)
	}
	l = newLimits(s)
	l.cpu = 1 << 60 // no CPU that counts
	l.lastSign, l.looked = ago(stall+time.Minute), ago(10*time.Second)
	if why, _ := l.check(0); why != ledger.ExitStall {
		t.Errorf("a session without a sign of life: %q", why)
	}
	l = newLimits(s)
	l.looked, l.daemonGoneSince = ago(10*time.Second), ago(31*time.Minute)
	if why, _ := l.check(0); why != ledger.ExitAbandoned {
		t.Errorf("a session without a daemon: %q", why)
	}
}

// TestIdle: the CPU time that an agent's program uses while it only waits for its model is
// no sign of life, and more than that is one.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		output string
		used   time.Duration
		busy   bool
	}{
		{adapter.Opencode, 200 * time.Millisecond, false}, // it was measured with 150
		{adapter.Opencode, time.Second, true},
		{adapter.Codex, 50 * time.Millisecond, false},
		{adapter.Codex, 200 * time.Millisecond, true},
		{"", 200 * time.Millisecond, true}, // a command
	} {
		l := newLimits(&supervisor{spec: spec{Output: c.output}})
		if got := l.busy(c.used, 10*time.Second); got != c.busy {
			t.Errorf("%q that used %s in 10 s is busy: %v", c.output, c.used, got)
		}
	}
}
