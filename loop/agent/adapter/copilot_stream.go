package adapter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// copilotLine holds the needed fields of one line of the stream. Other fields and
// other types of lines are ignored.
type copilotLine struct {
	Type string `json:"type"`
	Exit *int   `json:"exitCode"` // of result
	Data struct {
		Message string `json:"message"`
		ID      string `json:"messageId"`
		Content string `json:"content"`
		Of      string `json:"parentToolCallId"` // a subagent's call

		Kind   string `json:"errorType"`
		Code   string `json:"errorCode"`
		Status int    `json:"statusCode"`
		Text   string `json:"errorMessage"` // of a call that is tried again
	} `json:"data"`
}

// copilotStream collects the facts in a stream of `copilot --output-format=json`. It
// has no figures but requests of a kind that only the vendor can price.
type copilotStream struct {
	eventStream
	ended bool // the conversation ended well
	said  string
}

// copilotTypes are the types of its events.
var copilotTypes = streamTypes{"session.", "user.", "assistant.", "model.", "tool.", "hook.", "subagent.", "result"}

// readLine reads one line of the stream.
func (s *copilotStream) readLine(line []byte, cut bool) {
	if s.plainLine(line) {
		return
	}
	if cut {
		// The line is too long to parse; its beginning shows that the model answered.
		if bytes.HasPrefix(line, []byte(`{"type":"assistant.message"`)) {
			s.answered(fmt.Sprintf("long line %d", len(s.answers)))
		}
		return
	}
	var e copilotLine
	var wrongType *json.UnmarshalTypeError
	// A field of an unexpected type is ignored, and the other fields are used.
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrongType) {
		return
	}
	s.types.saw(e.Type, copilotTypes)
	switch e.Type {
	case "assistant.message":
		s.ended = false
		s.answered(e.Data.ID)
		if e.Data.Of == "" && strings.TrimSpace(e.Data.Content) != "" {
			s.said = e.Data.Content
		}
	case "model.call_failure":
		s.failed(eventError{text: e.Data.Text, status: e.Data.Status}, true)
	case "session.error":
		s.ended = false
		s.failed(e.failure(), false)
	case "result":
		s.ended = e.Exit != nil && *e.Exit == 0
		if s.ended && s.retries {
			s.err, s.raw = nil, nil // a call that was tried again, or was not needed
		}
	}
}

// failure returns the error of an event. Kinds are those of the program's own schema;
// the provider's text stands behind what the program says of its retries.
func (e copilotLine) failure() eventError {
	text := cmp.Or(e.Data.Message, e.Data.Kind)
	if _, last, ok := strings.Cut(text, " Last error: "); ok {
		text = last
	}
	err := statusError(text)
	err.status = cmp.Or(e.Data.Status, err.status)
	switch e.Data.Kind {
	case "authentication", "authorization", "policy":
		err.status = cmp.Or(err.status, 401)
	case "quota":
		err.limit = true
	case "rate_limit":
		// A limit of days or of a month has a code of its own; others are of the pace.
		err.limit = strings.Contains(e.Data.Code, "weekly") || strings.Contains(e.Data.Code, "monthly") || strings.Contains(e.Data.Code, "quota")
		err.status = cmp.Or(err.status, 429)
	}
	return err
}
