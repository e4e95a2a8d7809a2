package people

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

var daemon = Sender{Actor: "daemon"}

// fold returns the state after entries of one time.
func fold(s State, at time.Time, bodies []ledger.Body) State {
	for _, b := range bodies {
		s = Apply(s, ledger.Entry{Stream: ledger.SharedStream, Time: at, Body: b})
	}
	return s
}

// TestDigestOnce: a day has one digest, whatever says how often that it is
// due: restarts, clocks that are set back, zones that change, days off.
func TestDigestOnce(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, berlin) }
	var s State
	var sent []ledger.DigestSent
	for n, c := range []struct {
		now  time.Time
		day  string
		at   time.Time
		code ledger.AnswerCode
	}{
		{at(20, 7, 29), "2026-11-20", at(20, 7, 30), "early"},
		{at(20, 7, 30), "2026-11-20", at(20, 7, 30), "sent"},
		{at(20, 7, 31), "2026-11-20", at(20, 7, 30), "again"},
		{at(20, 6, 0), "2026-11-20", at(20, 5, 0), "again"},    // the clock was set back, and the hour changed
		{at(20, 23, 0), "2026-11-19", at(19, 23, 0), "again"},  // flown west: that date was here
		{at(21, 13, 30), "2026-11-21", at(21, 7, 30), "late"},  // nightporter was off till noon
		{at(22, 13, 29), "2026-11-22", at(22, 7, 30), "sent"},  // just within the window
		{at(26, 8, 0), "2026-11-26", at(26, 7, 30), "sent"},    // off for days
		{at(26, 8, 0), "tomorrow", at(26, 7, 30), "no day"},    //
		{at(26, 8, 1), "2026-11-27", at(26, 8, 0), "sent"},     // flown east over the date line
		{at(26, 12, 0), "2026-11-26", at(26, 11, 0), "again"},  // and back
		{at(28, 7, 30), "2026-11-28", at(28, 7, 30), "sent"},   //
		{at(28, 7, 30), "2026-11-28", time.Time{}, "again"},    //
		{at(29, 9, 30), "2026-11-29", at(29, 10, 30), "early"}, // at was moved to a later hour
	} {
		d := Decide(s, c.now, daemon, DigestDue{Day: c.day, At: c.at})
		code := d.Answer.Code
		if !d.Answer.OK && code == "sent" {
			code = "again"
		}
		if code != c.code {
			t.Errorf("%d: at %v for %s: %s (%s), want %s", n, c.now, c.day, code, d.Answer.Text, c.code)
		}
		if (len(d.Entries) > 0) != (c.code == "sent") {
			t.Errorf("%d: entries %+v", n, d.Entries)
		}
		for _, e := range d.Entries {
			sent = append(sent, e.(ledger.DigestSent))
		}
		s = fold(s, c.now, d.Entries)
	}
	for n := 1; n < len(sent); n++ { // no moment is left out, none told twice
		if !sent[n].From.Equal(sent[n-1].To) {
			t.Errorf("%s looks from %v, and %s up to %v", sent[n].Day, sent[n].From, sent[n-1].Day, sent[n-1].To)
		}
	}
	if got := sent[0].From; !got.Equal(at(19, 7, 30)) {
		t.Errorf("the first one looks from %v", got)
	}
	if diff := cmp.Diff([]string{"2026-11-23", "2026-11-24", "2026-11-25"}, sent[2].Missed(sent[1].Day)); diff != "" {
		t.Errorf("days without one (-want +got):\n%s", diff)
	}
	if got := sent[0].Missed(""); got != nil {
		t.Errorf("before the first one: %v", got)
	}
}

// TestWeekDigestOnce: the same of weeks, which are those of ISO 8601; each looks
// from where the last one ended, or over seven days.
func TestWeekDigestOnce(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day, hour, minute int) time.Time {
		return time.Date(2026, month, day, hour, minute, 0, 0, berlin)
	}
	var s State
	for n, c := range []struct {
		now  time.Time
		week string
		at   time.Time
		code ledger.AnswerCode
		from time.Time
	}{
		{at(10, 19, 7, 59), "2026-W43", at(10, 19, 8, 0), "early", time.Time{}},
		{at(10, 19, 8, 0), "2026-W43", at(10, 19, 8, 0), "sent", at(10, 12, 8, 0)},
		{at(10, 19, 8, 1), "2026-W43", at(10, 19, 8, 0), "again", time.Time{}},
		{at(10, 25, 8, 1), "2026-W43", at(10, 25, 8, 0), "again", time.Time{}},       // moved to Sundays
		{at(10, 26, 13, 59), "2026-W44", at(10, 26, 8, 0), "sent", at(10, 19, 8, 0)}, // the clocks changed; late
		{at(11, 2, 14, 0), "2026-W45", at(11, 2, 8, 0), "late", time.Time{}},         // off
		{at(11, 16, 8, 0), "2026-W47", at(11, 16, 8, 0), "sent", at(11, 9, 8, 0)},    // seven days, not three weeks
		{at(11, 9, 8, 0), "2026-W46", at(11, 9, 8, 0), "again", time.Time{}},         // the clock was set back
		{at(11, 23, 8, 0), "2026-W48 ", at(11, 23, 8, 0), "no week", time.Time{}},    //
		{at(12, 31, 8, 0), "2026-W53", at(12, 31, 8, 0), "sent", at(12, 24, 8, 0)},   //
		{at(12, 38, 8, 0), "2027-W01", at(12, 38, 8, 0), "sent", at(12, 31, 8, 0)},   // 7 January
		{at(12, 38, 8, 0), "2027-W01", time.Time{}, "again", time.Time{}},            //
	} {
		d := Decide(s, c.now, daemon, WeekDigestDue{Week: c.week, At: c.at})
		code := d.Answer.Code
		if !d.Answer.OK && code == "sent" {
			code = "again"
		}
		if code != c.code || (len(d.Entries) > 0) != (c.code == "sent") {
			t.Errorf("%d: at %v for %s: %s (%s), %d entries, want %s", n, c.now, c.week, code, d.Answer.Text, len(d.Entries), c.code)
		}
		s = fold(s, c.now, d.Entries)
		for _, e := range d.Entries {
			if b := e.(ledger.WeekDigestSent); !b.From.Equal(c.from) || !b.To.Equal(c.now) || b != s.Week {
				t.Errorf("%d: %+v, want it to look from %v", n, b, c.from)
			}
		}
	}
	if s.Digest != (ledger.DigestSent{}) {
		t.Errorf("the day's: %+v", s.Digest)
	}
}

// TestCameBack: an absence is recorded, a restart is none.
func TestCameBack(t *testing.T) {
	now := time.Date(2026, 11, 20, 5, 40, 0, 0, time.UTC)
	for off, want := range map[time.Duration]int{3 * time.Hour: 1, 2 * time.Minute: 1, 119 * time.Second: 0, -time.Hour: 0} {
		d := Decide(State{}, now, daemon, CameBack{Off: now.Add(-off)})
		if len(d.Entries) != want {
			t.Errorf("%v: %+v", off, d.Entries)
		}
	}
	if d := Decide(State{}, now, daemon, CameBack{}); len(d.Entries) > 0 {
		t.Errorf("never there before: %+v", d.Entries)
	}
}
