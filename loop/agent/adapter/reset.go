package adapter

import (
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
)

var (
	unixReset = regexp.MustCompile(`limit reached\|(\d{10})\b`)
	// Examples: resets 7pm · resets at 8:20pm (Europe/Istanbul) · resets Nov 5,
	// 7pm (UTC) · try again at 3:53 PM · try again at Nov 5th, 2026 3:53 PM
	clockReset = regexp.MustCompile(`(?i)(?:resets?|try again)(?: at| on)? +` +
		`(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:, (\d{4}))?(?:,| at)? )?` +
		`(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?(?: ?\(([A-Za-z0-9_+/-]+)\))?`)
	spanReset = regexp.MustCompile(`(?i)(?:resets?|try again|retry) (?:in|after) ~?((?:\d+(?:\.\d+)? ?(?:ms|d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)[, ]*(?:and )?)+)`)
	spanPart  = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?(ms|[dhms])`)
	// A header that programs print with a refusal: retry-after: 30
	retryAfter = regexp.MustCompile(`(?i)\bretry-after"?[:=] ?"?(\d{1,7})\b`)
)

// resetTolerance is how far a time in the text may lie before the session's end
// and still mean this day, because an agent takes a moment to give up.
const resetTolerance = 5 * time.Minute

// resetTime reads the end of a limit from a text. It returns the zero time for
// a text without a time, or with an unknown zone.
func resetTime(text string, ended time.Time) time.Time {
	if m := unixReset.FindStringSubmatch(text); m != nil {
		if sec, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			return time.Unix(sec, 0).UTC()
		}
	}
	if m := clockReset.FindStringSubmatch(text); m != nil {
		return clockTime(m, ended)
	}
	if m := spanReset.FindStringSubmatch(text); m != nil {
		var span time.Duration
		for _, p := range spanPart.FindAllStringSubmatch(m[1], -1) {
			n, err := strconv.ParseFloat(p[1], 64)
			if err != nil || n > 1e6 {
				return time.Time{}
			}
			unit := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond}
			span += time.Duration(n * float64(unit[strings.ToLower(p[2])]))
		}
		if span > 0 && span < 366*24*time.Hour {
			return ended.Add(span)
		}
	}
	if m := retryAfter.FindStringSubmatch(text); m != nil {
		if sec, err := strconv.Atoi(m[1]); err == nil && sec > 0 {
			return ended.Add(time.Duration(sec) * time.Second)
		}
	}
	return time.Time{}
}

// clockTime converts a match of clockReset: a time of day with an optional
// date.
func clockTime(m []string, ended time.Time) time.Time {
	zone := time.Local
	if m[7] != "" {
		var err error
		if zone, err = time.LoadLocation(m[7]); err != nil {
			return time.Time{}
		}
	}
	hour, _ := strconv.Atoi(m[4])
	minute := 0
	if m[5] != "" {
		minute, _ = strconv.Atoi(m[5])
	}
	if hour < 1 || hour > 12 || minute > 59 {
		return time.Time{}
	}
	hour %= 12
	if strings.EqualFold(m[6], "p") {
		hour += 12
	}
	now := ended.In(zone)
	if m[1] == "" {
		at := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, zone)
		if at.Before(now.Add(-resetTolerance)) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, zone)
		}
		return at
	}
	month, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:]))
	if err != nil {
		return time.Time{}
	}
	day, _ := strconv.Atoi(m[2])
	year := now.Year()
	if m[3] != "" {
		year, _ = strconv.Atoi(m[3])
	}
	at := time.Date(year, month.Month(), day, hour, minute, 0, 0, zone)
	if at.Day() != day {
		return time.Time{}
	}
	// A date without a year is the next such day: a text of December may say
	// "Jan 2".
	if m[3] == "" && at.Before(now.Add(-24*time.Hour)) {
		at = time.Date(year+1, month.Month(), day, hour, minute, 0, 0, zone)
	}
	return at
}
