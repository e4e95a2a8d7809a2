package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// geminiEvent holds the needed fields of one line of the stream. Other fields and
// other types of lines are ignored.
type geminiEvent struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content string `json:"content"`
	Status  string `json:"status"`
	Message string `json:"message"` // of error
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats counts `json:"stats"`
}

// geminiStream collects the facts in a stream of `gemini --output-format stream-json`.
// Its figures are those of the whole conversation, of all models in it.
type geminiStream struct {
	eventStream
	ended  bool   // the conversation ended well
	turns  int    // answers of the model, which have no id
	asked  bool   // something was sent to the model after its last answer
	said   string // the last message
	called bool   // said is older than a tool call
	stats  counts
}

// geminiTypes are the types of its events.
var geminiTypes = streamTypes{"init", "message", "tool_use", "tool_result", "error", "result"}

// readLine reads one line of the stream.
func (s *geminiStream) readLine(line []byte, cut bool) {
	if s.plainLine(line) {
		return
	}
	if cut {
		// The line is too long to parse; its beginning shows that the model answered.
		switch {
		case bytes.HasPrefix(line, []byte(`{"type":"tool_result"`)):
			s.asked = true
		case bytes.HasPrefix(line, []byte(`{"type":"tool_use"`)):
			s.turn()
		}
		return
	}
	var e geminiEvent
	var wrongType *json.UnmarshalTypeError
	// A field of an unexpected type is ignored, and the other fields are used.
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrongType) {
		return
	}
	s.types.saw(e.Type, geminiTypes)
	switch e.Type {
	case "init", "tool_result":
		s.asked = true
	case "tool_use":
		s.turn()
		s.called = true
	case "message":
		if e.Role != "assistant" {
			s.asked = true
			return
		}
		s.turn()
		if s.called {
			s.said, s.called = "", false
		}
		s.said += e.Content
	case "error":
		// The hook keeps the conversation from its end, and what it says goes to the model.
		if strings.HasPrefix(e.Message, "Agent execution blocked: ") {
			s.asked, s.called = true, true
		}
	case "result":
		s.ended = e.Status == "success"
		if s.stats = nil; s.ended {
			s.err, s.raw, s.stats = nil, nil, e.Stats
		} else {
			s.failed(geminiError(e.Error.Message), false)
		}
	}
}

// turn records an answer of the model, of which the stream has several events.
func (s *geminiStream) turn() {
	if s.asked || s.turns == 0 {
		s.turns++
	}
	s.asked, s.ended = false, false
	s.answered(fmt.Sprintf("answer %d", s.turns))
}

// geminiPace matches what is added to a refusal that is over in a moment, as one by
// minute is; the same words without it are a limit's.
var geminiPace = regexp.MustCompile(`(?i)\b(please retry in|suggested retry after) \d`)

// geminiError reads the message of an error: the provider's, in brackets and in a JSON
// object or as it is, followed by advice.
func geminiError(message string) eventError {
	text, advised := strings.CutPrefix(message, "[API Error: ")
	if advised {
		text = text[:max(strings.LastIndexByte(text, ']'), 0)]
	}
	e := eventError{text: text}
	var body struct {
		Error struct {
			Code    int             `json:"code"`
			Message string          `json:"message"`
			Status  string          `json:"status"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(text), &body) == nil && body.Error.Message != "" {
		e.text, e.status = body.Error.Message, body.Error.Code
		if bytes.Contains(body.Error.Details, []byte(`"API_KEY_INVALID"`)) {
			e.status = 401 // the provider answers 400
		}
	}
	e.pace = geminiPace.MatchString(e.text)
	return e
}

// result returns the verdict on a session with this stream and exit. The program
// reports no cost.
func (s *geminiStream) result(x ledger.Exit) Verdict {
	v := s.verdict(x, s.ended)
	v.Uncounted = s.types.changed(x, s.ended, s.err != nil) || s.ended && s.stats == nil && s.turns > 0
	if !s.ended || s.stats == nil {
		return v
	}
	// What was cached is part of the input. The total has what the model thought, too.
	n, ok := s.stats.sumFields([]string{"total_tokens"})
	in, okIn := s.stats.sumFields([]string{"input_tokens"})
	out, okOut := s.stats.sumFields([]string{"output_tokens"})
	cached, okCached := s.stats.sumFields([]string{"cached"})
	ok = ok && okIn && okOut && okCached && in+out <= n && cached <= in
	for f := range s.stats {
		switch f {
		case "total_tokens", "input_tokens", "output_tokens":
		default:
			ok = ok && !strings.Contains(f, "token") // counted in a way that is not known
		}
	}
	v.Uncounted = !ok
	if ok && n > 0 { // a provider that counts nothing is reported as 0
		v.Tokens = n
		v.Model, v.Several = onlyKey(s.stats["models"])
		v.Usage = s.stats.usage(kinds{input: "input_tokens", cacheRead: "cached", output: "output_tokens", within: true})
		if v.Usage != nil && in+out < n { // the model thought, which the output does not have
			v.Usage.Reasoning, v.Usage.Output = n-in-out, n-in
		}
	}
	return v
}
