package adapter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// claudeLine is the longest line of Claude Code's stream that is parsed, in
// bytes. One line can contain a tool's whole output or the model's whole
// answer.
const claudeLine = longestLine

// claudeEvent holds the needed fields of one line of the stream. Other fields
// and other types of lines are ignored.
type claudeEvent struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Message struct {
		ID      string `json:"id"`
		Model   string `json:"model"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"message"`

	Error       string `json:"error"`        // kind of an error, in assistant and api_retry
	ErrorStatus int    `json:"error_status"` // HTTP status in api_retry, 0 for a failed connection
	APIStatus   int    `json:"api_error_status"`

	RateLimit struct {
		Status   string                  `json:"status"`
		ResetsAt int64                   `json:"resetsAt"`
		Type     string                  `json:"rateLimitType"`
		Used     json.RawMessage         `json:"utilization"`
		Windows  map[string]claudeWindow `json:"unifiedWindows"`
	} `json:"rate_limit_info"`

	IsError bool              `json:"is_error"`
	Reason  string            `json:"terminal_reason"`
	Result  string            `json:"result"`
	Errors  []string          `json:"errors"`
	Cost    json.RawMessage   `json:"total_cost_usd"`
	Usage   counts            `json:"usage"`
	Models  map[string]counts `json:"modelUsage"`
	Denials []claudeDenial    `json:"permission_denials"`
}

// claudeWindow is one of the windows that limit a subscription.
type claudeWindow struct {
	Used     json.RawMessage `json:"utilization"` // part of the limit: 0.92
	ResetsAt int64           `json:"resetsAt"`
}

// maxUsed is the largest use that is believed: some plans go on above their limit,
// and a greater number is of another form, perhaps in per cent.
const maxUsed = 2

// maxWindows bounds the windows of one event, which the ledger keeps with each session. Of
// more, the fullest alone is kept.
const maxWindows = 8

// windows returns the windows that the event has in the known form, in the order of their
// names.
func (e *claudeEvent) windows() (list []ledger.UsageWindow) {
	all := map[string]claudeWindow{e.RateLimit.Type: {e.RateLimit.Used, e.RateLimit.ResetsAt}}
	if len(e.RateLimit.Windows) > 0 {
		all = e.RateLimit.Windows
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w := all[name]
		used := -1.0
		if json.Unmarshal(w.Used, &used) != nil || used < 0 || used > maxUsed {
			continue
		}
		out := ledger.UsageWindow{Name: Clean(name, 40), Used: used}
		if w.ResetsAt > 0 {
			out.Resets = time.Unix(w.ResetsAt, 0).UTC()
		}
		list = append(list, out)
	}
	if len(list) > maxWindows {
		list = []ledger.UsageWindow{*fullest(list)}
	}
	return list
}

// fullest returns the window of which most is used, nil for none.
func fullest(list []ledger.UsageWindow) *ledger.UsageWindow {
	if len(list) == 0 {
		return nil
	}
	return new(slices.MaxFunc(list, func(a, b ledger.UsageWindow) int { return cmp.Compare(a.Used, b.Used) }))
}

type claudeDenial struct {
	Tool string `json:"tool_name"`
}

// Fields of the figures: of the main conversation, and of each model in it.
var (
	claudeUsage      = []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"}
	claudeModelUsage = []string{"inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens"}
)

// claudeError is the latest error that a session reported.
type claudeError struct {
	kind   string // authentication_failed, rate_limit, server_error, …
	status int    // HTTP status, 0 if there was none
	reason string // terminal_reason of the result
	text   string
	final  bool // the program has given up; otherwise it still retries
}

// claudeTypes are the types of its events.
var claudeTypes = streamTypes{"system", "assistant", "user", "result", "rate_limit_event", "stream_event"}

// syntheticModel is the model's name in messages that the program itself wrote.
const syntheticModel = "<synthetic>"

// claudeStream collects the facts in a stream.
type claudeStream struct {
	known    []Failure            // phrases that report a failure
	turns    map[string]bool      // ids of the model's messages
	result   *claudeEvent         // the last one, unless the model continued after it
	usd      float64              // the highest cost of a result: each has that of the whole conversation so far
	err      *claudeError         // the last one, unless the model answered after it
	until    time.Time            // end of an exhausted limit
	windows  []ledger.UsageWindow // as reported last; none = unknown
	rejected bool                 // a limit refused the last request, unless the model answered after it
	raw      []string             // the last lines that are no JSON, from standard error, unless the model answered after them
	pricing  claudePricing
	types    typeCount
}

