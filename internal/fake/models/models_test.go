package models

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reply is a response; cut is the error of reading an incomplete body.
type reply struct {
	status int
	header http.Header
	body   []byte
	cut    error
}

// ask sends a request as an agent does. The body is any JSON.
func ask(t *testing.T, s *Server, path, body string) (reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Claude-Code-Session-Id", "s1")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	r := reply{status: resp.StatusCode, header: resp.Header}
	r.body, r.cut = io.ReadAll(resp.Body)
	return r, nil
}

const begin = `{"model":"m","stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"go"}]}`

// streamed reassembles the blocks of a stream.
func streamed(t *testing.T, body []byte) (text, input, stop string) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Delta struct {
				Text, Partial_json, Stop_reason string //nolint:revive // as on the wire
			}
		}
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		text, input = text+e.Delta.Text, input+e.Delta.Partial_json
		if e.Type == "message_delta" {
			stop = e.Delta.Stop_reason
		}
	}
	return text, input, stop
}

func TestStream(t *testing.T) {
	long := strings.Repeat("üx", 3*piece)
	s := Start(t, func(Request) Turn { return Turn{Text: long, Tools: []Tool{Bash("echo 'it'")}} })
	resp, err := ask(t, s, "/v1/messages?beta=true", begin)
	if err != nil {
		t.Fatal(err)
	}
	text, input, stop := streamed(t, resp.body)
	if text != long || input != `{"command":"echo 'it'","description":"run a command"}` || stop != "tool_use" {
		t.Errorf("%d bytes of text, input %s, stop %s", len(text), input, stop)
	}
	resp, err = ask(t, s, "/v1/messages", strings.Replace(begin, `"stream":true,`, "", 1))
	if err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Content []struct{ Type, Text string }
		Usage   Usage
	}
	if err := json.Unmarshal(resp.body, &whole); err != nil || len(whole.Content) != 2 || whole.Content[0].Text != long || whole.Usage.Input != 1000 {
		t.Errorf("%v, %d blocks, %+v", err, len(whole.Content), whole.Usage)
	}
}

func TestRequest(t *testing.T) {
	s := Start(t, Play(func(r Request) []Turn {
		if r.Hat().Name != "builder" {
			t.Errorf("hat: %+v", r.Hat())
		}
		return []Turn{Use(Bash("x"))}
	}))
	prompt, err := json.Marshal("## Role\n\nYou are the builder.\n\n## Task\n\nTask 5: Say: hello\n\nbody\n\n## How to end\n\n" +
		"    hat emit build.complete --data '{\"guidance\":[{\"id\":\"g1\",\"done\":true}]}'\n    hat emit task.blocked --data '{}'\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, s, "/v1/messages", `{"system":[{"type":"text","text":"sys"}],"tools":[{"name":"Bash"}],"messages":[
		{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":`+string(prompt)+`}]},
		{"role":"assistant","content":[{"type":"tool_use","name":"Bash","id":"1","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","is_error":true,"content":[{"type":"text","text":"no"}]}]}]}`); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, s, "/v1/messages", `{"messages":[{"role":"user","content":"title?"}]}`); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, s, "/v1/messages/count_tokens", begin); err != nil {
		t.Fatal(err)
	}
	resp, err := ask(t, s, "/v1/models", "{}")
	if err != nil || resp.status != http.StatusNotFound {
		t.Errorf("another path: %v, %v", resp, err)
	}
	if resp, err = ask(t, s, "/v1/messages", "{"); err != nil || resp.status != http.StatusBadRequest {
		t.Errorf("no JSON: %v, %v", resp, err)
	}
	all := s.Requests()
	if len(all) != 3 || !all[1].Auxiliary || !all[2].CountTokens || len(s.Turns()) != 1 {
		t.Fatalf("%d requests: %+v", len(all), all)
	}
	r := all[0]
	if r.Session != "s1" || r.Step != 1 || r.System != "sys\n" || !r.Contains("Say: hello") || r.Contains("nowhere") {
		t.Errorf("%+v", r)
	}
	if d := cmp.Diff([]Part{{Type: "tool_result", Text: "no", Error: true}}, r.Results()); d != "" {
		t.Error(d)
	}
	h := r.Hat()
	h.Parts = nil
	want := Hat{Name: "builder", Task: "Task 5", Title: "Say: hello", Event: "build.complete", Events: []string{"build.complete", "task.blocked"}, OwedGuidance: []string{"g1"}}
	if d := cmp.Diff(want, h); d != "" {
		t.Error(d)
	}
	if got := h.Emit(map[string]any{"summary": "it's"}).Input.(map[string]any)["command"]; got != `hat emit build.complete --data '{"guidance":[{"done":true,"id":"g1","note":"heeded"}],"summary":"it'\''s"}'` {
		t.Errorf("emit: %s", got)
	}
}

func TestFaults(t *testing.T) {
	reset := time.Now().Add(time.Hour)
	for _, c := range []struct {
		name   string
		fault  Fault
		status int
		header string
	}{
		{"rate limit", RateLimited(0), 429, ""},
		{"rate limit with a time", RateLimited(7 * time.Second), 429, "Retry-After"},
		{"limit", LimitReached("five_hour", reset), 429, "Anthropic-Ratelimit-Unified-5h-Reset"},
		{"overloaded", Overloaded(), 529, ""},
		{"no credit", CreditTooLow(), 400, ""},
		{"hang", Hang(), 0, ""},
		{"hang in mid-answer", HangAfterHalf(), 200, ""},
		{"reset", Reset(), 0, ""},
		{"cut", Cut(), 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan struct{}, 2)
			s := Start(t, func(Request) Turn {
				turn := Say("a text to be cut").WithFault(c.fault.Once())
				turn.Before = func() { asked <- struct{}{} }
				return turn
			})
			done := make(chan struct{})
			go func() { // the server's Close ends the hanging request
				defer close(done)
				<-asked
				if c.fault.Hang {
					s.Close()
				}
			}()
			resp, err := ask(t, s, "/v1/messages", begin)
			<-done
			switch {
			case c.status == 0:
				if err == nil {
					t.Errorf("an answer: %v", resp.status)
				}
				return
			case err != nil:
				if !c.fault.Hang {
					t.Fatal(err)
				}
				return // closed before half of the answer arrived
			case resp.status != c.status || c.header != "" && resp.header.Get(c.header) == "":
				t.Errorf("%d, %v", resp.status, resp.header)
			}
			if (resp.cut != nil) != c.fault.AfterHalf {
				t.Errorf("body: %v", resp.cut)
			}
			if c.fault.Hang {
				return
			}
			resp, err = ask(t, s, "/v1/messages", begin)
			if err != nil {
				t.Fatal(err)
			}
			if text, _, stop := streamed(t, resp.body); text != "a text to be cut" || stop != "end_turn" || s.Requests()[1].Try != 1 {
				t.Errorf("the second time: %q, %q", text, stop)
			}
		})
	}
}
