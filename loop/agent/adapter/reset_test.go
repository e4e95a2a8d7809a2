package adapter

import (
	"testing"
	"time"
)

// TestResetTime: a time of day is one of the zone that the text names, in every form of
// it. A zone or a day that is not known makes the time unknown, never the machine's. The
// session ended on a Friday.
func TestResetTime(t *testing.T) {
	machine := time.Local
	t.Cleanup(func() { time.Local = machine })
	time.Local = time.FixedZone("the machine's", 5*3600+1800)
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC) // 21:30 of the machine
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC) }
	here := func(day, hour, minute int) time.Time {
		return time.Date(2026, 11, day, hour, minute, 0, 0, time.Local)
	}
	var unknown time.Time
	for text, want := range map[string]time.Time{
		// No zone is the machine's.
		"Try again at 3:53 PM.":              here(21, 15, 53),
		"Try again at 3:53 p.m. or upgrade":  here(21, 15, 53),
		"resets 22:53":                       here(20, 22, 53),
		"resets 7pm, or upgrade":             here(21, 19, 0),
		"try again at 3:53 PM. AI is paused": here(21, 15, 53),
		"resets 7pm\nERROR: gave up":         here(21, 19, 0),
		"resets 7pm local time":              here(21, 19, 0),
		"resets 9am on weekdays":             here(21, 9, 0),
		// With one.
		"Try again at 3:53 PM UTC.":    at(21, 15, 53),
		"Try again at 5:53 PM UTC.":    at(20, 17, 53),
		"Try again at 3:53 PM PST.":    at(20, 23, 53),
		"Try again at 3:53 p.m. PDT.":  at(20, 22, 53),
		"resets 3:53pm (PST)":          at(20, 23, 53),
		"resets 3:53pm PT":             at(20, 23, 53),
		"resets 3:53 PM Pacific Time":  at(20, 23, 53),
		"resets 3:53pm (Eastern)":      at(20, 20, 53),
		"resets 7pm (GMT+1)":           at(20, 18, 0),
		"resets 7pm GMT-3:30":          at(20, 22, 30),
		"resets 7pm UTC+2, or upgrade": at(20, 17, 0),
		"resets 7pm utc":               at(20, 19, 0),
		"resets 7pm Europe/Istanbul":   at(20, 16, 0),
		"resets 7pm (Etc/GMT+3)":       at(20, 22, 0),
		"resets at 19:00 UTC":          at(20, 19, 0),
		"resets at 19:00:30 (UTC)":     at(20, 19, 0),
		"resets at 15:53Z":             at(21, 15, 53),
		"resets at 03:53 +02:00":       at(21, 1, 53),
		// ISO 8601.
		"try again at 2026-11-29T03:53:00Z":      at(29, 3, 53),
		"try again at 2026-11-29T03:53:00.000Z.": at(29, 3, 53),
		"resets 2026-11-29 03:53 UTC":            at(29, 3, 53),
		"resets on 2026-11-29T03:53+02:00":       at(29, 1, 53),
		`"resets_at":"2026-11-29T03:53:00-0100"`: at(29, 4, 53),
		"retry after 2026-11-29 03:53 (PST)":     at(29, 11, 53),
		"resets 2026-11-29 03:53":                unknown, // of whose day?
		"resets 2026-13-29T03:53Z":               unknown,
		// Days.
		"resets tomorrow at 3am UTC":    at(21, 3, 0),
		"resets today at 11pm UTC":      at(20, 23, 0),
		"resets 7pm tomorrow (UTC)":     at(21, 19, 0),
		"resets Mon 9am (UTC)":          at(23, 9, 0),
		"resets on Monday at 09:00 UTC": at(23, 9, 0),
		"resets Fri 9am UTC":            at(27, 9, 0),
		"resets Fri 9pm UTC":            at(20, 21, 0),
		"resets 9am Monday UTC":         at(23, 9, 0),
		"resets Tue, Nov 24 at 9am UTC": at(24, 9, 0),
		"resets Nov 24, 21:00 UTC":      at(24, 21, 0),
		// What is not known.
		"Try again at 3:53 PM XYZ.":                unknown,
		"resets 3:53pm (IST)":                      unknown, // of India, Ireland or Israel
		"resets 3:53pm Berlin time":                unknown,
		"resets 3:53pm (Nowhere/Land)":             unknown,
		"resets 3:53pm (your account's time zone)": unknown,
		"resets 7pm GMT+25":                        unknown,
		"resets 27pm UTC":                          unknown,
		"resets 24:30 UTC":                         unknown,
		"resets \u017fun 9am UTC":                  unknown,
		"resets 3 times":                           unknown,
	} {
		if got := resetTime(text, ended); !got.Equal(want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
