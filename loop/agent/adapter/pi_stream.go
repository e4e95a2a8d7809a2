package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// piEvent holds the needed fields of one line of the stream. Other fields and other
// types of lines are ignored: some repeat the whole conversation.
type piEvent struct {
	Type    string    `json:"type"`
	Message piMessage `json:"message"`

	Success *bool  `json:"success"` // of auto_retry_end
	Final   string `json:"finalError"`
	Error   string `json:"errorMessage"` // of auto_retry_start
}

type piMessage struct {
	Role    string `json:"role"`
	ID      string `json:"responseId"`
	Model   string `json:"model"`
	Stop    string `json:"stopReason"`
	Error   string `json:"errorMessage"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Usage counts `json:"usage"`
}

// piStream collects the facts in a stream of `pi --mode json`. The stream has the
// figures of each answer, so they are known only where all answers are: not of a
// conversation that was cut off, or that was summed up to be continued, which the
// stream does not count.
type piStream struct {
	eventStream
	ended    bool // the conversation ended well
	summed   bool
	said     string
	counted  map[string]bool // answers that were counted, by the provider's id
	tokens   int64
	usage    *ledger.TokenUsage
	models   map[string]bool
	usd      float64
	unpriced bool // an answer used tokens and has no price
	unknown  bool // an answer's tokens are in a form that is not known
	costless bool // an answer has no cost, or one in a form that is not known
}

// piTypes are the types of its events.
var piTypes = streamTypes{
	"session", "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end",
	"tool_execution_start", "tool_execution_update", "tool_execution_end", "auto_retry_start", "auto_retry_end", "compaction_start", "compaction_end",
}

// readLine reads one line of the stream.
func (s *piStream) readLine(line []byte, cut bool) {
	if s.plainLine(line) {
		return
	}
	if cut {
		// The line is too long to parse; its beginning shows what it is.
		switch {
		case bytes.HasPrefix(line, []byte(`{"type":"message_end","message":{"role":"assistant"`)):
			s.answered(fmt.Sprintf("long line %d", len(s.answers)))
			s.gap, s.ended = true, false
		case bytes.HasPrefix(line, []byte(`{"type":"agent_end"`)):
			s.ended = s.err == nil && len(s.answers) > 0
		}
		return
	}
	var e piEvent
	var wrongType *json.UnmarshalTypeError
	// A field of an unexpected type is ignored, and the other fields are used.
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrongType) {
		s.gap = true
		return
	}
	s.types.saw(e.Type, piTypes)
	switch e.Type {
	case "agent_start", "turn_start":
		s.ended = false
	case "message_end":
		s.message(e.Message)
	case "agent_end":
		s.ended = s.err == nil && len(s.answers) > 0
	case "auto_retry_start":
		s.failed(statusError(e.Error), true)
	case "auto_retry_end":
		if e.Success != nil && !*e.Success {
			s.failed(statusError(e.Final), false)
		}
	case "compaction_start", "compaction_end":
		s.summed = true
	}
}

// message records a message of the model.
func (s *piStream) message(m piMessage) {
	if m.Role != "assistant" {
		return
	}
	s.ended = false
	if m.Stop == "error" || m.Stop == "aborted" {
		s.failed(statusError(m.Error), false)
	} else {
		s.answered(fmt.Sprintf("answer %d", len(s.answers)))
		s.said = ""
		for _, c := range m.Content {
			if c.Type == "text" {
				s.said += c.Text
			}
		}
	}
	s.add(m)
}

// add adds the figures of an answer, once. Input, output and what was cached are apart
// in this program.
func (s *piStream) add(m piMessage) {
	if m.ID != "" && s.counted[m.ID] {
		return
	}
	if s.counted == nil {
		s.counted = map[string]bool{}
	}
	s.counted[m.ID] = true
	n, ok := m.Usage.sumFields([]string{"input", "output", "cacheRead", "cacheWrite"})
	total, okTotal := m.Usage.sumFields([]string{"totalTokens"})
	if !ok || !okTotal || total != n {
		s.unknown = true
		return
	}
	s.tokens += n
	u := m.Usage.usage(kinds{input: "input", cacheRead: "cacheRead", cacheWrite: "cacheWrite", output: "output"})
	if s.usage == nil {
		s.usage, s.models = &ledger.TokenUsage{}, map[string]bool{}
	}
	s.usage = addUsage(s.usage, u)
	s.models[Clean(m.Model, longestModel)] = true
	var cost struct {
		Total *float64 `json:"total"`
	}
	if json.Unmarshal(m.Usage["cost"], &cost) != nil || cost.Total == nil || *cost.Total < 0 {
		s.costless = s.costless || n > 0
		return
	}
	s.unpriced = s.unpriced || *cost.Total == 0 && n > 0 // 0 stands for a model whose price the program does not know
	s.usd += *cost.Total
}

// result returns the verdict on a session with this stream and exit.
func (s *piStream) result(x ledger.Exit) Verdict {
	v := s.verdict(x, s.ended)
	v.Uncounted = (s.unknown || s.costless) && s.ended || s.types.changed(x, s.ended, s.err != nil)
	if !s.ended || s.err != nil || s.gap || s.summed || s.unknown || s.tokens == 0 {
		return v
	}
	v.Tokens, v.Usage = s.tokens, s.usage
	v.Several = len(s.models) > 1
	if !v.Several {
		for v.Model = range s.models {
		}
	}
	if !s.unpriced && !s.costless {
		v.CostUSD = s.usd
	}
	return v
}
