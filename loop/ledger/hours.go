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
// and "default", "on" or "" for the configured hours. The error explains the
// form.
func ParseHours(s string) (Hours, error) {
	s = strings.ToLower(strings.TrimSpace(s))
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

// Has reports whether a time lies within the hours, by the clock of the time's own
// zone. Hours may span midnight. Hours without a range contain no time.
func (h Hours) Has(at time.Time) bool {
	m := hoursForm.FindStringSubmatch(string(h))
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
