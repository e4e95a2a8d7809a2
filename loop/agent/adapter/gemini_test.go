package adapter

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestGeminiCommand(t *testing.T) {
	for _, c := range []struct {
		name string
		call Call
		want []string
	}{
		{"by its name", Call{}, []string{"--output-format", "stream-json", "--yolo"}},
		{"with a model", Call{Launch: ledger.Launch{Model: "gemini-x", Effort: "high"}}, []string{"--output-format", "stream-json", "--yolo", "--model", "gemini-x"}},
		{"a whole command", Call{Args: []string{"-o", "stream-json", "--approval-mode=auto_edit"}}, []string{"-o", "stream-json", "--approval-mode=auto_edit"}},
	} {
		got, stdin, err := gemini.CommandLine(c.call)
		if d := cmp.Diff(c.want, got); d != "" || !stdin || err != nil {
			t.Errorf("%s: stdin %v, %v, -want +got:\n%s", c.name, stdin, err, d)
		}
	}
}

// TestGeminiRead reads output of possible other releases and of rare events.
func TestGeminiRead(t *testing.T) {
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	self := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Ended: ended}
	const answer = `{"type":"init"}` + "\n" + `{"type":"message","role":"assistant","content":"Do","delta":true}` + "\n" + `{"type":"message","role":"assistant","content":"ne.","delta":true}` + "\n"
	success := func(stats string) string {
		return answer + `{"type":"result","status":"success","stats":{` + stats + `}}`
	}
	failed := func(message string) string {
		return `{"type":"init"}` + "\n" + `{"type":"result","status":"error","error":{"type":"unknown","message":"` + message + `"},"stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0}}`
	}
	const advice = `\nPlease wait and try again later. To increase your limits, request a quota increase through AI Studio, or switch to another /auth method`
	uncounted := Verdict{Turns: 1, Tokens: -1, CostUSD: -1, Uncounted: true}
	for _, c := range []struct {
		name, stream string
		exit         ledger.Exit
		want         Verdict
	}{
		{"with thoughts", success(`"total_tokens":150,"input_tokens":100,"output_tokens":5,"cached":10,"input":90,"tool_calls":0`), self, Verdict{Turns: 1, Tokens: 150, CostUSD: -1}},
		{"a total that is less than its parts", success(`"total_tokens":100,"input_tokens":100,"output_tokens":5,"cached":10`), self, uncounted},
		{"a new kind of tokens", success(`"total_tokens":105,"input_tokens":100,"output_tokens":5,"cached":10,"audio_tokens":7`), self, uncounted},
		{"nothing counted", success(`"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0`), self, Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"no figures", answer + `{"type":"result","status":"success"}`, self, Verdict{Turns: 1, Tokens: -1, CostUSD: -1, Uncounted: true}},
		{"an account's limit", failed(`[API Error: You have exhausted your capacity on this model. Your quota will reset after 7h22m10s.]` + advice), self,
			Verdict{Failure: ledger.FailureLimit, Until: ended.Add(7*time.Hour + 22*time.Minute + 10*time.Second), Text: "You have exhausted your capacity on this model. Your quota will reset after 7h22m10s.", Tokens: -1, CostUSD: -1}},
		{"a wait of hours without a word", `{"type":"init"}` + "\nRipgrep is not available.\nAttempt 1 failed: You have exhausted your capacity on this model. Your quota will reset after 7h22m10s.. Retrying after 26536314ms...\n", ledger.Exit{Reason: ledger.ExitStall, Code: -1, Ended: ended},
			Verdict{Failure: ledger.FailureLimit, Unverified: true, Until: ended.Add(7*time.Hour + 22*time.Minute + 10*time.Second), Text: "Attempt 1 failed: You have exhausted your capacity on this model. Your quota will reset after 7h22m10s.. Retrying after 26536314ms...", Tokens: -1, CostUSD: -1}},
		{"the quota of a minute", failed(`[API Error: You exceeded your current quota, please check your plan and billing details. Please retry in 32.5s.]` + advice), self,
			Verdict{Failure: ledger.FailureNetwork, Until: ended.Add(32500 * time.Millisecond), Text: "You exceeded your current quota, please check your plan and billing details. Please retry in 32.5s.", Tokens: -1, CostUSD: -1}},
		{"no key", "Please set an Auth method in your /root/.gemini/settings.json\n", self,
			Verdict{Failure: ledger.FailureAuth, Unverified: true, Text: "Please set an Auth method in your /root/.gemini/settings.json", Tokens: -1, CostUSD: -1}},
		{"an error without brackets", failed(`nobody knows`), self, Verdict{Turns: 1, Text: "nobody knows", Tokens: -1, CostUSD: -1}},
		{"brackets that do not end", failed(`[API Error: {`), self, Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"answered after an error", failed("[API Error: x]") + "\n" + success(`"total_tokens":105,"input_tokens":100,"output_tokens":5,"cached":0`), self, Verdict{Turns: 1, Tokens: 105, CostUSD: -1}},
	} {
		if d := cmp.Diff(c.want, judge(&gemini, []byte(c.stream), c.exit), withoutKinds); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
	if said := gemini.LastMessage(strings.NewReader(success(""))); said != "Done." {
		t.Errorf("said %q", said)
	}
}

// TestGeminiStopHook reads a session that the hook kept from its end: the model answered
// twice, without a call in between.
func TestGeminiStopHook(t *testing.T) {
	stream := recorded(t, Gemini, "stop-hook-heeds-not")
	want := Verdict{Turns: 2, Tokens: 2100, CostUSD: -1}
	if d := cmp.Diff(want, judge(&gemini, stream, ledger.Exit{Reason: ledger.ExitSelf}), withoutKinds); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if said := geminiLastMessage(bytes.NewReader(stream)); said != "I said that I am done." {
		t.Errorf("said %q", said)
	}
}

func TestGeminiLogin(t *testing.T) {
	const began = `{"access_token":"a","refresh_token":"r","expiry_date":1795190000000}`
	for left, want := range map[string]bool{
		`{"access_token":"b","refresh_token":"r","expiry_date":1795190000001}`: true,
		began: false,
		`{"access_token":"b","refresh_token":"r","expiry_date":1}`:             false,
		`{"access_token":"b","refresh_token":"","expiry_date":1795190000001}`:  false,
		`{"access_token":"b","refresh_token":"r","expiry_date":9795190000001}`: false, // no later one would count as newer
		geminiSettings("oauth-personal"):                                       false,
		"{":                                                                    false,
	} {
		if got := geminiRenewed([]byte(began), []byte(left)); (got != nil) != want {
			t.Errorf("%s: %s", left, got)
		}
	}
	if got := geminiRenewed([]byte(geminiSettings("oauth-personal")), []byte(began)); got != nil {
		t.Errorf("settings became %s", got)
	}
	for token, want := range map[string]string{"AIzaX\n": "an API key", "": "", "a b": "", "sk-x": "", "ya29.x": ""} {
		files, note, err := geminiFromToken([]byte(token))
		if note != want || (err == nil) != (want != "") || err == nil && string(files["key"]) != "AIzaX\n" {
			t.Errorf("%q: %q, %q, %v", token, files, note, err)
		}
	}
}
