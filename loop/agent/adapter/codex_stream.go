package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// codexEvent holds the needed fields of one line of the stream. Other fields and
// other types of lines are ignored.
type codexEvent struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Item struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Usage counts `json:"usage"`
}

// codexStream collects the facts in a stream of `codex exec --json`.
type codexStream struct {
	eventStream
	usage  counts // of the whole conversation; nil unless its last turn ended well
	most   int64  // tokens of the whole conversation after an earlier turn
	fell   bool   // a later turn told fewer, so its count began anew
	said   string // the last message
	helped bool   // subagents worked, whose tokens are not in the stream
}

// codexTypes are the types of its events.
var codexTypes = streamTypes{"thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated", "item.completed", "error"}

// codexRetry begins the message of an error that the program tries to overcome:
// "Reconnecting... 2/5 (stream disconnected before completion)".
const codexRetry = "Reconnecting..."

// readLine reads one line of the stream.
func (s *codexStream) readLine(line []byte, cut bool) {
	if s.plainLine(line) {
		return
	}
	if cut {
		// The line is too long to parse; its beginning shows that the model answered.
		if bytes.HasPrefix(line, []byte(`{"type":"item.`)) {
			s.answered(fmt.Sprintf("long line %d", len(s.answers)))
		}
		return
	}
	var e codexEvent
	var wrongType *json.UnmarshalTypeError
	// A field of an unexpected type is ignored, and the other fields are used.
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrongType) {
		return
	}
	s.types.saw(e.Type, codexTypes)
	switch e.Type {
	case "turn.started":
		s.usage = nil
	case "item.started", "item.updated", "item.completed":
		s.item(e)
	case "turn.completed":
		if s.usage = e.Usage; s.usage == nil {
			s.usage = counts{}
		}
		if n, ok := s.usage.sumFields([]string{"input_tokens", "output_tokens"}); ok {
			s.most, s.fell = max(s.most, n), s.fell || n < s.most
		}
		s.err, s.raw = nil, nil
	case "turn.failed":
		s.usage = nil
		s.failed(eventError{text: e.Error.Message}, false)
	case "error":
		s.failed(eventError{text: e.Message}, strings.HasPrefix(e.Message, codexRetry))
	}
}

// item records something that the model said or did. An item of type error is the
// program's: a model that it does not know, a connection of another kind.
func (s *codexStream) item(e codexEvent) {
	switch e.Item.Type {
	case "error":
		return
	case "agent_message":
		s.said = e.Item.Text
	case "collab_tool_call":
		s.helped = true
	}
	s.answered(e.Item.ID)
}

// result returns the verdict on a session with this stream and exit. The program
// reports no cost.
func (s *codexStream) result(x ledger.Exit) Verdict {
	ended := s.usage != nil
	v := s.verdict(x, ended)
	v.Uncounted = s.types.changed(x, ended, s.err != nil)
	if !ended || s.helped {
		return v
	}
	// What was cached is part of the input, and reasoning part of the output.
	n, ok := s.usage.sum([]string{"input_tokens", "output_tokens"},
		[]string{"cached_input_tokens", "cache_write_input_tokens", "reasoning_output_tokens"})
	v.Uncounted = !ok || s.fell
	if ok && n > 0 && !s.fell { // a provider that counts nothing is reported as 0
		v.Tokens, v.Usage = n, s.usage.usage(kinds{
			input: "input_tokens", cacheRead: "cached_input_tokens", cacheWrite: "cache_write_input_tokens",
			output: "output_tokens", reasoning: "reasoning_output_tokens", within: true,
		})
	}
	return v
}