// readLine reads one line of the stream.
func (s *claudeStream) readLine(line []byte, cut bool) {
	if s.turns == nil {
		s.turns = map[string]bool{}
	}
	if line[0] != '{' {
		if s.pricing.readMark(line) {
			return
		}
		if !bytes.HasPrefix(line, []byte("[nightporter: ")) {
			s.raw = append(s.raw, Clean(string(line[:min(len(line), 1000)]), 1000))
			s.raw = s.raw[max(0, len(s.raw)-searchedLines):]
		}
		return
	}
	if cut {
		// The line is too long to parse; its beginning shows that the model
		// answered.
		if bytes.HasPrefix(line, []byte(`{"type":"assistant"`)) {
			s.recordAnswer(fmt.Sprintf("long line %d", len(s.turns)))
		}
		return
	}
	var e claudeEvent
	var wrongType *json.UnmarshalTypeError
	// A field of an unexpected type is ignored, and the other fields are used.
	if err := json.Unmarshal(line, &e); err != nil && !errors.As(err, &wrongType) {
		return
	}
	s.types.saw(e.Type, claudeTypes)
	switch e.Type {
	case "assistant":
		if e.Message.Model != syntheticModel {
			s.recordAnswer(e.Message.ID)
			s.pricing.recordAnswer(e.Message.Model)
			return
		}
		err := claudeError{kind: e.Error, status: e.APIStatus, final: true}
		for _, c := range e.Message.Content {
			err.text += c.Text
		}
		if e.Error != "" || classify(s.known, err.text) != "" {
			s.err = &err
		}
	case "system":
		if e.Subtype == "api_retry" {
			s.err = &claudeError{kind: e.Error, status: e.ErrorStatus, text: retryText(e)}
		}
	case "rate_limit_event":
		if w := e.windows(); len(w) > 0 {
			s.windows = w
		}
		s.until, s.rejected = time.Time{}, e.RateLimit.Status == "rejected"
		if s.rejected && e.RateLimit.ResetsAt > 0 {
			s.until = time.Unix(e.RateLimit.ResetsAt, 0).UTC()
		}
	case "result":
		s.result, s.usd = &e, max(s.usd, e.cost())
	}
}

// recordAnswer records an answer of the model. It clears earlier errors.
func (s *claudeStream) recordAnswer(id string) {
	s.turns[id] = true
	s.result, s.err, s.rejected, s.raw = nil, nil, false, nil
}

func retryText(e claudeEvent) string {
	if e.ErrorStatus != 0 {
		return fmt.Sprintf("the model server answered %d (%s)", e.ErrorStatus, e.Error)
	}
	return "the model server could not be reached"
}

// verdict returns the verdict on a session with this stream and exit.
func (s *claudeStream) verdict(x ledger.Exit) Verdict {
	v := unknownVerdict()
	v.Turns, v.Windows, v.Window = len(s.turns), s.windows, fullest(s.windows)
	v.Uncounted = s.types.changed(x, s.result != nil, s.err != nil || s.rejected)
	if r := s.result; r != nil {
		var known bool
		v.Tokens, known = r.tokens()
		if v.Tokens > 0 {
			v.Usage, v.Model = r.usage()
			v.Several = len(r.Models) > 1
		}
		v.CostUSD = r.cost()
		v.Uncounted = v.Uncounted || !known || len(s.turns) > 0 && (v.Tokens < 0 || v.CostUSD < 0)
		if v.CostUSD >= 0 {
			v.CostUSD = s.usd
		}
		if model, guessed := s.pricing.guessed(r.Models); guessed {
			v.CostUSD, v.Model, v.Several = -1, model, v.Several || model == ""
		}
		if !r.IsError && !s.refused() {
			v.Text = s.successNote(x)
			return v
		}
		e := claudeError{status: r.APIStatus, reason: r.Reason, text: strings.Join(append([]string{r.Result}, r.Errors...), " ")}
		if s.err != nil {
			e.kind = s.err.kind
		}
		if e.reason == "" {
			e.reason = strings.TrimPrefix(r.Subtype, "error_")
		}
		s.err = &e
		v.OverBudget = e.reason == "budget_exhausted" || e.reason == "max_budget_usd"
	}
	switch {
	case s.err != nil:
		v.Failure, v.Text = s.err.class(s.known)
		if s.rejected && (v.Failure == "" || v.Failure == ledger.FailureNetwork) {
			v.Failure = ledger.FailureLimit
		}
	case gaveUp(x):
		// Without events in the stream, only standard error is left to judge.
		v.Failure, v.Until, v.Text = recognise(s.known, s.raw, x.Ended)
		v.Unverified = v.Failure != ""
		return v
	}
	switch {
	case v.Failure == ledger.FailureLimit || v.Failure == ledger.FailureNetwork:
		until := s.until
		if until.IsZero() {
			until = resetTime(s.err.text, x.Ended)
		}
		v.Failure, v.Until = waits(v.Failure, until, x.Ended)
	case v.Failure == "" && s.err != nil:
		// The provider examined the request and refused it. So the agent itself
		// works, although no turn was counted.
		v.Turns = max(v.Turns, 1)
	}
	return v
}

