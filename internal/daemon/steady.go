package daemon

import "time"

// steadyTime is the time against which the age of what is removed for good is
// measured. The machine's clock alone would not do: one that is a year ahead for a
// moment, as before the network has set it, makes everything old. A steadyTime begins
// when nightporter last ran, and gains at most as much again as has passed since, for
// the time that the machine sleeps or nightporter is off. The zero value is not valid.
type steadyTime struct {
	begun time.Time // with a monotonic reading
	known time.Time // what counts as the time of begun
}

// newSteadyTime begins at now. off is when nightporter last ran, zero for never.
func newSteadyTime(off, now time.Time) steadyTime {
	if off.IsZero() || now.Before(off) {
		off = now
	}
	return steadyTime{begun: now, known: off}
}

// at returns the steady time when the clock shows now.
func (s steadyTime) at(now time.Time) time.Time {
	if steady := s.known.Add(2 * now.Sub(s.begun)); steady.Before(now) {
		return steady
	}
	return now
}
