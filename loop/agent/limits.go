package agent

import (
	"fmt"
	"os"
	"time"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// limits checks a session at intervals: whether it shows signs of life, and
// whether a daemon is running.
type limits struct {
	s               *supervisor
	lastSign        time.Time // last sign of life
	bytes           int64
	touch           time.Time
	cpu             uint64
	looked          time.Time
	idle            float64   // share of one processor below which CPU use is no sign of life
	daemonGoneSince time.Time // since when no daemon is running; zero while one is
}

func newLimits(s *supervisor) *limits {
	now := time.Now()
	idle := adapter.IdleWaits
	if a := adapter.FindOutput(s.spec.Output); a != nil {
		idle = a.Idle
	}
	return &limits{s: s, lastSign: now, looked: now, idle: idle}
}

// interval returns the time between two checks, which is short compared with
// the limits.
func (l *limits) interval() time.Duration {
	d := l.s.spec.Timing.Check.D()
	for _, limit := range []ledger.Duration{l.s.spec.Stall, l.s.spec.Timing.Abandon} {
		if q := limit.D() / 4; q > 0 {
			d = min(d, q)
		}
	}
	return max(d, time.Millisecond)
}

// tick is the unit of CPU times in /proc: USER_HZ, which is 100 on every Linux.
const tick = 10 * time.Millisecond

// skip leaves out a time in which this process was stopped, and so maybe all of the
// session: what happened in it is seen only after the next check.
func (l *limits) skip(since time.Duration) {
	missed := since - 4*l.interval()
	if missed <= 0 {
		return
	}
	l.lastSign = l.lastSign.Add(missed)
	if !l.daemonGoneSince.IsZero() {
		l.daemonGoneSince = l.daemonGoneSince.Add(missed)
	}
}

// busy reports whether CPU time that was used since the last check is a sign of life.
func (l *limits) busy(used, since time.Duration) bool {
	return used >= max(2*tick, time.Duration(l.idle*float64(since)))
}

// check returns the reason to end the session now, or "". cpu are the ticks that it has
// used.
func (l *limits) check(cpu uint64) (ledger.ExitReason, string) {
	now := time.Now()
	l.skip(now.Sub(l.looked))
	if n := l.s.printed.Load(); n != l.bytes {
		l.bytes, l.lastSign = n, now
	}
	if fi, err := os.Stat(l.s.path(fileTouch)); err == nil && !fi.ModTime().Equal(l.touch) {
		l.touch, l.lastSign = fi.ModTime(), now
	}
	if l.s.spec.Stall > 0 {
		if cpu > l.cpu && l.busy(time.Duration(cpu-l.cpu)*tick, now.Sub(l.looked)) {
			l.lastSign = now
		}
		l.cpu = cpu
		if quiet := now.Sub(l.lastSign); quiet >= l.s.spec.Stall.D() {
			return ledger.ExitStall, fmt.Sprintf("no output, no hat call and no CPU for %s", quiet.Round(time.Second))
		}
	}
	l.looked = now
	if daemonLives(l.s.spec.State) {
		l.daemonGoneSince = time.Time{}
		return "", ""
	}
	if l.daemonGoneSince.IsZero() {
		l.daemonGoneSince = now
	}
	if alone := now.Sub(l.daemonGoneSince); alone >= l.s.spec.Timing.Abandon.D() {
		return ledger.ExitAbandoned, fmt.Sprintf("no nightporter for %s", alone.Round(time.Second))
	}
	return "", ""
}
