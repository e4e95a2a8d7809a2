package adapter

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		{"API Error: 429 {\"type\":\"error\"}", ledger.FailureNetwork, never},
		{"API Error 429", ledger.FailureNetwork, never},
		{"API Error: Request rejected (429) · This request would exceed your account's rate limit.", ledger.FailureNetwork, never},
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
		// Words of a limit that no program says of itself.
		{"I handled the usage limit reached error.", "", never},
		{"The usage limit reached error is handled now, and tested.", "", never},
		{"Usage limit reached errors are retried now.", "", never},
		{"You've hit your limit for free shipping", "", never},
		{"- You've hit your limit · resets 7pm", "", never},
		{"`You've hit your usage limit.` is recognised", "", never},
		{"    limits_test.go:12: You've hit your usage limit. Try again at 3:53 PM.", "", never},
		{"    You've hit your usage limit. Try again at 3:53 PM.", "", never},
		{"--- FAIL: TestClient (0.01s): want rate_limit_error", "", never},
		{"rate_limit_error", "", never},
		{"AssertionError: 'insufficient_quota' != 'ok'", "", never},
		{`{"type":"error","error":{"type":"rate_limit_error","message":"Number of requests has exceeded your rate limit"}}`, "", never}, // an answer of a provider, which tests keep; no program's event
		{`{"level":"error","msg":"You've hit your usage limit."}`, "", never},
		{"429 GET /api/orders 12ms", "", never},
		{"the tests of quota exceeded pass", "", never},
		// Forms in which programs print their errors.
		{"ERROR: You've hit your usage limit. Upgrade, or try again at 3:53 PM.", ledger.FailureLimit, day(15, 53)},
		{"\x1b[31m[2026-11-20T15:59:58] ERROR: exceeded retry limit, last status: 429 Too Many Requests\x1b[0m", ledger.FailureNetwork, never},
		{"429 The usage limit has been reached", ledger.FailureLimit, never},
		// A provider that refuses the pace: over in a moment, unless it says otherwise.
		{"last status: 429 Too Many Requests", ledger.FailureNetwork, never},
		{"ERROR: exceeded retry limit, last status: 429 Too Many Requests, request id: req_1", ledger.FailureNetwork, never},
		{"429 Rate limit reached", ledger.FailureNetwork, never},
		{"429 Rate limit reached for gpt-x in organization org-1. Please try again in 1.5s.", "", never}, // no clause of its own
		{"Error: 429 Too Many Requests. Please try again in 1.5s.", ledger.FailureNetwork, ended.Add(1500 * time.Millisecond)},
		{"429 Too Many Requests\nretry-after: 30", ledger.FailureNetwork, ended.Add(30 * time.Second)},
		{"429 Too Many Requests\nretry-after: 7200", ledger.FailureLimit, ended.Add(2 * time.Hour)},
		{"Error: 429 rate limit exceeded, try again in 28ms", ledger.FailureNetwork, ended.Add(28 * time.Millisecond)},
		{"unexpected status 503, retry after 20 seconds", ledger.FailureNetwork, ended.Add(20 * time.Second)},
		{"want 429 Too Many Requests", "", never},
		{"429 Too Many Requests is answered", "", never},
		{"429 You exceeded your current quota, please check your plan and billing details.", ledger.FailureLimit, never},
		{"You have exhausted your capacity on this model. Your quota will reset after 3h20m10s.", ledger.FailureLimit, ended.Add(3*time.Hour + 20*time.Minute + 10*time.Second)},
		{"401 Incorrect API key provided: sk-x", ledger.FailureAuth, never},
		{"working …\rYou've hit your limit · resets 7pm (UTC)", ledger.FailureLimit, at(utc, 20, 19, 0)},
	} {
		v := command.Judge(strings.NewReader(c.text), ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended})
		trouble, until, text := v.Failure, v.Until, v.Text
		if v.Unverified != (trouble != "") {
			t.Errorf("%q: unverified %v", c.text, v.Unverified)
		}
		if trouble != c.trouble || !until.Equal(c.until) || (trouble == "") != (text == "") {
			t.Errorf("%q:\n got %q %v (%q)\nwant %q %v", c.text, trouble, until, text, c.trouble, c.until)
		}
	}
}

