package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// qwenEvent holds the needed fields of one line of the stream. Other fields and other
// types of lines are ignored.
type qwenEvent struct {
	Type    string          `json:"type"`
	Model   string          `json:"model"`              // of init
	Parent  json.RawMessage `json:"parent_tool_use_id"` // of a subagent's event
	Message struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Usage counts `json:"usage"` // of the answer
	} `json:"message"`
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage counts `json:"usage"`
}

// qwenStream collects the facts in a stream of `qwen --output-format stream-json`,
// whose events have the names of Claude Code's and other contents. Its figures are
// those of the whole conversation; where subagents worked they are taken for unknown.
type qwenStream struct {
	eventStream
	ended  bool // the conversation ended well
	turns  int  // answers of the model, each of which has several events with ids of their own
	asked  bool // something was sent to the model after its last answer
	helped bool // subagents worked
	said   string
	model  string
	usage  counts
}

// qwenKinds names the fields of usage. What was cached is part of the input.
var qwenKinds = kinds{input: "input_tokens", cacheRead: "cache_read_input_tokens", output: "output_tokens", within: true}

// qwenRefusal begins an answer that the program makes of an error.
const qwenRefusal = "[API Error: "

// qwenTypes are the types of its events.
var qwenTypes = streamTypes{"system", "assistant", "user", "result", "stream_event"}

// readLine reads one line of the stream.
func (s *qwenStream) readLine(line []byte, cut bool) {
	if s.plainLine(line) {
		return
	}
	if cut {
		// The line is too long to parse; its beginning shows that the model answered.
		switch {
		case bytes.HasPrefix(line, []byte(`{"type":"user"`)):
			s.asked = true
		case bytes.HasPrefix(line, []byte(`{"type":"assistant"`)):
			s.turn()
		}
		return
	}
	var e qwenEvent
	var wrongType *json.UnmarshalTypeError
	// A field of an unexpected type is ignored, and the other fields are used.
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrongType) {
		return
	}
	s.types.saw(e.Type, qwenTypes)
	switch e.Type {
	case "system", "user":
		s.asked = true
		if e.Model != "" {
			s.model = Clean(e.Model, longestModel)
		}
	case "assistant":
		s.helped = s.helped || len(e.Parent) > 0 && string(e.Parent) != "null"
		if len(e.Message.Content) != 1 || !strings.HasPrefix(e.Message.Content[0].Text, qwenRefusal) {
			s.turn()
		}
	case "result":
		s.ended, s.usage, s.said = !e.IsError, nil, ""
		if s.ended {
			s.err, s.raw, s.usage, s.said = nil, nil, e.Usage, e.Result
		} else {
			s.failed(qwenError(e.Error.Message), false)
		}
	}
}

// turn records an answer of the model.
func (s *qwenStream) turn() {
	if s.asked || s.turns == 0 {
		s.turns++
	}
	s.asked, s.ended = false, false
	s.answered(fmt.Sprintf("answer %d", s.turns))
}

// qwenError reads the message of an error: the provider's in brackets, followed by
// advice. It begins with the HTTP status.
func qwenError(message string) eventError {
	text, advised := strings.CutPrefix(message, qwenRefusal)
	if advised {
		text = text[:max(strings.LastIndexByte(text, ']'), 0)]
	}
	return statusError(text)
}

// result returns the verdict on a session with this stream and exit. The program
// reports no cost.
func (s *qwenStream) result(x ledger.Exit) Verdict {
	v := s.verdict(x, s.ended)
	v.Uncounted = s.types.changed(x, s.ended, s.err != nil) || s.ended && s.usage == nil && s.turns > 0
	if !s.ended || s.usage == nil || s.helped {
		return v
	}
	// What was cached is part of the input.
	n, ok := s.usage.sumFields([]string{"input_tokens", "output_tokens"})
	for f := range s.usage {
		tokens, known := s.usage.sumFields([]string{f})
		switch f {
		case "input_tokens", "output_tokens":
		case "cache_read_input_tokens":
			ok = ok && known && tokens <= n
		case "total_tokens":
			ok = ok && known && tokens == n
		default:
			ok = false
		}
	}
	v.Uncounted = !ok
	if ok && n > 0 { // a provider that counts nothing is reported as 0
		v.Tokens, v.Model = n, s.model
		v.Usage = s.usage.usage(qwenKinds)
	}
	return v
}
