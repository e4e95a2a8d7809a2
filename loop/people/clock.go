package people

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// ClockJumped returns the state after the clock jumped to now (docs/spec 13.7).
// After a jump back, a pairing code is valid for no longer than before, and a
// digest of a day to come keeps out no digest but that of today.
func ClockJumped(s State, by time.Duration, now time.Time) State {
	if by >= 0 {
		return s
	}
	if s.Pairing != nil {
		p := *s.Pairing
		p.Until = p.Until.Add(by)
		s.Pairing = &p
	}
	if to := s.Digest.To; to.After(now.Add(digestSpan)) {
		s.Digest = ledger.DigestSent{Day: now.In(s.Digest.Meant.Location()).Format(time.DateOnly), Meant: now, From: now, To: now}
	}
	if to := s.Week.To; to.After(now.Add(7 * digestSpan)) {
		year, week := now.In(s.Week.Meant.Location()).ISOWeek()
		s.Week = ledger.WeekDigestSent{Week: fmt.Sprintf("%04d-W%02d", year, week), Meant: now, From: now, To: now}
	}
	return s
}
