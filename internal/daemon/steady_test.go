package daemon

import (
	"testing"
	"time"
)

// TestSteadyTime: a clock that is far ahead makes nothing old, and one that was right
// is caught up with.
func TestSteadyTime(t *testing.T) {
	begun := time.Now()
	day := 24 * time.Hour
	for _, c := range []struct {
		why        string
		off        time.Duration // before begun, by the clock
		after      time.Duration // that passed since
		clock      time.Duration // by which the clock is ahead of that
		atLeast    time.Duration // after begun
		atMost     time.Duration
		neverBegan bool
	}{
		{why: "the first start", neverBegan: true},
		{why: "a year ahead at the start", off: 365 * day, after: time.Minute, atLeast: -365 * day, atMost: -365*day + time.Hour},
		{why: "a year ahead later", off: time.Hour, after: day, clock: 365 * day, atLeast: day, atMost: 2 * day},
		{why: "a week off, and a week on", off: 7 * day, after: 7 * day, atLeast: 7 * day, atMost: 7 * day},
		{why: "set back since the last run", off: -day, after: time.Hour, atLeast: time.Hour, atMost: time.Hour},
		{why: "set back while it runs", off: time.Hour, after: day, clock: -10 * day, atLeast: -9 * day, atMost: -9 * day},
	} {
		off := begun.Add(-c.off)
		if c.neverBegan {
			off = time.Time{}
		}
		s := newSteadyTime(off, begun)
		// The clock and the time that passed differ where the clock was set.
		clock := begun.Add(c.after).Round(0).Add(c.clock)
		s.begun = s.begun.Round(0).Add(c.clock)
		if got := s.at(clock).Sub(begun.Round(0)); got < c.atLeast || got > c.atMost {
			t.Errorf("%s: %v after the start, want %v to %v", c.why, got, c.atLeast, c.atMost)
		}
	}
}
