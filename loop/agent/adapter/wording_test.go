package adapter

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
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
	day := func(hour, minute int) time.Time { // next such time of day in the machine's zone
		now := ended.In(local)
		d := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, local)
		if d.Before(now.Add(-resetTolerance)) {
			d = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, local)
		}
		return d
	}
	var never time.Time
	for _, c := range []struct {
		text    string
		trouble ledger.FailureClass
		until   time.Time
	}{
		{"You've hit your limit", ledger.FailureLimit, never},
		{"You've hit your limit · resets 7pm", ledger.FailureLimit, day(19, 0)},
		{"You’ve hit your usage limit. Upgrade, or try again at 3:53 PM.", ledger.FailureLimit, day(15, 53)},
		{"You've hit your session limit · resets 8:20pm (Europe/Istanbul)", ledger.FailureLimit, at(istanbul, 20, 20, 20)},
		{"You've hit your session limit · resets 6:58pm (Europe/Istanbul)", ledger.FailureLimit, at(istanbul, 20, 18, 58)}, // two minutes before the end, so it is today
		{"You've hit your session limit · resets 6pm (Europe/Istanbul)", ledger.FailureLimit, at(istanbul, 21, 18, 0)},
		{"You've hit your 5-hour limit · resets 3:53pm (UTC)", ledger.FailureLimit, at(utc, 21, 15, 53)},
		{"limit reached, resets 12:30am (UTC)", "", never}, // not a listed phrase
		{"Weekly limit reached · resets 12:30am (UTC)", ledger.FailureLimit, at(utc, 21, 0, 30)},
		{"Weekly limit reached ∙ resets Nov 25, 9am (UTC)", ledger.FailureLimit, at(utc, 25, 9, 0)},
		{"Weekly limit reached ∙ resets Jan 2, 12pm (UTC)", ledger.FailureLimit, time.Date(2027, 1, 2, 12, 0, 0, 0, utc)},
		{"You've hit your usage limit. Try again at Nov 23rd, 2026 3:53 PM (UTC).", ledger.FailureLimit, at(utc, 23, 15, 53)},
		{"You've hit your limit · resets 7pm (Nowhere/Land)", ledger.FailureLimit, never},
		{"You've hit your limit · resets 27pm", ledger.FailureLimit, never},
		{"You've hit your org's monthly usage limit", ledger.FailureLimit, never},
		{"You've hit your individual spend limit · run /usage-credits to raise it", ledger.FailureLimit, never},
		{"Your usage allocation has been disabled by your admin", ledger.FailureLimit, never},
		{"You're out of extra usage · resets 9pm (UTC)", ledger.FailureLimit, at(utc, 20, 21, 0)},
		{"Claude AI usage limit reached|1795190000", ledger.FailureLimit, time.Unix(1795190000, 0).UTC()},
		{"API Error: 429 {\"type\":\"error\"}", ledger.FailureLimit, never},
		{"API Error 429", ledger.FailureLimit, never},
		{"API Error: Request rejected (429) · This request would exceed your account's rate limit.", ledger.FailureLimit, never},
		{"Weekly limit reached", ledger.FailureLimit, never},
		{"You've hit your session limit", ledger.FailureLimit, never},
		{"You're out of extra usage", ledger.FailureLimit, never},
		{"You've hit your limit · resets 12:30am (Europe/Istanbul)", ledger.FailureLimit, at(istanbul, 21, 0, 30)},
		{"Claude usage limit reached. Your limit will reset at 7pm (UTC).", ledger.FailureLimit, at(utc, 20, 19, 0)},
		{"Invalid API key · Fix external API key", ledger.FailureAuth, never},
		{"Failed to authenticate. API Error: 401 OAuth token has expired.", ledger.FailureAuth, never},
		{"There's an issue with the selected model (claude-x). It may not exist or you may not have access to it.", ledger.FailureAuth, never},
		{"API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again.", ledger.FailureNetwork, never},
		{"Request timed out. If the API is slow to answer, or a proxy or gateway holds responses, set API_TIMEOUT_MS above 2000.", ledger.FailureNetwork, never},
		{"Error: Request timed out.", "", never}, // may come from a test
		{"Quota exceeded. Please try again in 2h 5m.", ledger.FailureLimit, ended.Add(2*time.Hour + 5*time.Minute)},
		{"usage limit reached, try again in 3 days and 4 hours", ledger.FailureLimit, ended.Add(76 * time.Hour)},
		{"You've hit your limit\n\nresets 7pm (UTC)\n", ledger.FailureLimit, at(utc, 20, 19, 0)},
		{"Not logged in · Please run /login", ledger.FailureAuth, never},
		{"Credit balance is too low", ledger.FailureAuth, never},
		{"API Error: 401 {\"error\":{\"type\":\"authentication_error\"}}", ledger.FailureAuth, never},
		{"API Error: 529 overloaded", ledger.FailureNetwork, never},
		{"API Error (Connection error.)", ledger.FailureNetwork, never},
		// Phrases that tests and models print every day.
		{"FAIL: expected 429, got 200", "", never},
		{"--- FAIL: TestRateLimit (0.01s)", "", never},
		{"the limit of retries was reached", "", never},
		{"Error: connect ECONNREFUSED 127.0.0.1:5432", "", never},
		{"AssertionError: expected 'Unauthorized' to equal 'OK'", "", never},
		{"You've hit your limit" + "\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n", "", never}, // too far from the end
		{"", "", never},
	} {
		trouble, until, text := recognise(command.failures(), c.text, ended)
		if trouble != c.trouble || !until.Equal(c.until) || (trouble == "") != (text == "") {
			t.Errorf("%q:\n got %q %v (%q)\nwant %q %v", c.text, trouble, until, text, c.trouble, c.until)
		}
	}
}

// TestCommandRead: phrases count only in a failed session.
func TestCommandRead(t *testing.T) {
	tail := "You've hit your limit · resets 7pm (UTC)"
	for _, c := range []struct {
		why  ledger.ExitReason
		code int
		want ledger.FailureClass
	}{
		{ledger.ExitSelf, 1, ledger.FailureLimit},
		{ledger.ExitSelf, 0, ""},
		{ledger.ExitStall, -1, ledger.FailureLimit},
		{ledger.ExitAsked, -1, ""},
		{ledger.ExitLost, -1, ""},
	} {
		if v := command.Judge(nil, ledger.Exit{Reason: c.why, Code: c.code, Tail: tail}); v.Failure != c.want || v.Turns != -1 {
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
		if trouble != ledger.FailureLimit && !until.IsZero() {
			t.Errorf("%q: a time without a limit", text)
		}
	})
}
