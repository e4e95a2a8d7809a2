package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// chatAPI is OpenAI's API of chat completions, which most programs speak to models
// of any provider.
var chatAPI = dialect{
	serves: func(path string) bool { return strings.HasSuffix(path, "/chat/completions") },
	parse:  parseChat, stream: Turn.streamChat, message: Turn.chat, fail: failOpenAI,
}

// ownAnswer is what Qwen Code puts into the model's mouth before the prompt.
const ownAnswer = "Got it. Thanks for the context!"

// parseChat decodes the body of a request for a chat completion. The results of
// tools become parts of one message, as in the Messages API.
func parseChat(body []byte, hr *http.Request) (Request, error) {
	var in struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		User   string `json:"user"`
		Tools  []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Calls   []struct {
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("the request is no JSON: %w", err)
	}
	r := Request{Model: in.Model, Stream: in.Stream, Header: hr.Header, Bytes: len(body), Session: in.User}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	for _, m := range in.Messages {
		content := parts(m.Content)
		switch m.Role {
		case "system", "developer":
			for _, p := range content {
				r.System += p.Text + "\n"
			}
		case "tool":
			result := Part{Type: "tool_result"}
			for _, p := range content {
				result.Text += p.Text
			}
			r.add("user", result)
		case "assistant":
			if len(m.Calls) == 0 && len(content) == 1 && content[0].Text == ownAnswer {
				continue
			}
			for _, c := range m.Calls {
				content = append(content, Part{Type: "tool_use", Name: c.Function.Name})
			}
			r.add("assistant", content...)
		default:
			r.add(m.Role, content...)
		}
	}
	r.Auxiliary = len(r.Tools) == 0
	return r, nil
}

// chatCalls returns the tool calls of the turn, or nil.
func (t Turn) chatCalls(id string) ([]any, error) {
	var calls []any
	for n, b := range t.blocks(id) {
		if b.Type != "tool_use" {
			continue
		}
		raw, err := json.Marshal(b.Input)
		if err != nil {
			return nil, fmt.Errorf("input of tool %s: %w", b.Name, err)
		}
		calls = append(calls, map[string]any{"index": n, "id": b.ID, "type": "function", "function": map[string]any{"name": b.Name, "arguments": string(raw)}})
	}
	return calls, nil
}

func (t Turn) chatFinish() string {
	if len(t.Tools) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// chat returns the answer to a request without streaming.
func (t Turn) chat(r Request, id string) map[string]any {
	calls, err := t.chatCalls(id)
	if err != nil {
		return map[string]any{"error": err.Error()} // a mistake in the test's script
	}
	return map[string]any{
		"id": "chatcmpl-" + id, "object": "chat.completion", "model": r.Model, "usage": t.usage().chat(),
		"choices": []any{map[string]any{"index": 0, "finish_reason": t.chatFinish(), "message": map[string]any{"role": "assistant", "content": t.Text, "tool_calls": calls}}},
	}
}

// streamChat writes the answer as chunks. With half it stops in the middle of the
// text.
func (t Turn) streamChat(w http.ResponseWriter, r Request, id string, half bool) error {
	s := &sse{w: w, flush: http.NewResponseController(w)}
	chunk := func(delta map[string]any, finish any) {
		s.data(map[string]any{
			"id": "chatcmpl-" + id, "object": "chat.completion.chunk", "created": 1, "model": r.Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	calls, err := t.chatCalls(id)
	if err != nil {
		return err
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	if half {
		chunk(map[string]any{"content": "Do"}, nil)
		return s.err
	}
	if t.Text != "" {
		chunk(map[string]any{"content": t.Text}, nil)
	}
	if calls != nil {
		chunk(map[string]any{"tool_calls": calls}, nil)
	}
	chunk(map[string]any{}, t.chatFinish())
	s.data(map[string]any{"id": "chatcmpl-" + id, "object": "chat.completion.chunk", "created": 1, "model": r.Model, "choices": []any{}, "usage": t.usage().chat()})
	s.write("data: [DONE]\n\n")
	return s.err
}

// chat returns the usage as chat completions count it: what was cached is part of
// the input.
func (u Usage) chat() map[string]any {
	in := u.Input + u.CacheWrite + u.CacheRead
	return map[string]any{
		"prompt_tokens": in, "prompt_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
		"completion_tokens": u.Output, "total_tokens": in + u.Output,
	}
}