// refused reports whether the program's last request was refused by a limit,
// whatever its result claims: some releases end such a conversation as a success.
func (s *claudeStream) refused() bool {
	return s.rejected || s.err != nil && s.err.final && s.err.refusal(s.known)
}

// refusal reports whether the error is a limit, or a refusal of the pace.
func (e *claudeError) refusal(known []Failure) bool {
	class, text := e.class(known)
	return class == ledger.FailureLimit || class == ledger.FailureNetwork && (e.status == 429 || e.kind == "rate_limit" || strings.Contains(text, "429"))
}

// successNote returns a remark on a conversation that ended successfully, or
// "".
func (s *claudeStream) successNote(x ledger.Exit) string {
	// A denied write is nightporter's own hint about its scope, which no person needs.
	denials := slices.DeleteFunc(slices.Clone(s.result.Denials), func(d claudeDenial) bool { return slices.Contains(claudeWrites, d.Tool) })
	if n := len(denials); n > 0 {
		var tools []string
		for _, d := range denials {
			if !slices.Contains(tools, d.Tool) {
				tools = append(tools, d.Tool)
			}
		}
		calls := "1 tool call was"
		if n > 1 {
			calls = fmt.Sprintf("%d tool calls were", n)
		}
		return calls + " denied: " + strings.Join(tools, ", ")
	}
	if x.Reason == ledger.ExitStall || x.Reason == ledger.ExitWall {
		return "its conversation had ended; a background command that it had started kept it alive"
	}
	return ""
}

// claudeAuth lists the kinds of error that only a person can resolve.
var claudeAuth = []string{
	"authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required", "billing_error",
	"model_not_found", "cloud_credential_error",
}

// class returns the failure class of an error; "" means that the session itself
// failed.
func (e *claudeError) class(known []Failure) (ledger.FailureClass, string) {
	text := strings.TrimSpace(e.text)
	switch e.reason {
	case "prompt_too_long", "max_turns", "budget_exhausted", "max_budget_usd", "max_output_tokens":
		if text == "" {
			text = "ended by " + strings.ReplaceAll(e.reason, "_", " ")
		}
		return "", text
	}
	// The text is more precise than the kind: an organisation's limit and an
	// exhausted balance have different texts but may have the same status.
	if t := classify(known, text); t != "" {
		return t, text
	}
	switch {
	case e.kind == "rate_limit" || e.status == 429:
		return ledger.FailureNetwork, text
	case slices.Contains(claudeAuth, e.kind), e.status == 401, e.status == 402, e.status == 403, e.status == 404:
		return ledger.FailureAuth, text
	case e.kind == "server_error", e.kind == "overloaded", e.status >= 500, e.status == 408,
		e.kind == "unknown" && e.status == 0:
		return ledger.FailureNetwork, text
	}
	return "", text
}

// tokens returns the number of all tokens that the provider counted, of every
// model used: input, cache writes, cache reads and output. It is -1 where the
// result has no figures; ok is false where it has others than are known.
func (e *claudeEvent) tokens() (n int64, ok bool) {
	for _, m := range e.Models {
		of, ok := m.sumFields(claudeModelUsage)
		if !ok {
			return -1, false
		}
		n += of
	}
	switch {
	case len(e.Models) > 0:
		return n, true
	case e.Usage == nil:
		return -1, true
	}
	// The main conversation's usage, without its subagents.
	if n, ok = e.Usage.sumFields(claudeUsage); !ok {
		return -1, false
	}
	return n, true
}

// usage returns the tokens by kind, nil if they are unknown, and the model if one alone
// worked.
func (e *claudeEvent) usage() (u *ledger.TokenUsage, model string) {
	if len(e.Models) == 0 {
		return e.Usage.usage(kinds{
			input: "input_tokens", cacheRead: "cache_read_input_tokens", cacheWrite: "cache_creation_input_tokens", output: "output_tokens",
		}), ""
	}
	u = &ledger.TokenUsage{}
	for name, m := range e.Models {
		u = addUsage(u, m.usage(kinds{
			input: "inputTokens", cacheRead: "cacheReadInputTokens", cacheWrite: "cacheCreationInputTokens",
			output: "outputTokens", reasoning: "thinkingTokens",
		}))
		model = Clean(name, longestModel)
	}
	if len(e.Models) > 1 {
		model = ""
	}
	return u, model
}

// cost returns the price in US dollars that the program reports. It uses list
// prices, even for a subscription.
func (e *claudeEvent) cost() float64 {
	usd := -1.0
	if json.Unmarshal(e.Cost, &usd) != nil || usd < 0 {
		return -1
	}
	return usd
}
