package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// responsesPath is the path of OpenAI's Responses API, which Codex speaks.
const responsesPath = "/v1/responses"

// responsesAPI is OpenAI's Responses API. It always streams.
var responsesAPI = dialect{
	serves: func(path string) bool { return strings.HasSuffix(path, responsesPath) },
	parse:  parseResponses, stream: Turn.streamResponses, fail: failOpenAI,
}

// parseResponses decodes the body of a request to the Responses API. Several
// items of one answer become one message, as in the Messages API.
func parseResponses(body []byte, hr *http.Request) (Request, error) {
	var in struct {
		Model        string `json:"model"`
		Instructions string `json:"instructions"`
		CacheKey     string `json:"prompt_cache_key"`
		Tools        []struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tools"`
		Input []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Name    string          `json:"name"`
			Content json.RawMessage `json:"content"`
			Output  json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("the request is no JSON: %w", err)
	}
	r := Request{Model: in.Model, Stream: true, Header: hr.Header, Bytes: len(body), Session: in.CacheKey, System: in.Instructions}
	for _, t := range in.Tools {
		if t.Name == "" {
			t.Name = t.Type
		}
		r.Tools = append(r.Tools, t.Name)
	}
	for _, item := range in.Input {
		switch {
		case strings.HasSuffix(item.Type, "_output"):
			p := Part{Type: "tool_result"}
			for _, inner := range responseParts(item.Output) {
				p.Text += inner.Text
			}
			r.add("user", p)
		case strings.HasSuffix(item.Type, "_call"):
			r.add("assistant", Part{Type: "tool_use", Name: item.Name})
		case item.Type == "reasoning":
			r.add("assistant")
		case item.Role == "developer" || item.Role == "system":
			for _, p := range responseParts(item.Content) {
				r.System += p.Text + "\n"
			}
		case item.Role != "":
			r.add(item.Role, responseParts(item.Content)...)
		}
	}
	r.Auxiliary = len(r.Tools) == 0
	return r, nil
}

// responseParts decodes content, which is a string or a list of texts.
func responseParts(raw json.RawMessage) []Part {
	out := parts(raw)
	for n := range out {
		if strings.HasSuffix(out[n].Type, "_text") { // input_text, output_text
			out[n].Type = "text"
		}
	}
	return out
}

// streamResponses writes the answer as events of the Responses API. With half it
// stops in the middle of the first item.
func (t Turn) streamResponses(w http.ResponseWriter, _ Request, id string, half bool) error {
	s := &sse{w: w, flush: http.NewResponseController(w)}
	s.send("response.created", map[string]any{"response": map[string]any{"id": "resp_" + id}})
	for n, b := range t.blocks(id) {
		item := map[string]any{"type": "message", "id": fmt.Sprintf("msg_%s_%d", id, n), "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": b.Text}}}
		if b.Type == "tool_use" {
			raw, err := json.Marshal(b.Input)
			if err != nil {
				return fmt.Errorf("input of tool %s: %w", b.Name, err)
			}
			item = map[string]any{"type": "function_call", "id": "fc_" + b.ID, "call_id": b.ID, "name": b.Name, "arguments": string(raw)}
		}
		if half {
			s.send("response.output_item.added", map[string]any{"output_index": n, "item": map[string]any{"type": "message", "id": item["id"], "role": "assistant", "content": []any{}}})
			s.send("response.output_text.delta", map[string]any{"output_index": n, "item_id": item["id"], "delta": "Do"})
			return s.err
		}
		s.send("response.output_item.done", map[string]any{"output_index": n, "item": item})
	}
	s.send("response.completed", map[string]any{"response": map[string]any{"id": "resp_" + id, "usage": t.usage().responses()}})
	return s.err
}

// responses returns the usage as the Responses API counts it: what was cached is
// part of the input.
func (u Usage) responses() map[string]any {
	in := u.Input + u.CacheWrite + u.CacheRead
	return map[string]any{
		"input_tokens": in, "input_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": in + u.Output,
	}
}

// failOpenAI answers a request to an API of OpenAI with an error.
func failOpenAI(w http.ResponseWriter, f Fault) {
	for k, v := range f.Header {
		w.Header().Set(k, v)
	}
	e := map[string]any{"type": f.Type, "code": f.Type, "message": f.Message}
	maps.Copy(e, f.Extra)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": e})
}
