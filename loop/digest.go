package loop

import "time"

// DigestWindow is how late a digest may come and still be one. After that the
// next day's says that there was none (SPEC 6.5).
const DigestWindow = 6 * time.Hour

// digestSpan is what the first digest looks at.
const digestSpan = 24 * time.Hour

// offLeast is how long nightporter has to be away before anybody is told of
// it: a restart is nobody's news. Who says so knows it to the minute.
const offLeast = 2 * time.Minute

// cameBack records an absence.
func (d *decision) cameBack(b CameBack) {
	if b.Off.IsZero() || d.in.Time.Sub(b.Off) < offLeast {
		d.refuse("short", "it was off for less than %s", plain(Duration(offLeast)))
		return
	}
	d.house(WasOff{From: b.Off, To: d.in.Time})
	d.answer.Code = "noted"
}

// digestDue decides whether the digest of a day is sent now. A day that was
// told of never comes again, whatever the clock and the zone do: the dates of
// digests only grow.
func (d *decision) digestDue(b DigestDue) {
	last := d.House.Digest
	switch _, err := time.Parse(time.DateOnly, b.Day); {
	case err != nil:
		d.refuse("no day", "%q is no day; expected one like 2026-11-20", b.Day)
		return
	case b.Day <= last.Day:
		d.refuse("sent", "the digest of %s is sent", last.Day)
		return
	case d.in.Time.Before(b.At):
		d.refuse("early", "the digest of %s is not due yet", b.Day)
		return
	case d.in.Time.Sub(b.At) >= DigestWindow:
		d.refuse("late", "the digest of %s is %s late; the next one says so", b.Day, plain(Duration(d.in.Time.Sub(b.At).Round(time.Minute))))
		return
	}
	d.house(DigestSent{Day: b.Day, Meant: b.At, From: d.House.DigestFrom(b.At, d.in.Time), To: d.in.Time})
	d.answer = Answer{OK: true, Code: "sent", Text: "digest of " + b.Day}
}

// DigestFrom is where the digest begins that is due at a time and sent now:
// where the last one ended.
func (h House) DigestFrom(at, now time.Time) time.Time {
	if last := h.Digest.To; !last.IsZero() && last.Before(now) {
		return last
	}
	return at.Add(-digestSpan) // the first one, or the clock was set back
}

// Missed returns the days without a digest between this one and the one that
// was sent before it, "" where that is not known: at most the last seven.
func (b DigestSent) Missed(last string) []string {
	day, err := time.Parse(time.DateOnly, b.Day)
	if err != nil {
		return nil
	}
	since, err := time.Parse(time.DateOnly, last)
	if err != nil {
		return nil
	}
	var out []string
	for n := 7; n >= 1; n-- {
		if d := day.AddDate(0, 0, -n); d.After(since) {
			out = append(out, d.Format(time.DateOnly))
		}
	}
	return out
}
