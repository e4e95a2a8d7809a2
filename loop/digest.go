package loop

import (
	"regexp"
	"time"

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

// cameBack records the time that the daemon was off, unless that was too short.
func (d *decision) cameBack(b CameBack) {
	if b.Off.IsZero() || d.in.Time.Sub(b.Off) < offLeast {
		d.refuse(ledger.CodeShort, "it was off for less than %s", plain(ledger.Duration(offLeast)))
		return
	}
	d.addShared(ledger.WasOff{From: b.Off, To: d.in.Time})
	d.answer.Code = ledger.CodeNoted
}

// digestDue decides whether the digest of a day is sent now. The dates of digests
// only grow, so no day gets a second digest if the clock or the time zone is set
// back.
func (d *decision) digestDue(b DigestDue) {
	if _, err := time.Parse(time.DateOnly, b.Day); err != nil {
		d.refuse(ledger.CodeNoDay, "%q is no day; expected one like 2026-11-20", b.Day)
		return
	}
	if d.digestNow(b.Day, d.Shared.Digest.Day, b.At) {
		d.addShared(ledger.DigestSent{Day: b.Day, Meant: b.At, From: d.Shared.DigestFrom(b.At, d.in.Time), To: d.in.Time})
	}
}

// isoWeek matches the name of a week, such as 2026-W47.
var isoWeek = regexp.MustCompile(`^[0-9]{4}-W[0-5][0-9]$`)

// weekDigestDue is digestDue for the digest of a week.
func (d *decision) weekDigestDue(b WeekDigestDue) {
	if !isoWeek.MatchString(b.Week) {
		d.refuse(ledger.CodeNoWeek, "%q is no week; expected one like 2026-W47", b.Week)
		return
	}
	if d.digestNow(b.Week, d.Shared.Week.Week, b.At) {
		d.addShared(ledger.WeekDigestSent{Week: b.Week, Meant: b.At, From: d.Shared.WeekDigestFrom(b.At, d.in.Time), To: d.in.Time})
	}
}

// digestNow reports whether the digest of a day or week is sent now, and sets the
// answer. name is its date or week, which sorts in order of time; last is the name
// of the last digest sent, and at the time when this one was due.
func (d *decision) digestNow(name, last string, at time.Time) bool {
	switch {
	case name <= last:
		d.refuse(ledger.CodeSent, "the digest of %s is sent", last)
		return false
	case d.in.Time.Before(at):
		d.refuse(ledger.CodeEarly, "the digest of %s is not due yet", name)
		return false
	case d.in.Time.Sub(at) >= DigestWindow:
		d.refuse(ledger.CodeLate, "the digest of %s is %s late, and left out", name, plain(ledger.Duration(d.in.Time.Sub(at).Round(time.Minute))))
		return false
	}
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeSent, Text: "digest of " + name}
	return true
}

// DigestFrom returns the start of the time covered by a digest that is due at one
// time and sent now. That is the end of the last digest, or 24 hours before at if
// there was none.
func (h Shared) DigestFrom(at, now time.Time) time.Time {
	if last := h.Digest.To; !last.IsZero() && last.Before(now) {
		return last
	}
	return at.Add(-digestSpan) // the first digest, or the clock was set back
}

// WeekDigestFrom returns the start of the time covered by a week's digest that is due
// at one time and sent now. That is the end of the last one, so that no time is
// covered twice or left out. If there is none within about a week, it is seven days
// before at; the digests of days cover the rest.
func (h Shared) WeekDigestFrom(at, now time.Time) time.Time {
	if last := h.Week.To; last.Before(now) && now.Sub(last) <= 7*24*time.Hour+2*DigestWindow {
		return last
	}
	return at.AddDate(0, 0, -7)
}
