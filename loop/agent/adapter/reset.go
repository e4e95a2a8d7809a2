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
	// 7pm (UTC) · try again at 3:53 PM PST · try again at Nov 5th, 2026 3:53 PM ·
	// resets Mon 9am · resets tomorrow at 03:00 GMT+1. What follows is for zoneAfter.
	clockReset = regexp.MustCompile(`(?i)(?:resets?|try again|retry)(?: at| on| after)? +` +
		`(?:(today|tomorrow|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)(?:,| at)* )?` +
		`(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,| at)* )?` +
		`(\d{1,2})(?::(\d\d)(?::\d\d)?)?(?: ?([ap])(?:m\b|\.m\.?))?`)
	// Examples: resets at 2026-11-29T03:53:00Z · try again at 2026-11-29 03:53 UTC
	dateReset = regexp.MustCompile(`(?i)(?:resets?|try again|retry)(?:[ _](?:at|on|after))?"?:? *"?(\d{4}-\d\d-\d\d)(?:t| at | )(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?`)
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
	if at := dateReset.FindStringSubmatchIndex(text); at != nil {
		zone, told, ok := zoneAfter(text[at[1]:])
		when, err := time.ParseInLocation("2006-01-02 15:04", text[at[2]:at[3]]+" "+text[at[4]:at[5]], zone)
		if err != nil || !told || !ok { // whose day that would be is not known
			return time.Time{}
		}
		return when
	}
	if c, rest, ok := readClock(text); ok {
		return c.next(rest, ended)
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
