package autostart

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
)

func TestSchedules(t *testing.T) {
	for text, want := range map[string]string{
		"0 22 * * 1-5": "", "@daily": "", "manual": "", "auto": "", "": "",
		"61 22 * * *": "no cron expression", "0 0 30 2 *": "it never comes", "TZ=X": "no cron expression", "a b c d e": "no cron expression",
	} {
		_, err := SchedulesOf(&config.Config{Projects: []config.Project{{Name: "shop", Start: config.Start(text)}}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseCron("0 22 * * *")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		t.Helper()
		v, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ since, now, want string }{
		{"2026-11-19 21:59", "2026-11-19 22:00", "2026-11-19 22:00"},
		{"2026-11-19 22:00", "2026-11-20 21:59", ""},
		{"2026-11-16 22:00", "2026-11-20 21:59", "2026-11-19 22:00"},
		{"2026-10-24 23:00", "2026-10-25 23:00", "2026-10-25 22:00"}, // a night of 25 hours
		{"2001-01-01 00:00", "2026-11-20 21:59", "2026-11-19 22:00"},
	} {
		got := lastDue(s, at(c.since), at(c.now))
		if c.want == "" != got.IsZero() || c.want != "" && !got.Equal(at(c.want)) {
			t.Errorf("%s to %s: %v, want %q", c.since, c.now, got, c.want)
		}
	}
}

// TestDaylightSaving checks that a night in which the clock changes has exactly
// one start.
func TestDaylightSaving(t *testing.T) {
	for _, c := range []struct {
		zone, cron, from string
		want             []string
	}{
		{"Europe/Berlin", "30 2 * * *", "2027-03-26 12:00", []string{"2027-03-27 02:30 CET", "2027-03-28 03:30 CEST", "2027-03-29 02:30 CEST"}},
		{"Europe/Berlin", "30 2 28 3 *", "2026-07-01 12:00", []string{"2027-03-28 03:30 CEST", "2028-03-28 02:30 CEST"}},
		{"Europe/Berlin", "30 2 * * 1", "2027-03-26 12:00", []string{"2027-03-29 02:30 CEST", "2027-04-05 02:30 CEST"}},
		{"Europe/Berlin", "30 2 * * *", "2026-10-24 12:00", []string{"2026-10-25 02:30 CEST", "2026-10-26 02:30 CET"}},
		{"Europe/Berlin", "*/30 2 * * *", "2026-10-24 12:00", []string{"2026-10-25 02:00 CEST", "2026-10-25 02:30 CEST", "2026-10-26 02:00 CET"}},
		{"Europe/Berlin", "30 * * * *", "2026-10-25 01:00", []string{"2026-10-25 01:30 CEST", "2026-10-25 02:30 CEST", "2026-10-25 02:30 CET", "2026-10-25 03:30 CET"}},
		{"Europe/Berlin", "30 * * * *", "2027-03-28 01:00", []string{"2027-03-28 01:30 CET", "2027-03-28 03:30 CEST"}},
		{"Europe/Berlin", "0 3 * * *", "2027-03-27 12:00", []string{"2027-03-28 03:00 CEST", "2027-03-29 03:00 CEST"}},
		{"America/Havana", "0 0 * * *", "2027-03-13 12:00", []string{"2027-03-14 01:00 CDT", "2027-03-15 00:00 CDT"}},
		{"Australia/Lord_Howe", "45 1 * * *", "2027-04-03 12:00", []string{"2027-04-04 01:45 +11", "2027-04-05 01:45 +1030"}},
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03 12:00", []string{"2026-10-04 02:45 +11", "2026-10-05 02:15 +11"}},
		{"Africa/Casablanca", "30 2 * * *", "2027-02-06 12:00", []string{"2027-02-07 02:30 +01", "2027-02-08 02:30 +00"}},
		{"Africa/Casablanca", "30 2 * * *", "2027-03-13 12:00", []string{"2027-03-14 03:30 +01", "2027-03-15 02:30 +01"}},
		{"Asia/Beirut", "0 0 * * *", "2027-03-27 12:00", []string{"2027-03-28 01:00 EEST", "2027-03-29 00:00 EEST"}},
		{"Pacific/Apia", "30 7 * * *", "2011-12-29 05:00", []string{"2011-12-29 07:30 -10", "2011-12-31 07:30 +14", "2012-01-01 07:30 +14"}},
		{"UTC", "30 2 * * *", "2027-03-27 12:00", []string{"2027-03-28 02:30 UTC", "2027-03-29 02:30 UTC"}},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseCron(c.cron)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.ParseInLocation("2006-01-02 15:04", c.from, zone)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range c.want {
			at = next(s, at)
			got = append(got, at.Format("2006-01-02 15:04 MST"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s in %s:\n got %q\nwant %q", c.cron, c.zone, got, c.want)
		}
	}
}

// TestTicksOverDaylightSaving checks the same with a tick every minute, as the
// daemon makes them.
func TestTicksOverDaylightSaving(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cron string
		from time.Time
		want []string
	}{
		{"30 2 * * *", time.Date(2027, 3, 27, 12, 0, 3, 0, berlin), []string{"03-28 03:30 CEST", "03-29 02:30 CEST"}},
		{"*/20 2 * * *", time.Date(2027, 3, 27, 12, 0, 3, 0, berlin), []string{"03-28 03:00 CEST", "03-28 03:20 CEST", "03-28 03:40 CEST", "03-29 02:00 CEST", "03-29 02:20 CEST", "03-29 02:40 CEST"}},
		{"30 2 * * *", time.Date(2026, 10, 24, 12, 0, 3, 0, berlin), []string{"10-25 02:30 CEST", "10-26 02:30 CET"}},
	} {
		s, err := parseCron(c.cron)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for n := range 48 * 60 {
			seen := c.from.Add(time.Duration(n) * time.Minute)
			if due := lastDue(s, seen, seen.Add(time.Minute)); !due.IsZero() {
				got = append(got, due.Format("01-02 15:04 MST"))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.cron, got, c.want)
		}
	}
}
