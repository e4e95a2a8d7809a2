package adapter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// longestLine is the longest line of an event stream that is parsed, in bytes.
// One line can contain a tool's whole output or the model's whole answer.
const longestLine = 4 << 20

// eventStream collects what an event stream tells of the model's answers and of
// failures. The readers of Codex and opencode embed it.
type eventStream struct {
	known   []Failure
	answers map[string]bool // ids of what the model said and did
	err     *eventError     // the last one, unless the model answered after it
	retries bool            // err is one that the program tried to overcome
	raw     []string        // the last lines that are no events, unless the model answered after them
	gap     bool            // a part of the output is missing
	types   typeCount
}

// plainLine takes a line that is no event, and reports whether it was one.
func (s *eventStream) plainLine(line []byte) bool {
	if line[0] == '{' {
		return false
	}
	if bytes.HasPrefix(line, []byte("[nightporter: ")) {
		s.gap = true
		return true
	}
	s.raw = append(s.raw, Clean(string(line[:min(len(line), 1000)]), 1000))
	s.raw = s.raw[max(0, len(s.raw)-searchedLines):]
	return true
}

// answered records that the model said or did something. It clears earlier errors.
func (s *eventStream) answered(id string) {
	if s.answers == nil {
		s.answers = map[string]bool{}
	}
	s.answers[id] = true
	s.err, s.retries, s.raw = nil, false, nil
}

func (s *eventStream) failed(e eventError, retries bool) {
	s.err, s.retries = &e, retries
}

// verdict returns the verdict without figures. ended reports that the program
// says that its conversation ended well.
func (s *eventStream) verdict(x ledger.Exit, ended bool) Verdict {
	v := unknownVerdict()
	v.Turns = len(s.answers)
	switch {
	case ended && s.err == nil:
	case s.err != nil && (!s.retries || gaveUp(x)):
		until := s.err.until
		if until.IsZero() {
			until = resetTime(s.err.text+" "+s.err.header, x.Ended)
		}
		v.Failure, v.Until = waits(s.err.class(s.known), until, x.Ended)
		v.Text = shorten(s.err.text)
		if v.Failure == "" {
			// The provider examined the request and refused it. So the agent itself
			// works, although no answer was counted.
			v.Turns = max(v.Turns, 1)
		}
	case gaveUp(x):
		// Without events in the stream, only standard error is left to judge.
		v.Failure, v.Until, v.Text = recognise(s.known, s.raw, x.Ended)
		v.Unverified = v.Failure != ""
	}
	return v
}

// leadingStatus matches the HTTP status that messages of some providers' libraries
// begin with: "429 Rate limit reached".
var leadingStatus = regexp.MustCompile(`(?s)^([45]\d\d) (.*)`)

// statusError returns an error of a message that may begin with an HTTP status.
func statusError(text string) eventError {
	e := eventError{text: text}
	if m := leadingStatus.FindStringSubmatch(text); m != nil {
		e.status, _ = strconv.Atoi(m[1])
		e.text = m[2]
	}
	return e
}

// counts are the numbers of tokens in an event, by field.
type counts map[string]json.RawMessage

// text returns a field that is a text, "" for any other.
func (c counts) text(field string) string {
	var text string
	if json.Unmarshal(c[field], &text) != nil {
		return ""
	}
	return text
}

// sumFields returns the sum of fields. It is false where one is missing or no
// number.
func (c counts) sumFields(fields []string) (n int64, ok bool) {
	for _, f := range fields {
		var tokens int64
		if raw, has := c[f]; !has || json.Unmarshal(raw, &tokens) != nil || tokens < 0 || tokens > maxTokens {
			return 0, false
		}
		n += tokens
	}
	return n, true
}

