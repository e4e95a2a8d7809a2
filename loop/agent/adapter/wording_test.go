package adapter

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
)

func TestRecognise(t *testing.T) {
	zone := func(name string) *time.Location {
		l, err := time.LoadLocation(name)
		if err != nil {
			t.Skipf("SKIPPED: no zone data: %v", err)
		}
		return l
	}
	istanbul, utc := zone("Europe/Istanbul"), time.UTC
	local := time.Local
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, utc)
	at := func(l *time.Location, day, hour, minute int) time.Time {
		return time.Date(2026, 11, day, hour, minute, 0, 0, l)
	}
	day := func(hour, minute int) time.Time { // next such time on the machine's clock
		now := ended.In(local)
		d := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, local)
		if d.Before(now.Add(-late)) {
			d = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, local)
		}
		return d
	}
	var never time.Time
	for _, c := range []struct {
		text    string
		trouble loop.FailureClass
		until   time.Time
	}{
		{"You've hit your limit", loop.FailureLimit, never},
		{"You've hit your limit · resets 7pm", loop.FailureLimit, day(19, 0)},
		{"You’ve hit your usage limit. Upgrade, or try again at 3:53 PM.", loop.FailureLimit, day(15, 53)},
		{"You've hit your session limit · resets 8:20pm (Europe/Istanbul)", loop.FailureLimit, at(istanbul, 20, 20, 20)},
		{"You've hit your session limit · resets 6:58pm (Europe/Istanbul)", loop.FailureLimit, at(istanbul, 20, 18, 58)}, // two minutes ago: now
		{"You've hit your session limit · resets 6pm (Europe/Istanbul)", loop.FailureLimit, at(istanbul, 21, 18, 0)},
		{"You've hit your 5-hour limit · resets 3:53pm (UTC)", loop.FailureLimit, at(utc, 21, 15, 53)},
		{"limit reached, resets 12:30am (UTC)", "", never}, // not a known phrase
		{"Weekly limit reached · resets 12:30am (UTC)", loop.FailureLimit, at(utc, 21, 0, 30)},
		{"Weekly limit reached ∙ resets Nov 25, 9am (UTC)", loop.FailureLimit, at(utc, 25, 9, 0)},
		{"Weekly limit reached ∙ resets Jan 2, 12pm (UTC)", loop.FailureLimit, time.Date(2027, 1, 2, 12, 0, 0, 0, utc)},
		{"You've hit your usage limit. Try again at Nov 23rd, 2026 3:53 PM (UTC).", loop.FailureLimit, at(utc, 23, 15, 53)},
		{"You've hit your limit · resets 7pm (Nowhere/Land)", loop.FailureLimit, never},
		{"You've hit your limit · resets 27pm", loop.FailureLimit, never},
		{"You've hit your org's monthly usage limit", loop.FailureLimit, never},
		{"You've hit your individual spend limit · run /usage-credits to raise it", loop.FailureLimit, never},
		{"Your usage allocation has been disabled by your admin", loop.FailureLimit, never},
		{"You're out of extra usage · resets 9pm (UTC)", loop.FailureLimit, at(utc, 20, 21, 0)},
		{"Claude AI usage limit reached|1795190000", loop.FailureLimit, time.Unix(1795190000, 0).UTC()},
		{"API Error: 429 {\"type\":\"error\"}", loop.FailureLimit, never},
		{"API Error 429", loop.FailureLimit, never},
		{"API Error: Request rejected (429) · This request would exceed your account's rate limit.", loop.FailureLimit, never},
		{"Weekly limit reached", loop.FailureLimit, never},
		{"You've hit your session limit", loop.FailureLimit, never},
		{"You're out of extra usage", loop.FailureLimit, never},
		{"You've hit your limit · resets 12:30am (Europe/Istanbul)", loop.FailureLimit, at(istanbul, 21, 0, 30)},
		{"Claude usage limit reached. Your limit will reset at 7pm (UTC).", loop.FailureLimit, at(utc, 20, 19, 0)},
		{"Invalid API key · Fix external API key", loop.FailureAuth, never},
		{"Failed to authenticate. API Error: 401 OAuth token has expired.", loop.FailureAuth, never},
		{"There's an issue with the selected model (claude-x). It may not exist or you may not have access to it.", loop.FailureAuth, never},
		{"API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again.", loop.FailureNetwork, never},
		{"Request timed out. If the API is slow to answer, or a proxy or gateway holds responses, set API_TIMEOUT_MS above 2000.", loop.FailureNetwork, never},
		{"Error: Request timed out.", "", never}, // of somebody's test
		{"Quota exceeded. Please try again in 2h 5m.", loop.FailureLimit, ended.Add(2*time.Hour + 5*time.Minute)},
		{"usage limit reached, try again in 3 days and 4 hours", loop.FailureLimit, ended.Add(76 * time.Hour)},
		{"You've hit your limit\n\nresets 7pm (UTC)\n", loop.FailureLimit, at(utc, 20, 19, 0)},
		{"Not logged in · Please run /login", loop.FailureAuth, never},
		{"Credit balance is too low", loop.FailureAuth, never},
		{"API Error: 401 {\"error\":{\"type\":\"authentication_error\"}}", loop.FailureAuth, never},
		{"API Error: 529 overloaded", loop.FailureNetwork, never},
		{"API Error (Connection error.)", loop.FailureNetwork, never},
		// What tests and models say all day.
		{"FAIL: expected 429, got 200", "", never},
		{"--- FAIL: TestRateLimit (0.01s)", "", never},
		{"the limit of retries was reached", "", never},
		{"Error: connect ECONNREFUSED 127.0.0.1:5432", "", never},
		{"AssertionError: expected 'Unauthorized' to equal 'OK'", "", never},
		{"You've hit your limit" + "\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n", "", never}, // long ago
		{"", "", never},
	} {
		trouble, until, text := recognise(command.failures(), c.text, ended)
		if trouble != c.trouble || !until.Equal(c.until) || (trouble == "") != (text == "") {
			t.Errorf("%q:\n got %q %v (%q)\nwant %q %v", c.text, trouble, until, text, c.trouble, c.until)
		}
	}
}

// The words count only where the session failed.
func TestCommandRead(t *testing.T) {
	tail := "You've hit your limit · resets 7pm (UTC)"
	for _, c := range []struct {
		why  loop.ExitReason
		code int
		want loop.FailureClass
	}{
		{loop.ExitSelf, 1, loop.FailureLimit},
		{loop.ExitSelf, 0, ""},
		{loop.ExitStall, -1, loop.FailureLimit},
		{loop.ExitAsked, -1, ""},
		{loop.ExitLost, -1, ""},
	} {
		if v := command.Judge(nil, loop.Exit{Reason: c.why, Code: c.code, Tail: tail}); v.Failure != c.want || v.Turns != -1 {
			t.Errorf("%s %d: %+v", c.why, c.code, v)
		}
	}
}

func FuzzRecognise(f *testing.F) {
	f.Add("Weekly limit reached ∙ resets Nov 25, 9am (UTC)")
	f.Add("Quota exceeded. Please try again in 99999999999999999999h")
	f.Fuzz(func(t *testing.T, text string) {
		ended := time.Unix(1795190000, 0)
		trouble, until, _ := recognise(command.failures(), text, ended)
		if trouble != loop.FailureLimit && !until.IsZero() {
			t.Errorf("%q: a time without a limit", text)
		}
	})
}
