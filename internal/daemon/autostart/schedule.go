package autostart

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Values of a project's `start` setting that are not a cron expression.
const (
	startManual = "manual"
	startAuto   = "auto"
)

// Schedules are the parsed cron expressions by project name.
type Schedules map[string]cron.Schedule

// SchedulesOf parses the cron expressions of a configuration. All mistakes are
// returned in one *config.Error.
func SchedulesOf(cfg *config.Config) (Schedules, error) {
	all := Schedules{}
	var bad config.Error
	for _, pr := range cfg.Projects {
		text := string(pr.Start)
		if text == "" || text == startManual || text == startAuto {
			continue
		}
		s, err := parseCron(text)
		if err == nil && next(s, time.Now()).IsZero() {
			err = fmt.Errorf("it never comes")
		}
		if err != nil {
			bad.Diagnostics = append(bad.Diagnostics, ledger.Diagnostic{
				File: cfg.File, Text: fmt.Sprintf("start = %q of project %s is no cron expression: %v", text, pr.Name, err),
				Remedy: `Write minute, hour, day, month, weekday, like "0 22 * * 1-5"; or "auto", or "manual".`,
			})
			continue
		}
		all[pr.Name] = s
	}
	if len(bad.Diagnostics) > 0 {
		return nil, &bad
	}
	return all, nil
}

// parseCron parses a cron expression and converts the library's panics to
// errors.
func parseCron(text string) (s cron.Schedule, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			s, err = nil, fmt.Errorf("it cannot be read")
		}
	}()
	return cron.ParseStandard(text)
}

// next returns the first time after t at which s is due, in t's zone, or zero
// for never. A change of daylight-saving time neither loses nor doubles a start
// with a fixed hour: a start in the skipped hour happens when the hour is over,
// and in a repeated hour the first occurrence counts.
func next(s cron.Schedule, t time.Time) time.Time {
	due := nextTime(s, t)
	if spec, ok := s.(*cron.SpecSchedule); !ok || spec.Hour&everyHour == everyHour {
		return due // with every hour in the expression, the library's result is right
	}
	for repeated(due) {
		due = nextTime(s, due)
	}
	// With a fixed offset, and with the offset of three hours ago, the skipped
	// time exists and lies after the change.
	for _, then := range []time.Time{t, t.Add(-3 * time.Hour)} {
		_, offset := then.Zone()
		clock := nextTime(s, t.In(time.FixedZone("", offset)))
		if at, gone := skippedTime(clock, t.Location()); gone && at.After(t) && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}

// everyHour has the bits of all 24 hours of a cron.SpecSchedule.
const everyHour = 1<<24 - 1

// repeated reports whether the zone's clock showed this time of day before, in
// an hour that occurs twice.
func repeated(t time.Time) bool {
	if t.IsZero() {
		return false
	}
	_, now := t.Zone()
	_, before := t.Add(-3 * time.Hour).Zone()
	_, then := t.Add(time.Duration(now-before) * time.Second).Zone()
	return before > now && then == before
}

// skippedTime reports whether the zone skips the time of day that clock shows, and
// returns the time that replaces it.
func skippedTime(clock time.Time, zone *time.Location) (at time.Time, gone bool) {
	if clock.IsZero() {
		return clock, false
	}
	on := func(zone *time.Location) time.Time {
		return time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, zone)
	}
	shown := on(zone)
	if shown.Hour() == clock.Hour() && shown.Minute() == clock.Minute() {
		return shown, false
	}
	_, before := shown.Add(-3 * time.Hour).Zone()
	return on(time.FixedZone("", before)).In(zone), true
}

// nextTime returns the first time after t at which s is due, or zero if the
// library panics.
func nextTime(s cron.Schedule, t time.Time) (due time.Time) {
	defer func() {
		if recover() != nil {
			due = time.Time{}
		}
	}()
	return s.Next(t)
}

// lastDue returns the last time in (since, now] at which s was due, zero for
// none. It searches at most one year back.
func lastDue(s cron.Schedule, since, now time.Time) time.Time {
	if year := now.AddDate(-1, 0, 0); since.Before(year) {
		since = year
	}
	var last time.Time
	for t := next(s, since); !t.IsZero() && !t.After(now); t = next(s, t) {
		last = t
	}
	return last
}
