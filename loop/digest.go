package loop

import (
	"regexp"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// DigestWindow is how late a digest may come and still be one. After that the
// next day's says that there was none (docs/spec 6.5).
const DigestWindow = 6 * time.Hour

// digestSpan is what the first digest looks at.
const digestSpan = 24 * time.Hour

// offLeast is how long nightporter has to be away before anybody is told of
// it: a restart is nobody's news. Who says so knows it to the minute.
const offLeast = 2 * time.Minute

// cameBack records an absence.
func (d *decision) cameBack(b CameBack) {
	if b.Off.IsZero() || d.in.Time.Sub(b.Off) < offLeast {
		d.refuse(ledger.CodeShort, "it was off for less than %s", plain(ledger.Duration(offLeast)))
		return
	}
	d.addShared(ledger.WasOff{From: b.Off, To: d.in.Time})
	d.answer.Code = ledger.CodeNoted
}

// digestDue decides whether the digest of a day is sent now. A day that was
// told of never comes again, whatever the clock and the zone do: the dates of
// digests only grow.
func (d *decision) digestDue(b DigestDue) {
	if _, err := time.Parse(time.DateOnly, b.Day); err != nil {
		d.refuse(ledger.CodeNoDay, "%q is no day; expected one like 2026-11-20", b.Day)
		return
	}
	if d.digestNow(b.Day, d.Shared.Digest.Day, b.At) {
		d.addShared(ledger.DigestSent{Day: b.Day, Meant: b.At, From: d.Shared.DigestFrom(b.At, d.in.Time), To: d.in.Time})
	}
}

// isoWeek is the form of a week's name.
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

// digestNow decides whether the digest of a day or a week, due at a time, is
// sent now. Their names grow with the time; last is that of the last one sent.
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
	d.answer = Answer{OK: true, Code: ledger.CodeSent, Text: "digest of " + name}
	return true
}

// DigestFrom is where the digest begins that is due at a time and sent now:
// where the last one ended.
func (h Shared) DigestFrom(at, now time.Time) time.Time {
	if last := h.Digest.To; !last.IsZero() && last.Before(now) {
		return last
	}
	return at.Add(-digestSpan) // the first one, or the clock was set back
}

// WeekDigestFrom is where the digest of a week begins that is due at a time and
// sent now: where the last one ended, if that was a week ago, so that nothing is
// told twice nor left out; else a week back. What longer absences left out is
// told by the days.
func (h Shared) WeekDigestFrom(at, now time.Time) time.Time {
	if last := h.Week.To; last.Before(now) && now.Sub(last) <= 7*24*time.Hour+2*DigestWindow {
		return last
	}
	return at.AddDate(0, 0, -7)
}
