package ledger

import (
	"testing"
	"time"
)

func TestHours(t *testing.T) {
	for in, want := range map[string]Hours{"23:00-07:00": "23:00-07:00", "off": QuietOff, "OFF": QuietOff, "default": "", "22:00–6:00": "22:00-06:00"} {
		if got, err := ParseHours(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if got, err := ParseHours(" 9:05 - 17:30 "); err != nil || got != "09:05-17:30" {
		t.Errorf("%q, %v", got, err)
	}
	for _, in := range []string{"24:00-07:00", "23-7", "23:00", "07:00-07:00", "11pm", "23:60-07:00", "23:00-07:00x"} {
		if got, err := ParseHours(in); err == nil {
			t.Errorf("%q is taken as %q", in, got)
		}
	}
	at := func(clock string) time.Time {
		v, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		h    Hours
		at   string
		want bool
	}{
		{"23:00-07:00", "23:00", true}, {"23:00-07:00", "03:00", true}, {"23:00-07:00", "06:59", true}, {"23:00-07:00", "07:00", false},
		{"23:00-07:00", "22:59", false}, {"12:00-13:00", "12:30", true}, {"12:00-13:00", "13:00", false}, {QuietOff, "03:00", false}, {"", "03:00", false},
	} {
		if c.h.Has(at(c.at)) != c.want {
			t.Errorf("%s has %s: %v", c.h, c.at, !c.want)
		}
	}
}

// TestHoursOfChangedClock counts the minutes of a night that are quiet, where the
// clock skips an hour or shows it twice.
func TestHoursOfChangedClock(t *testing.T) {
	for _, c := range []struct {
		zone  string
		h     Hours
		night string // noon before it
		want  int    // minutes
	}{
		{"Europe/Berlin", "23:00-07:00", "2027-03-27", 7 * 60},
		{"Europe/Berlin", "23:00-07:00", "2026-10-24", 9 * 60},
		{"Europe/Berlin", "02:00-03:00", "2027-03-27", 0},
		{"Europe/Berlin", "02:00-03:00", "2026-10-24", 2 * 60},
		{"Australia/Lord_Howe", "23:00-07:00", "2026-10-03", 7*60 + 30},
		{"Australia/Lord_Howe", "23:00-07:00", "2027-04-03", 8*60 + 30},
		{"Africa/Casablanca", "23:00-07:00", "2027-02-06", 9 * 60},
		{"Pacific/Apia", "23:00-07:00", "2011-12-29", 8 * 60},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		noon, err := time.ParseInLocation("2006-01-02 15:04", c.night+" 12:00", zone)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for n := range 24 * 60 {
			if c.h.Has(noon.Add(time.Duration(n) * time.Minute)) {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s in %s, night of %s: %d minutes, want %d", c.h, c.zone, c.night, got, c.want)
		}
	}
}
