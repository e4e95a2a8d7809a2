package agent

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// wording is one way in which agents and providers say that they cannot go on.
type wording struct {
	trouble ledger.FailureClass
	re      *regexp.Regexp
}

// wordings are tried in order on each line. They are whole phrases, seen in
// real output; single words such as "429" or "limit" are in every second
// test's output.
var wordings = []wording{
	{ledger.FailureAuth, phrase(`not logged in\b.*/login|please run /login`)},
	{ledger.FailureAuth, phrase(`credit balance is too low`)},
	{ledger.FailureAuth, phrase(`invalid (x-)?api[ -]key|incorrect api key provided`)},
	{ledger.FailureAuth, phrase(`oauth token (has expired|(has been )?revoked)`)},
	{ledger.FailureAuth, phrase(`organization (does not have access to claude|has been disabled)`)},
	{ledger.FailureAuth, phrase(`api error:? 40[13]\b|\bauthentication_error\b`)},
	{ledger.FailureAuth, phrase(`there['’]s an issue with the selected model|model_not_found|the model .* does not exist or you do not have access`)},
	{ledger.FailureLimit, phrase(`(you['’]ve|you have) (hit|reached) your ([\w'’-]+ ){0,3}limit\b`)},
	{ledger.FailureLimit, phrase(`\b(usage|session|weekly|daily|monthly|5-hour) limit reached`)},
	{ledger.FailureLimit, phrase(`\bout of extra usage\b`)},
	{ledger.FailureLimit, phrase(`your usage allocation has been disabled`)},
	{ledger.FailureLimit, phrase(`api error:? (request rejected \()?429\b|\brate_limit_error\b`)},
	{ledger.FailureLimit, phrase(`quota exceeded\b|exceeded your current quota|\binsufficient_quota\b`)},
	{ledger.FailureNetwork, phrase(`api error:? 5\d\d\b|\boverloaded_error\b`)},
	{ledger.FailureNetwork, phrase(`api error:? \(?connection (error|reset|refused|dropped)`)},
	{ledger.FailureNetwork, phrase(`request timed out\. if the api is slow`)},
}

func phrase(re string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + re) }

// lastWords is how many of the last lines count: an agent that gives up says
// why at the end.
const lastWords = 12

// recognise looks for the newest line of a failed session's output that names
// a trouble on the far side. ended is when the session ended: times of day in
// the text are the first such time after it, in the text's zone or else the
// machine's.
func recognise(tail string, ended time.Time) (ledger.FailureClass, time.Time, string) {
	lines := strings.FieldsFunc(tail, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-lastWords; i-- {
		for _, w := range wordings {
			if !w.re.MatchString(lines[i]) {
				continue
			}
			text := strings.TrimSpace(lines[i])
			if len(text) > 300 {
				text = clean(text[:300], 300)
			}
			if w.trouble != ledger.FailureLimit {
				return w.trouble, time.Time{}, text
			}
			// The time may stand on one of the lines after it.
			until := resetTime(strings.Join(lines[i:], " "), ended)
			return ledger.FailureLimit, until, text
		}
	}
	return "", time.Time{}, ""
}

var (
	unixReset = regexp.MustCompile(`limit reached\|(\d{10})\b`)
	// resets 7pm · resets at 8:20pm (Europe/Istanbul) · resets Nov 5, 7pm (UTC) ·
	// try again at 3:53 PM · try again at Nov 5th, 2026 3:53 PM
	clockReset = regexp.MustCompile(`(?i)(?:resets?|try again)(?: at| on)? +` +
		`(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:, (\d{4}))?(?:,| at)? )?` +
		`(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?(?: ?\(([A-Za-z0-9_+/-]+)\))?`)
	spanReset = regexp.MustCompile(`(?i)(?:resets?|try again|retry) (?:in|after) ((?:\d+ ?(?:d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)[, ]*(?:and )?)+)`)
	spanPart  = regexp.MustCompile(`(?i)(\d+) ?([dhms])`)
)

// late is how long a named time may have passed when the session ended and
// still be meant: an agent takes a moment to give up.
const late = 5 * time.Minute

// resetTime reads when a limit ends, zero where the text does not say or says
// it in a zone that is not known.
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
			n, err := strconv.Atoi(p[1])
			if err != nil || n > 1e6 {
				return time.Time{}
			}
			unit := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
			span += time.Duration(n) * unit[strings.ToLower(p[2])]
		}
		if span > 0 && span < 366*24*time.Hour {
			return ended.Add(span)
		}
	}
	return time.Time{}
}

// clockTime is a time of day, with or without a date.
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
		if at.Before(now.Add(-late)) {
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
	// Without a year it is the next such day: in December they say "Jan 2".
	if m[3] == "" && at.Before(now.Add(-24*time.Hour)) {
		at = time.Date(year+1, month.Month(), day, hour, minute, 0, 0, zone)
	}
	return at
}
