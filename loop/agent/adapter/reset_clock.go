package adapter

import (
	"strconv"
	"strings"
	"time"
)

// clock is a time of day with an optional day.
type clock struct {
	hour, minute int
	month        string // its first three letters, "" if there is no date
	day          int
	year         int    // 0 if there is none
	near         string // today, tomorrow, or the first three letters of a weekday; "" if there is none
}

// readClock reads the time of day at which a limit ends. rest is the text after it. ok is
// false for a text that has none; an hour that does not exist is -1.
func readClock(text string) (c clock, rest string, ok bool) {
	at := clockReset.FindStringSubmatchIndex(text)
	if at == nil {
		return c, "", false
	}
	part := func(n int) string {
		if at[2*n] < 0 {
			return ""
		}
		return strings.ToLower(text[at[2*n]:at[2*n+1]])
	}
	minute, half := part(6), part(7)
	if minute == "" && half == "" {
		return c, "", false // a number of something else
	}
	c = clock{near: nearDay(part(1)), month: part(2)}
	c.day, _ = strconv.Atoi(part(3))
	c.year, _ = strconv.Atoi(part(4))
	c.hour, _ = strconv.Atoi(part(5))
	c.minute, _ = strconv.Atoi(minute)
	switch {
	case c.minute > 59, half == "" && c.hour > 23, half != "" && (c.hour < 1 || c.hour > 12):
		c.hour = -1
	case half != "":
		c.hour %= 12
		if half == "p" {
			c.hour += 12
		}
	}
	return c, text[at[1]:], true
}

// nearDay returns today, tomorrow, or the first three letters of a weekday.
func nearDay(word string) string {
	if word == "today" || word == "tomorrow" {
		return word
	}
	return word[:min(len(word), 3)]
}

// next returns the first such time after a session's end, and the zero time if rest names
// a zone or a day that is not known. Without a zone it is the machine's.
func (c clock) next(rest string, ended time.Time) time.Time {
	if m := dayAfter.FindStringSubmatch(rest); m != nil && c.near == "" && c.month == "" {
		c.near, rest = nearDay(strings.ToLower(m[1])), rest[len(m[0]):]
	}
	zone, _, ok := zoneAfter(rest)
	if !ok || c.hour < 0 {
		return time.Time{}
	}
	now := ended.In(zone)
	on := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, c.hour, c.minute, 0, 0, zone)
	}
	if c.month != "" {
		return c.date(now, on)
	}
	today := on(now.Year(), now.Month(), now.Day())
	past := today.Before(now.Add(-resetTolerance))
	days := 0
	switch {
	case c.near == "today":
	case c.near == "tomorrow", c.near == "" && past:
		days = 1
	case c.near != "":
		if past {
			days = 1
		}
		for first := days; !strings.EqualFold(now.AddDate(0, 0, days).Weekday().String()[:3], c.near); days++ {
			if days == first+6 {
				return time.Time{} // no day: a letter that only folds to one of its name
			}
		}
	}
	return on(now.Year(), now.Month(), now.Day()+days)
}

// date returns the time on the clock's date. A date without a year is the next such day: a
// text of December may say "Jan 2".
func (c clock) date(now time.Time, on func(int, time.Month, int) time.Time) time.Time {
	month, err := time.Parse("Jan", strings.ToUpper(c.month[:1])+c.month[1:])
	if err != nil {
		return time.Time{}
	}
	year := c.year
	if year == 0 {
		year = now.Year()
	}
	at := on(year, month.Month(), c.day)
	if at.Day() != c.day {
		return time.Time{}
	}
	if c.year == 0 && at.Before(now.Add(-24*time.Hour)) {
		at = on(year+1, month.Month(), c.day)
	}
	return at
}