// TestCommandRead: phrases count whatever the exit code, in a session that ended
// by itself or never gave up.
func TestCommandRead(t *testing.T) {
	const tail = "You've hit your limit · resets 7pm (UTC)"
	for _, c := range []struct {
		why  ledger.ExitReason
		code int
		want ledger.FailureClass
	}{
		{ledger.ExitSelf, 1, ledger.FailureLimit},
		{ledger.ExitSelf, 0, ledger.FailureLimit},
		{ledger.ExitStall, -1, ledger.FailureLimit},
		{ledger.ExitWall, -1, ledger.FailureLimit},
		{ledger.ExitAsked, -1, ""},
		{ledger.ExitLost, -1, ""},
	} {
		if v := command.Judge(strings.NewReader(tail), ledger.Exit{Reason: c.why, Code: c.code}); v.Failure != c.want || v.Turns != -1 {
			t.Errorf("%s %d: %+v", c.why, c.code, v)
		}
	}
}

// TestCommandEvents: a command may run a program that prints its events. These
// say what the program says; answers of the model and results of tools are in
// events, too, and say nothing of a limit.
func TestCommandEvents(t *testing.T) {
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	const (
		codexWorks = `{"type":"thread.started","thread_id":"t1"}` + "\n" +
			`{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"go test","aggregated_output":"want rate_limit_error\nYou've hit your usage limit.\n","exit_code":1}}` + "\n" +
			`{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"You've hit your usage limit is handled now."}}` + "\n"
		codexDone   = `{"type":"turn.completed","usage":{"input_tokens":3}}` + "\n"
		openStep    = `{"type":"step_finish","sessionID":"s","part":{"type":"step-finish","reason":"tool-calls","cost":0.1}}` + "\n"
		geminiWorks = `{"type":"message","role":"assistant","content":"RESOURCE_EXHAUSTED is retried","delta":true}` + "\n"
	)
	for _, c := range []struct {
		name, output string
		code         int
		want         Verdict
	}{
		{"codex, usage limit at once", `{"type":"thread.started","thread_id":"t1"}` + "\n" +
			`{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found"}}` + "\n" +
			`{"type":"error","message":"You’ve hit your usage limit. Upgrade to Pro or try again at Nov 23rd, 2026 3:53 PM (UTC)."}` + "\n" +
			`{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Upgrade to Pro or try again at Nov 23rd, 2026 3:53 PM (UTC)."}}`, 1,
			Verdict{Failure: ledger.FailureLimit, Until: time.Date(2026, 11, 23, 15, 53, 0, 0, time.UTC), Text: "You’ve hit your usage limit. Upgrade to Pro or try again at Nov 23rd, 2026 3:53 PM (UTC).", Turns: -1}},
		{"codex, 429", codexWorks + `{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}`, 1,
			Verdict{Failure: ledger.FailureNetwork, Text: "exceeded retry limit, last status: 429 Too Many Requests", Turns: 2}},
		{"codex, reconnecting", codexWorks + `{"type":"error","message":"Reconnecting... 1/2 (429 Too Many Requests)"}`, 1, Verdict{Turns: 2}},
		{"codex, words in tools and answers", codexWorks + codexDone, 0, Verdict{Turns: 3}},
		{"codex, words on standard error before an answer", "You've hit your usage limit.\n" + codexWorks + codexDone, 0, Verdict{Turns: 3}},
		{"opencode, 429", openStep + `{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"Too Many Requests","statusCode":429,"isRetryable":true}}}`, 1,
			Verdict{Failure: ledger.FailureNetwork, Text: "Too Many Requests", Turns: 1}},
		{"opencode, 503", `{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"busy","statusCode":503,"isRetryable":true}}}`, 1,
			Verdict{Failure: ledger.FailureNetwork, Text: "busy", Turns: -1}},
		{"pi, usage limit with exit 0", `{"type":"auto_retry_end","success":false,"attempt":3,"finalError":"429 The usage limit has been reached"}` + "\n" +
			`{"type":"agent_end","messages":[{"role":"user"},{"role":"assistant","stopReason":"error","errorMessage":"429 The usage limit has been reached"}]}`, 0,
			Verdict{Failure: ledger.FailureLimit, Text: "429 The usage limit has been reached", Turns: -1}},
		{"pi, quota with exit 0", `{"type":"auto_retry_end","success":false,"finalError":"429 You exceeded your current quota, please check your plan"}`, 0,
			Verdict{Failure: ledger.FailureLimit, Text: "429 You exceeded your current quota, please check your plan", Turns: -1}},
		{"pi, rate limit with exit 0", `{"type":"auto_retry_end","success":false,"finalError":"429 Rate limit reached"}`, 0,
			Verdict{Failure: ledger.FailureNetwork, Text: "429 Rate limit reached", Turns: -1}},
		{"pi, wrong key with exit 0", `{"type":"auto_retry_end","success":false,"finalError":"401 Incorrect API key provided"}`, 0,
			Verdict{Failure: ledger.FailureAuth, Text: "401 Incorrect API key provided", Turns: -1}},
		{"pi, a retry that helped", `{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"429 Rate limit reached"}}` + "\n" +
			`{"type":"auto_retry_end","success":true}` + "\n" + `{"type":"message_end","message":{"role":"assistant","stopReason":"stop"}}`, 0, Verdict{Turns: 1}},
		{"gemini", geminiWorks + `{"type":"result","status":"error","error":{"type":"ApiError","message":"{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\"}}"}}`, 173,
			Verdict{Failure: ledger.FailureNetwork, Text: `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`, Turns: 1}},
		{"qwen", `{"type":"result","is_error":true,"error":{"message":"[API Error: 429 rate limited]"}}`, 0,
			Verdict{Failure: ledger.FailureNetwork, Text: "[API Error: 429 rate limited]", Turns: -1}},
		{"copilot", `{"type":"session.error","data":{"errorType":"rate_limit","message":"Sorry, you have been rate limited."}}` + "\n" + `{"type":"result","exitCode":1}`, 1,
			Verdict{Failure: ledger.FailureNetwork, Text: "Sorry, you have been rate limited.", Turns: -1}},
		{"claude, as a command", `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795190000}}` + "\n" +
			`{"type":"assistant","error":"rate_limit","message":{"model":"<synthetic>","content":[{"text":"You've hit your 5-hour limit"}]}}` + "\n" +
			`{"is_error":true,"api_error_status":429,"result":"You've hit your 5-hour limit · resets 3:53pm (UTC)","type":"result"}`, 1,
			Verdict{Failure: ledger.FailureLimit, Until: time.Unix(1795190000, 0).UTC(), Text: "You've hit your 5-hour limit · resets 3:53pm (UTC)", Turns: -1}},
		{"claude, words in a tool's result", `{"type":"assistant","message":{"id":"m","model":"claude-x"}}` + "\n" +
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"API Error: 429 rate_limit_error\nYou've hit your limit"}]}}` + "\n" +
			`{"is_error":false,"result":"You've hit your limit, says the test","type":"result"}`, 0, Verdict{Turns: 1}},
		{"an error long before the end", `{"type":"turn.failed","error":{"message":"429"}}` + strings.Repeat("\nok", searchedLines), 1, Verdict{Turns: -1}},
		{"another error", `{"type":"turn.failed","error":{"message":"context window exceeded"}}`, 1, Verdict{Text: "context window exceeded", Turns: -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Tokens, c.want.CostUSD, c.want.Unverified = -1, -1, c.want.Failure != ""
			got := command.Judge(strings.NewReader(c.output), ledger.Exit{Reason: ledger.ExitSelf, Code: c.code, Ended: ended})
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func FuzzRecognise(f *testing.F) {
	f.Add("Weekly limit reached ∙ resets Nov 25, 9am (UTC)")
	f.Add(`{"type":"turn.failed","error":{"message":"429"}}`)
	f.Add("Quota exceeded. Please try again in 99999999999999999999h")
	f.Fuzz(func(t *testing.T, text string) {
		ended := time.Unix(1795190000, 0)
		v := command.Judge(strings.NewReader(text), ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended})
		trouble, until := v.Failure, v.Until
		if trouble != ledger.FailureLimit && trouble != ledger.FailureNetwork && !until.IsZero() {
			t.Errorf("%q: a time without a limit", text)
		}
	})
}
