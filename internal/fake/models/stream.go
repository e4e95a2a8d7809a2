package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// piece is the maximum of text in one event of a stream, in bytes.
const piece = 16 << 10

// block is a content block of an answer.
type block struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Input any    `json:"input,omitempty"`
}

func (t Turn) blocks(id string) []block {
	var out []block
	if t.Text != "" || len(t.Tools) == 0 {
		out = append(out, block{Type: "text", Text: t.Text})
	}
	for i, tool := range t.Tools {
		out = append(out, block{Type: "tool_use", ID: fmt.Sprintf("toolu_%s_%d", id, i), Name: tool.Name, Input: tool.Input})
	}
	return out
}

func (t Turn) stopReason() string {
	if len(t.Tools) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (t Turn) usage() Usage {
	if t.Usage == (Usage{}) {
		return Usage{Input: 1000, Output: 50}
	}
	return t.Usage
}

// message returns the answer to a request without streaming.
func (t Turn) message(r Request, id string) map[string]any {
	return map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": cmp.Or(t.Model, r.Model), "content": t.blocks(id),
		"stop_reason": t.stopReason(), "stop_sequence": nil, "usage": t.usage(),
	}
}

// stream writes the answer as server-sent events. With half it stops in the
// middle of the first block.
func (t Turn) stream(w http.ResponseWriter, r Request, id string, half bool) error {
	s := &sse{w: w, flush: http.NewResponseController(w)}
	use := t.usage()
	begun := use
	begun.Output = 1
	s.send("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": cmp.Or(t.Model, r.Model), "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": begun,
	}})
	for i, b := range t.blocks(id) {
		text, kind, field := b.Text, "text_delta", "text"
		first := block{Type: b.Type, ID: b.ID, Name: b.Name}
		start := map[string]any{"type": b.Type, "text": ""}
		if b.Type == "tool_use" {
			raw, err := json.Marshal(b.Input)
			if err != nil {
				return fmt.Errorf("input of tool %s: %w", b.Name, err)
			}
			text, kind, field = string(raw), "input_json_delta", "partial_json"
			start = map[string]any{"type": b.Type, "id": first.ID, "name": first.Name, "input": map[string]any{}}
		}
		s.send("content_block_start", map[string]any{"index": i, "content_block": start})
		if half {
			text = text[:len(text)/2]
		}
		for len(text) > 0 {
			n := min(piece, len(text))
			for n < len(text) && text[n]&0xC0 == 0x80 { // not in the middle of a character
				n++
			}
			s.send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, field: text[:n]}})
			text = text[n:]
		}
		if half {
			return s.err
		}
		s.send("content_block_stop", map[string]any{"index": i})
	}
	s.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": t.stopReason(), "stop_sequence": nil}, "usage": map[string]any{"output_tokens": use.Output},
	})
	s.send("message_stop", map[string]any{})
	return s.err
}

// sse writes server-sent events until one fails.
type sse struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	err   error
}

func (s *sse) send(event string, data map[string]any) {
	if s.err != nil {
		return
	}
	data["type"] = event
	raw, err := json.Marshal(data)
	s.err = err
	s.write("event: " + event + "\n")
	s.write("data: " + string(raw) + "\n\n")
}

// data sends an event without a type.
func (s *sse) data(data map[string]any) {
	raw, err := json.Marshal(data)
	if s.err == nil {
		s.err = err
	}
	s.write("data: " + string(raw) + "\n\n")
}

func (s *sse) write(text string) {
	if s.err != nil {
		return
	}
	_, err := io.WriteString(s.w, text)
	if err == nil {
		err = s.flush.Flush()
	}
	s.err = err
}
