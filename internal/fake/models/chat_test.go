package models

import (
	"net/http"
	"strings"
	"testing"
)

// TestChat speaks chat completions: answers count as turns, results of tools are the
// user's, and the last chunk of a stream has the usage.
func TestChat(t *testing.T) {
	s := Start(t, Play(func(Request) []Turn {
		return []Turn{
			{Text: "look", Tools: []Tool{{"bash", map[string]any{"command": "ls"}}}},
			{Text: "Done.", Usage: Usage{Input: 100, CacheRead: 10, Output: 5}},
		}
	}))
	asked := func(stream, more string) string {
		t.Helper()
		r, err := ask(t, s, "/v1/chat/completions", `{"model":"m","stream":`+stream+`,"user":"s1","tools":[{"type":"function","function":{"name":"bash"}}],"messages":[
			{"role":"system","content":"rules"},{"role":"user","content":[{"type":"text","text":"go"}]}`+more+`]}`)
		if err != nil || r.status != http.StatusOK {
			t.Fatalf("%+v, %v", r, err)
		}
		return string(r.body)
	}
	if first := asked("true", ""); !strings.Contains(first, `"name":"bash"`) || !strings.Contains(first, `"arguments":"{\"command\":\"ls\"}"`) || !strings.HasSuffix(first, "data: [DONE]\n\n") {
		t.Errorf("first answer: %s", first)
	}
	done := `,{"role":"assistant","content":"look","tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"a.go"}`
	second, whole := asked("true", done), asked("false", done)
	for _, want := range []string{`"content":"Done."`, `"prompt_tokens":110`, `"cached_tokens":10`, `"completion_tokens":5`, `"finish_reason":"stop"`} {
		if !strings.Contains(second, want) || !strings.Contains(whole, want) {
			t.Errorf("%s is missing in:\n%s\n%s", want, second, whole)
		}
	}
	r := s.Turns()[1]
	if r.Step != 1 || r.Session != "s1" || !strings.Contains(r.System, "rules") || r.Prompt() != "go" || r.Results()[0].Text != "a.go" || strings.Join(r.Tools, " ") != "bash" {
		t.Errorf("%+v", r)
	}
}

func TestChatFault(t *testing.T) {
	s := Start(t, func(Request) Turn { return Fail(Fault{Status: 429, Type: "insufficient_quota", Message: "no"}) })
	r, err := ask(t, s, "/v1/chat/completions", `{"tools":[{"function":{"name":"x"}}],"messages":[]}`)
	if err != nil || r.status != 429 || !strings.Contains(string(r.body), `"code":"insufficient_quota"`) {
		t.Errorf("%+v, %v", r, err)
	}
}
