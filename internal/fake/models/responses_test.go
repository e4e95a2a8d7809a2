package models

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestResponses speaks the Responses API: answers count as turns, and an error has
// the fields of that API.
func TestResponses(t *testing.T) {
	s := Start(t, Play(func(Request) []Turn {
		return []Turn{
			{Text: "look", Tools: []Tool{{"exec_command", map[string]any{"cmd": "ls"}}}},
			{Text: "Done.", Usage: Usage{Input: 100, CacheRead: 10, Output: 5}},
		}
	}))
	ask := func(more string) string {
		t.Helper()
		r, err := ask(t, s, "/v1/responses", `{"model":"m","stream":true,"prompt_cache_key":"s1","instructions":"be kind","tools":[{"type":"function","name":"exec_command"},{"type":"web_search"}],"input":[
			{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`+more+`]}`)
		if err != nil || r.status != http.StatusOK || r.header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%+v, %v", r, err)
		}
		return string(r.body)
	}
	first := ask("")
	if !strings.Contains(first, `"name":"exec_command"`) || !strings.Contains(first, `"arguments":"{\"cmd\":\"ls\"}"`) {
		t.Errorf("first answer: %s", first)
	}
	second := ask(`,{"type":"reasoning"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"look"}]},
		{"type":"function_call","name":"exec_command","call_id":"c"},{"type":"function_call_output","call_id":"c","output":"a.go"}`)
	if !strings.Contains(second, `"text":"Done."`) || !strings.Contains(second, `"usage":{"input_tokens":110,"input_tokens_details":{"cached_tokens":10},"output_tokens":5,`) {
		t.Errorf("second answer: %s", second)
	}
	r := s.Turns()[1]
	if r.Step != 1 || r.Session != "s1" || !strings.Contains(r.System, "rules") || r.Prompt() != "go" || r.Results()[0].Text != "a.go" || strings.Join(r.Tools, " ") != "exec_command web_search" {
		t.Errorf("%+v", r)
	}
}

func TestResponsesFault(t *testing.T) {
	s := Start(t, func(Request) Turn {
		return Fail(Fault{Status: 429, Type: "usage_limit_reached", Message: "The usage limit has been reached", Extra: map[string]any{"resets_at": 1795190000}})
	})
	r, err := ask(t, s, "/v1/responses", `{"tools":[{"name":"x"}],"input":[]}`)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Error struct {
			Type, Code string
			Resets     int64 `json:"resets_at"`
		}
	}
	if err := json.Unmarshal(r.body, &body); err != nil || r.status != 429 || body.Error.Code != "usage_limit_reached" || body.Error.Resets != 1795190000 {
		t.Errorf("%d %s, %v", r.status, r.body, err)
	}
}
