package people

import (
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// DigestWindow limits the delay of a digest. A later one is left out, and the next
// day's digest says so (docs/spec 6.5).
const DigestWindow = 6 * time.Hour

// digestSpan is the time that the first digest covers.
const digestSpan = 24 * time.Hour

// offLeast is the shortest absence that people are told of; a restart is not worth a
// message. The start of an absence is known to about a minute.
const offLeast = 2 * time.Minute

// decide records the time that the daemon was off, unless that was too short.
func (b CameBack) decide(d *decision) {
	if b.Off.IsZero() || d.now.Sub(b.Off) < offLeast {
		d.refuse(ledger.CodeShort, "it was off for less than %s", ledger.Duration(offLeast))
		return
	}
	d.add(ledger.WasOff{From: b.Off, To: d.now})
	d.accept(ledger.CodeNoted, "")
}

// decide decides whether the digest of a day is sent now. The dates of digests only
// grow, so no day gets a second digest if the clock or the time zone is set back.
func (b DigestDue) decide(d *decision) {
	if _, err := time.Parse(time.DateOnly, b.Day); err != nil {
		d.refuse(ledger.CodeNoDay, "%q is no day; expected one like 2026-11-20", b.Day)
		return
	}
	if d.digestNow(b.Day, d.Digest.Day, b.At) {
		d.add(ledger.DigestSent{Day: b.Day, Meant: b.At, From: d.DigestFrom(b.At, d.now), To: d.now})
	}
}

// isoWeek matches the name of a week, such as 2026-W47.
var isoWeek = regexp.MustCompile(`^[0-9]{4}-W[0-5][0-9]$`)

// decide is that of DigestDue for the digest of a week.
func (b WeekDigestDue) decide(d *decision) {
	if !isoWeek.MatchString(b.Week) {
		d.refuse(ledger.CodeNoWeek, "%q is no week; expected one like 2026-W47", b.Week)
		return
	}
	if d.digestNow(b.Week, d.Week.Week, b.At) {
		d.add(ledger.WeekDigestSent{Week: b.Week, Meant: b.At, From: d.WeekDigestFrom(b.At, d.now), To: d.now})
	}
}

// digestNow reports whether the digest of a day or week is sent now, and sets the
// answer. name is its date or week, which sorts in order of time; last is the name
// of the last digest sent, and at the time when this one was due.
func (d *decision) digestNow(name, last string, at time.Time) bool {
	switch {
	case name <= last:
		d.refuse(ledger.CodeSent, "the digest of %s is sent", last)
	case d.now.Before(at):
		d.refuse(ledger.CodeEarly, "the digest of %s is not due yet", name)
	case d.now.Sub(at) >= DigestWindow:
		d.refuse(ledger.CodeLate, "the digest of %s is %s late, and left out", name, ledger.Duration(d.now.Sub(at).Round(time.Minute)))
	default:
		d.accept(ledger.CodeSent, "digest of "+name)
		return true
	}
	return false
}

// DigestFrom returns the start of the time covered by a digest that is due at one
// time and sent now. That is the end of the last digest, or 24 hours before at if
// there was none.
func (s State) DigestFrom(at, now time.Time) time.Time {
	if last := s.Digest.To; !last.IsZero() && last.Before(now) {
		return last
	}
	return at.Add(-digestSpan) // the first digest, or the clock was set back
}

// WeekDigestFrom returns the start of the time covered by a week's digest that is due
// at one time and sent now. That is the end of the last one, so that no time is
// covered twice or left out. If there is none within about a week, it is seven days
// before at; the digests of days cover the rest.
func (s State) WeekDigestFrom(at, now time.Time) time.Time {
	if last := s.Week.To; last.Before(now) && now.Sub(last) <= 7*24*time.Hour+2*DigestWindow {
		return last
	}
	return at.AddDate(0, 0, -7)
}
