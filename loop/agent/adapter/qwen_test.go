package adapter

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestQwenRead(t *testing.T) {
	ended := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	self := ledger.Exit{Reason: ledger.ExitSelf, Ended: ended}
	const begin = `{"type":"system","subtype":"init"}` + "\n"
	says := func(parent, text string) string {
		return `{"type":"assistant","parent_tool_use_id":` + parent + `,"message":{"content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
	}
	result := func(usage string) string {
		return `{"type":"result","is_error":false,"result":"Done.","usage":{` + usage + `}}` + "\n"
	}
	const usage = `"input_tokens":100,"output_tokens":5,"cache_read_input_tokens":10,"total_tokens":105`
	for _, c := range []struct {
		name, stream string
		want         Verdict
	}{
		{"one answer in two events", begin + says("null", "a") + says("null", "b") + result(usage), Verdict{Turns: 1, Tokens: 105, CostUSD: -1}},
		{"without a total", begin + says("null", "a") + result(`"input_tokens":100,"output_tokens":5`), Verdict{Turns: 1, Tokens: 105, CostUSD: -1}},
		{"another total", begin + says("null", "a") + result(`"input_tokens":100,"output_tokens":5,"total_tokens":7`), Verdict{Turns: 1, Tokens: -1, CostUSD: -1, Uncounted: true}},
		{"a new kind of tokens", begin + says("null", "a") + result(usage+`,"thought_tokens":7`), Verdict{Turns: 1, Tokens: -1, CostUSD: -1, Uncounted: true}},
		{"a subagent", begin + says("null", "a") + says(`"t1"`, "b") + result(usage), Verdict{Turns: 1, Tokens: -1, CostUSD: -1}},
		{"an error as an answer", begin + says("null", `[API Error: 401 Incorrect API key provided]`) + `{"type":"result","is_error":true,"error":{"message":"[API Error: 401 Incorrect API key provided]"}}`,
			Verdict{Failure: ledger.FailureAuth, Text: "Incorrect API key provided", Tokens: -1, CostUSD: -1}},
		{"a quota", begin + `{"type":"result","is_error":true,"error":{"message":"[API Error: 429 Free allocated quota exceeded.]\nPossible quota limitations in place"}}`,
			Verdict{Failure: ledger.FailureLimit, Text: "Free allocated quota exceeded.", Tokens: -1, CostUSD: -1}},
	} {
		if d := cmp.Diff(c.want, judge(&qwen, []byte(c.stream), self), withoutKinds); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

func TestQwenLogin(t *testing.T) {
	for token, ok := range map[string]bool{"sk-x": true, "sk-ant-x": false, "sk-or-x": false, "sk-proj-x": false, "": false, "a b": false} {
		files, _, err := qwenFromToken([]byte(token))
		if (err == nil) != ok || ok && string(files[qwenURL]) != modelStudio+"\n" {
			t.Errorf("%q: %q, %v", token, files, err)
		}
	}
	home := t.TempDir()
	path := filepath.Join(home, ".qwen", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const provider = `"modelProviders":{"openai":[{"id":"a","envKey":"A_KEY","baseUrl":"https://a.example/v1"},{"id":"b","envKey":"B_KEY","baseUrl":"https://b.example/v1"}]}`
	for settings, want := range map[string]string{
		`{"env":{"A_KEY":"k1","B_KEY":"k2"},"model":{"name":"b"},` + provider + `}`:                                        "k2 https://b.example/v1 b",
		`{"env":{"A_KEY":"k1"},` + provider + `}`:                                                                          "k1 https://a.example/v1 a",
		`{"security":{"auth":{"selectedType":"openai","apiKey":"k3","baseUrl":"https://c.example"}},"model":{"name":"c"}}`: "k3 https://c.example c",
		`{"security":{"auth":{"selectedType":"qwen-oauth"}}}`:                                                              "",
		`{"env":{"OPENAI_API_KEY":"k4"}}`:                                                                                  "", // whose is it?
		`{`:                                                                                                                "",
	} {
		if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		files, _, err := qwenFromHome(home, time.Time{})
		got := ""
		if err == nil {
			got = string(files[qwenKey][:len(files[qwenKey])-1]) + " " + string(files[qwenURL][:len(files[qwenURL])-1]) + " " + string(files[qwenModel][:len(files[qwenModel])-1])
		}
		if got != want {
			t.Errorf("%s: %q, %v, want %q", settings, got, err, want)
		}
	}
}
