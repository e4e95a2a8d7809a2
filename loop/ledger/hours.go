package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Hours is a chat's quiet part of each day: "23:00-07:00", QuietOff, or "" for the
// configured hours.
type Hours string

// QuietOff means that a chat has no quiet hours.
const QuietOff Hours = "off"

var hoursForm = regexp.MustCompile(`^([01]?[0-9]|2[0-3]):([0-5][0-9])\s*[-–]\s*([01]?[0-9]|2[0-3]):([0-5][0-9])$`)

// ParseHours parses hours as people type them: "23:00-07:00", "off" or "none",
// and "default", "on" or "" for the configured hours. It takes the form of
// QuietUntil, too. The error explains the
// form.
func ParseHours(s string) (Hours, error) {
	s = strings.TrimSpace(s)
	if until, daily := Hours(s).Until(); !until.IsZero() {
		rest, err := ParseHours(string(daily))
		return QuietUntil(until, rest), err
	}
	s = strings.ToLower(s)
	switch s {
	case "off", "none":
		return QuietOff, nil
	case "default", "on", "":
		return "", nil
	}
	m := hoursForm.FindStringSubmatch(s)
	if m == nil {
		return "", fmt.Errorf("%q is not a part of the day: write it like 23:00-07:00, off, or default", s)
	}
	var n [4]int
	for i, text := range m[1:] {
		n[i], _ = strconv.Atoi(text) // digits, by the form
	}
	if n[0] == n[2] && n[1] == n[3] {
		return "", fmt.Errorf("%q begins when it ends: write it like 23:00-07:00, or off", s)
	}
	return Hours(fmt.Sprintf("%02d:%02d-%02d:%02d", n[0], n[1], n[2], n[3])), nil
}

// untilWord begins hours that hold once, up to a moment.
const untilWord = "until "

// QuietUntil returns quiet hours that hold once, from now up to a moment, and
// then the daily ones: "until 2026-11-20T09:00:00+01:00 23:00-07:00". daily "" stands
// for the configured hours.
func QuietUntil(moment time.Time, daily Hours) Hours {
	return Hours(strings.TrimSpace(untilWord + moment.Format(time.RFC3339) + " " + string(daily)))
}

// Until returns the moment up to which hours of QuietUntil hold, zero for any
// others, and the daily hours.
func (h Hours) Until() (moment time.Time, daily Hours) {
	rest, once := strings.CutPrefix(string(h), untilWord)
	if !once {
		return time.Time{}, h
	}
	first, after, _ := strings.Cut(rest, " ")
	moment, err := time.Parse(time.RFC3339, first)
	if err != nil {
		return time.Time{}, h
	}
	return moment, Hours(after)
}

// Has reports whether a time lies within the hours, by the clock of the time's own
// zone. Hours may span midnight. Hours without a range contain no time.
func (h Hours) Has(at time.Time) bool {
	moment, daily := h.Until()
	if !moment.IsZero() && at.Before(moment) {
		return true
	}
	m := hoursForm.FindStringSubmatch(string(daily))
	if m == nil {
		return false
	}
	clock := func(hour, minute string) int {
		a, _ := strconv.Atoi(hour)
		b, _ := strconv.Atoi(minute)
		return a*60 + b
	}
	from, to, now := clock(m[1], m[2]), clock(m[3], m[4]), at.Hour()*60+at.Minute()
	if from < to {
		return from <= now && now < to
	}
	return now >= from || now < to
}
