package models

import (
	"net/http"
	"strings"
	"testing"
)

// TestGemini speaks the Gemini API: the path has the model, answers count as turns,
// and results of tools are the user's.
func TestGemini(t *testing.T) {
	s := Start(t, Play(func(Request) []Turn {
		return []Turn{
			{Text: "look", Tools: []Tool{{"run_shell_command", map[string]any{"command": "ls"}}}},
			{Text: "Done.", Usage: Usage{Input: 100, CacheRead: 10, Output: 5}},
		}
	}))
	asked := func(method, more string) string {
		t.Helper()
		r, err := ask(t, s, "/v1beta/models/gemini-x:"+method, `{"systemInstruction":{"parts":[{"text":"rules"}]},"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[
			{"role":"user","parts":[{"text":"go"}]}`+more+`]}`)
		if err != nil || r.status != http.StatusOK {
			t.Fatalf("%+v, %v", r, err)
		}
		return string(r.body)
	}
	if first := asked("streamGenerateContent", ""); !strings.HasPrefix(first, "data: {") || !strings.Contains(first, `"functionCall":{"args":{"command":"ls"},"name":"run_shell_command"}`) {
		t.Errorf("first answer: %s", first)
	}
	done := `,{"role":"model","parts":[{"text":"look"},{"functionCall":{"name":"run_shell_command","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":"a.go"}}}]}`
	second, whole := asked("streamGenerateContent", done), asked("generateContent", done)
	for _, want := range []string{`"text":"Done."`, `"promptTokenCount":110`, `"cachedContentTokenCount":10`, `"candidatesTokenCount":5`} {
		if !strings.Contains(second, want) || !strings.Contains(whole, want) {
			t.Errorf("%s is missing in:\n%s\n%s", want, second, whole)
		}
	}
	if count := asked("countTokens", ""); !strings.Contains(count, `"totalTokens":`) || len(s.Turns()) != 3 {
		t.Errorf("counted: %s, %d turns", count, len(s.Turns()))
	}
	r := s.Turns()[1]
	if r.Step != 1 || r.Model != "gemini-x" || !r.Stream || !strings.Contains(r.System, "rules") || r.Prompt() != "go" || r.Results()[0].Text != "a.go" || strings.Join(r.Tools, " ") != "run_shell_command" {
		t.Errorf("%+v", r)
	}
}

func TestGeminiFault(t *testing.T) {
	s := Start(t, func(Request) Turn {
		return Fail(Fault{Status: 429, Message: "no", Extra: map[string]any{"details": []any{map[string]any{"reason": "QUOTA_EXHAUSTED"}}}})
	})
	r, err := ask(t, s, "/v1beta/models/m:streamGenerateContent", `{"tools":[{"functionDeclarations":[{"name":"x"}]}],"contents":[]}`)
	if err != nil || r.status != 429 || !strings.Contains(string(r.body), `"status":"RESOURCE_EXHAUSTED"`) || !strings.Contains(string(r.body), "QUOTA_EXHAUSTED") {
		t.Errorf("%+v, %v", r, err)
	}
}
