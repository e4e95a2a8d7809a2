package adapter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// opencodeEvent holds the needed fields of one line of the stream. Other fields
// and other types of lines are ignored.
type opencodeEvent struct {
	Type string `json:"type"`
	Part struct {
		ID      string          `json:"id"`
		Message string          `json:"messageID"`
		Text    string          `json:"text"`
		Made    bool            `json:"synthetic"` // by the program: it tells the model to go on after a compaction
		Tool    string          `json:"tool"`
		Reason  string          `json:"reason"`
		Tokens  counts          `json:"tokens"`
		Cost    json.RawMessage `json:"cost"`
	} `json:"part"`
	Error struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Data    struct {
			Message string            `json:"message"`
			Status  int               `json:"statusCode"`
			Headers map[string]string `json:"responseHeaders"`
		} `json:"data"`
	} `json:"error"`
}

// opencodeStream collects the facts in a stream of `opencode run --format json`.
// The stream has the figures of each step, so they are known only where all steps
// are: not of a conversation that was cut off, or in which subagents worked, whose
// steps are not in the stream. A compaction is not in the stream before it is over, so
// the last step of a session that did not end by itself may not have been the last.
type opencodeStream struct {
	eventStream
	ended   bool // the last step ended the conversation
	helped  bool // subagents worked
	open    int  // steps that began and did not end, or ended and whose beginning is missing
	said    string
	message string // whose texts said has

	counted   map[string]bool // parts that were counted
	tokens    int64
	usage     *ledger.TokenUsage
	usd       float64
	unpriced  bool // a step used tokens and has no price
	uncounted bool // a step's tokens are in a form that is not known
	costless  bool // a step has no cost, or one in a form that is not known
}

// opencodeTypes are the types of its events.
var opencodeTypes = streamTypes{"step_start", "step_finish", "text", "reasoning", "tool_use", "error"}

// readLine reads one line of the stream.
func (s *opencodeStream) readLine(line []byte, cut bool) {
	if s.plainLine(line) {
		return
	}
	if cut {
		// The line is too long to parse; its beginning shows that the model answered.
		if bytes.HasPrefix(line, []byte(`{"type":"t`)) { // tool_use, text
			s.answered(fmt.Sprintf("long line %d", len(s.answers)))
		}
		return
	}
	var e opencodeEvent
	var wrongType *json.UnmarshalTypeError
	// A field of an unexpected type is ignored, and the other fields are used.
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrongType) {
		s.gap = true
		return
	}
	s.types.saw(e.Type, opencodeTypes)
	switch e.Type {
	case "step_start":
		s.ended = false
		s.open++
	case "text":
		if e.Part.Made {
			s.ended = false
			return
		}
		s.answered(e.Part.Message)
		if e.Part.Message != s.message {
			s.message, s.said = e.Part.Message, ""
		}
		s.said += e.Part.Text
	case "tool_use":
		s.helped = s.helped || e.Part.Tool == "task"
		s.answered(e.Part.Message)
	case "step_finish":
		s.ended = e.Part.Reason != "tool-calls"
		s.open--
		s.answered(e.Part.Message)
		s.add(e)
	case "error":
		s.ended = false
		s.failed(e.failure(), false)
	}
}

// failure returns the error of an error event.
func (e opencodeEvent) failure() eventError {
	err := eventError{text: cmp.Or(e.Error.Data.Message, e.Error.Message, e.Error.Name), status: e.Error.Data.Status}
	if e.Error.Name == "ProviderAuthError" {
		err.status = 401
	}
	if wait := e.Error.Data.Headers["retry-after"]; wait != "" {
		err.header = "retry-after: " + wait
	}
	return err
}

// add adds the figures of a step, once. Input, output, reasoning and what was cached are
// apart in this program.
func (s *opencodeStream) add(e opencodeEvent) {
	if e.Part.ID != "" && s.counted[e.Part.ID] {
		return
	}
	if s.counted == nil {
		s.counted = map[string]bool{}
	}
	s.counted[e.Part.ID] = true
	var cache counts
	if json.Unmarshal(e.Part.Tokens["cache"], &cache) != nil {
		s.uncounted = true
		return
	}
	n, ok := e.Part.Tokens.sumFields([]string{"input", "output", "reasoning"})
	cached, okCache := cache.sumFields([]string{"read", "write"})
	n += cached
	for f := range e.Part.Tokens {
		switch f {
		case "input", "output", "reasoning", "cache":
		case "total":
			total, known := e.Part.Tokens.sumFields([]string{"total"})
			ok = ok && known && total == n
		default:
			ok = false
		}
	}
	if !ok || !okCache || len(cache) != 2 {
		s.uncounted = true
		return
	}
	s.tokens += n
	u := e.Part.Tokens.usage(kinds{input: "input", output: "output", reasoning: "reasoning", beside: true})
	u.CacheRead, _ = cache.sumFields([]string{"read"})
	u.CacheWrite, _ = cache.sumFields([]string{"write"})
	if s.usage == nil {
		s.usage = &ledger.TokenUsage{}
	}
	s.usage = addUsage(s.usage, u)
	usd := -1.0
	if json.Unmarshal(e.Part.Cost, &usd) != nil || usd < 0 {
		s.costless = true
		return
	}
	if usd == 0 && n > 0 {
		s.unpriced = true // 0 stands for a model whose price the program does not know
		return
	}
	s.usd += usd
}

// result returns the verdict on a session with this stream and exit.
func (s *opencodeStream) result(x ledger.Exit) Verdict {
	v := s.verdict(x, s.ended)
	v.Uncounted = s.uncounted || s.costless || s.types.changed(x, s.ended, s.err != nil)
	if x.Reason != ledger.ExitSelf || !s.ended || s.err != nil || s.gap || s.open != 0 || s.helped || s.uncounted || s.tokens == 0 {
		return v
	}
	v.Tokens, v.Usage = s.tokens, s.usage
	if !s.unpriced && !s.costless {
		v.CostUSD = s.usd
	}
	return v
}
