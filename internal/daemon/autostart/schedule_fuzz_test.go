package autostart

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
)

// FuzzSchedule checks that no start setting ends the daemon, although the
// library panics on some expressions and zones: the configuration refuses the
// setting, or its due times come one after the other, or never.
func FuzzSchedule(f *testing.F) {
	for _, zone := range []string{"Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "UTC"} {
		for _, text := range []string{
			"0 22 * * 1-5", "30 2 * * *", "*/7 2-3 * * *", "* * * * *", "0 0 29 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "59 23 31 12 7",
			"@daily", "@yearly", "@hourly", "@every 0s", "@every -1s", "TZ=0", "CRON_TZ=UTC", "TZ=Nowhere/None 0 22 * * *", "CRON_TZ= 0 22 * * *",
			"TZ=UTC * * * *", "TZ * * * *", "*/0 * * * *", "5-1 * * * *", "*/99999999999999999999 * * * *", "0-59/-1 * * * *", "? ? ? ? ?", "- , / - ,",
			"0 0 1 jan mon", "0 0 1 JAN-dec SUN-sat", "@", "@ @ @ @ @", "auto", "manual", "",
		} {
			f.Add(text, zone, int64(1774746000)) // an hour before the clocks change in Berlin, 2026
		}
	}
	f.Add("1 2 * * 0", "Europe/Berlin", int64(1774745934))    // the skipped hour has begun
	f.Add("30 2 * * *", "Pacific/Apia", int64(1325152800))    // the day before the day that Samoa skipped
	f.Add("0 0 29 2 *", "UTC", int64(4107542400))             // 2100 is no leap year
	f.Add("* * * * *", "UTC", int64(1)<<60)                   // a clock gone wild
	f.Add("0 12 * * *", "Europe/Berlin", int64(-62135596800)) // the year 1
	f.Fuzz(func(t *testing.T, text, zone string, unix int64) {
		if len(text) > 200 {
			t.Skip("as long as no configuration has it")
		}
		var start config.Start
		cfg := &config.Config{Timezone: zone, Projects: []config.Project{{Name: "shop", Start: config.Start(text)}}}
		place, err := cfg.Zone()
		if err != nil {
			t.Skip("no zone: the configuration is refused")
		}
		taken := start.UnmarshalText([]byte(text)) == nil
		plans, err := SchedulesOf(cfg) // also settings that the configuration refuses
		if !taken || err != nil || len(plans) == 0 {
			return
		}
		s, at := plans["shop"], time.Unix(unix, 0).In(place)
		for range 20 {
			due := next(s, at)
			if due.IsZero() {
				break
			}
			if !due.After(at) {
				t.Fatalf("%q in %s: after %v comes %v", text, zone, at, due)
			}
			if again := next(s, due.Add(-time.Second)); !again.Equal(due) {
				t.Fatalf("%q in %s: a second before %v the next one is %v", text, zone, due, again)
			}
			at = due
		}
		now := time.Unix(unix, 0).In(place)
		if last := lastDue(s, now.AddDate(0, 0, -3), now); last.After(now) {
			t.Fatalf("%q in %s: %v was due before %v", text, zone, last, now)
		}
	})
}