// sum returns the sum of fields. parts are fields whose tokens are contained in it.
// It is false also where a part is more than the sum, or where there is another
// field: a release that counts differently is not to be added up as if it did not.
func (c counts) sum(fields, parts []string) (n int64, ok bool) {
	if n, ok = c.sumFields(fields); !ok {
		return 0, false
	}
	for f := range c {
		if slices.Contains(fields, f) {
			continue
		}
		if part, ok := c.sumFields([]string{f}); !ok || part > n || !slices.Contains(parts, f) {
			return 0, false
		}
	}
	return n, true
}

// longestModel limits the name of a model, in bytes.
const longestModel = 100

// onlyKey returns the key of an object that has one, "" for anything else, and whether it
// has several.
func onlyKey(raw json.RawMessage) (key string, several bool) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || len(object) != 1 {
		return "", len(object) > 1
	}
	for key = range object {
	}
	return Clean(key, longestModel), false
}

// kinds names the fields of counts by kind of token. "" is a kind that the program does
// not tell.
type kinds struct {
	input, cacheRead, cacheWrite, output, reasoning string

	within bool // what was cached is part of the input
	beside bool // reasoning is not part of the output
}

// usage returns the tokens by kind, nil where input or output is missing, a field is no
// number, or a part is more than its whole.
func (c counts) usage(k kinds) *ledger.TokenUsage {
	known := true
	of := func(field string) int64 {
		if _, has := c[field]; field == "" || !has {
			return -1
		}
		n, ok := c.sumFields([]string{field})
		known = known && ok
		return n
	}
	u := ledger.TokenUsage{Input: of(k.input), CacheRead: of(k.cacheRead), CacheWrite: of(k.cacheWrite), Output: of(k.output), Reasoning: of(k.reasoning)}
	if !known || u.Input < 0 || u.Output < 0 {
		return nil
	}
	if k.within {
		u.Input -= max(u.CacheRead, 0) + max(u.CacheWrite, 0)
	}
	if k.beside {
		u.Output += max(u.Reasoning, 0)
	}
	if u.Input < 0 || u.Reasoning > u.Output {
		return nil
	}
	return &u
}

// addUsage returns the sum of both, nil where one is unknown. A kind that only one of
// them tells is part of the sum's input, as it is of the other's.
func addUsage(a, b *ledger.TokenUsage) *ledger.TokenUsage {
	if a == nil || b == nil {
		return nil
	}
	sum := ledger.TokenUsage{Input: a.Input + b.Input, Output: a.Output + b.Output, Reasoning: -1}
	cached := func(x, y int64) int64 {
		if x < 0 || y < 0 {
			sum.Input += max(x, 0) + max(y, 0)
			return -1
		}
		return x + y
	}
	sum.CacheRead, sum.CacheWrite = cached(a.CacheRead, b.CacheRead), cached(a.CacheWrite, b.CacheWrite)
	if a.Reasoning >= 0 && b.Reasoning >= 0 {
		sum.Reasoning = a.Reasoning + b.Reasoning
	}
	return &sum
}

// maxTokens is more than any session uses. Beyond it a number is taken for a
// mistake.
const maxTokens = 1 << 40

// passageTail is the Tail of a program whose events Transcript knows. Lines of
// standard error stay as they are.
func passageTail(lines []string, dir string, most int) []string {
	t := transcript{dir: dir, calls: map[string]int{}}
	for _, line := range lines {
		if e, isEvent := parseEvent(line); isEvent {
			t.event(e)
		} else if !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "[nightporter: ") {
			t.call("", line)
		}
	}
	var out []string
	for _, p := range t.out[max(len(t.out)-most, 0):] {
		if p.Action {
			out = append(out, p.Text)
		} else {
			out = append(out, firstLine(p.Text))
		}
	}
	return out
}

// eventTail is the Tail of a program that prints its own errors at length: lines that
// are no events count only where there are no others.
func eventTail(lines []string, dir string, most int) []string {
	events := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, "{") })
	if out := passageTail(events, dir, most); len(out) > 0 {
		return out
	}
	return passageTail(lines, dir, most)
}
