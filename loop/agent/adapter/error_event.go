package adapter

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// eventError is the error in one event of a program that a user's command runs.
type eventError struct {
	text   string
	status int       // HTTP status of the provider, 0 if unknown
	until  time.Time // end of a limit, if the event has a field for it
	header string    // "retry-after: 30", if the event has the provider's headers
	pace   bool      // it refuses the pace, whatever its words
	limit  bool      // it is a limit, whatever its words
}

// class returns the failure class of an error; "" if it is none of them.
func (e eventError) class(known []Failure) ledger.FailureClass {
	switch {
	case e.pace:
		return ledger.FailureNetwork
	case e.limit:
		return ledger.FailureLimit
	case e.status == 401, e.status == 402, e.status == 403:
		return ledger.FailureAuth
	case e.status == 429 && !e.until.IsZero():
		return ledger.FailureLimit
	case e.status == 429:
		return cmp.Or(classify(known, e.text), classify(eventFailures, e.text), ledger.FailureNetwork)
	case e.status >= 500:
		return ledger.FailureNetwork
	}
	return cmp.Or(classify(known, e.text), classify(eventFailures, e.text))
}

// eventFields holds the fields of an event that any of the programs uses.
type eventFields struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Status  string `json:"status"`

	Error struct {
		Message string `json:"message"`
		Name    string `json:"name"`
		Data    struct {
			Message string `json:"message"`
			Status  int    `json:"statusCode"`
		} `json:"data"`
	} `json:"error"`
	Item struct {
		Type string `json:"type"`
	} `json:"item"`
	Data struct {
		Kind    string `json:"errorType"`
		Message string `json:"message"`
		Status  int    `json:"statusCode"`
	} `json:"data"`
	Message    eventMessage   `json:"message"`
	Messages   []eventMessage `json:"messages"`
	Role       string         `json:"role"`
	Success    *bool          `json:"success"`
	FinalError string         `json:"finalError"`

	IsError   bool     `json:"is_error"`
	APIStatus int      `json:"api_error_status"`
	Result    string   `json:"result"`
	Errors    []string `json:"errors"`
	RateLimit struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"`
	} `json:"rate_limit_info"`

	Finish string `json:"finishReason"`
	Text   string `json:"text"`
}

// eventMessage is a message of the conversation, or the text of an error.
type eventMessage struct {
	Text  string `json:"-"`
	Role  string `json:"role"`
	Model string `json:"model"`
	Stop  string `json:"stopReason"`
	Error string `json:"errorMessage"`
}

// UnmarshalJSON accepts a text as well as an object.
func (m *eventMessage) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &m.Text) == nil {
		return nil
	}
	type plain eventMessage
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(data, (*plain)(m)); err != nil && !errors.As(err, &wrongType) {
		return err
	}
	return nil
}

// outcome returns the error of a model's message, or that it is an answer.
func (m eventMessage) outcome() (eventError, bool) {
	if m.Stop == "error" {
		return eventError{text: m.Error}, false
	}
	return eventError{}, m.Role == "assistant" && m.Model != syntheticModel
}

// errorEvents says of each type of event what it reports: an error of the
// provider, or that the model answered. Types of several programs share a name;
// their fields differ. Other types say neither.
var errorEvents = map[string]func(e eventFields) (eventError, bool){
	// Codex. An error event is no end: "Reconnecting... 1/2".
	"turn.failed":    func(e eventFields) (eventError, bool) { return eventError{text: e.Error.Message}, false },
	"turn.completed": answered,
	"item.completed": func(e eventFields) (eventError, bool) { return eventError{}, e.Item.Type != "error" },

	// opencode; Codex and Gemini CLI have the text in message.
	"error": func(e eventFields) (eventError, bool) {
		text := cmp.Or(e.Error.Data.Message, e.Message.Text)
		if strings.HasPrefix(text, "Reconnecting") {
			return eventError{}, false
		}
		return eventError{text: text, status: e.Error.Data.Status}, false
	},
	"step_finish": answered,
	"tool_use":    answered, // Gemini CLI, too

	// pi.
	"auto_retry_end": func(e eventFields) (eventError, bool) {
		if e.Success != nil && !*e.Success {
			return eventError{text: e.FinalError}, false
		}
		return eventError{}, false
	},
	"message_end": func(e eventFields) (eventError, bool) { return e.Message.outcome() },
	"agent_end": func(e eventFields) (eventError, bool) {
		if len(e.Messages) == 0 {
			return eventError{}, false
		}
		return e.Messages[len(e.Messages)-1].outcome()
	},

	// Gemini CLI.
	"message": func(e eventFields) (eventError, bool) { return eventError{}, e.Role == "assistant" },

	// Claude Code and Qwen Code; Gemini CLI has status, Copilot CLI neither.
	"assistant": func(e eventFields) (eventError, bool) { return eventError{}, e.Message.Model != syntheticModel },
	"rate_limit_event": func(e eventFields) (eventError, bool) {
		if e.RateLimit.Status != "rejected" || e.RateLimit.ResetsAt <= 0 {
			return eventError{}, false
		}
		return eventError{text: "rate limit rejected", status: 429, until: time.Unix(e.RateLimit.ResetsAt, 0).UTC()}, false
	},
	"result": func(e eventFields) (eventError, bool) {
		switch {
		case e.IsError:
			parts := append([]string{e.Result, e.Error.Message}, e.Errors...)
			text := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
			return eventError{text: text, status: e.APIStatus}, false
		case e.Status == "error":
			return eventError{text: e.Error.Message}, false
		}
		return eventError{}, false
	},

	// Copilot CLI.
	"session.error":     func(e eventFields) (eventError, bool) { return copilotError(e), false },
	"assistant.message": answered,

	// Cline.
	"run_result": func(e eventFields) (eventError, bool) {
		if e.Finish == "error" {
			return eventError{text: e.Text}, false
		}
		return eventError{}, e.Finish == "completed"
	},
}

func answered(eventFields) (eventError, bool) { return eventError{}, true }

func copilotError(e eventFields) eventError {
	if e.Data.Kind == "rate_limit" && e.Data.Status == 0 {
		e.Data.Status = 429
	}
	return eventError{text: cmp.Or(e.Data.Message, e.Data.Kind), status: e.Data.Status}
}

// readEvent reads a line that may be an event of a known program: the error that
// it reports, or that the model answered. Other lines report neither.
func readEvent(line []byte) (err eventError, isAnswer bool) {
	var e eventFields
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrongType) {
		return eventError{}, false
	}
	read := errorEvents[e.Type]
	if read == nil {
		return eventError{}, false
	}
	return read(e)
}
