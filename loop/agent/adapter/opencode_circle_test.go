package adapter

import (
	"bytes"
	"strings"
	"testing"
)

// TestOpencodeCircle reads streams of real sessions line by line, and what could be
// taken for a circle and is none.
func TestOpencodeCircle(t *testing.T) {
	const again = `{"type":"text","part":{"messageID":"m","type":"text","metadata":{"compaction_continue":true},"synthetic":true,"text":"Continue."}}` + "\n"
	const call = `{"type":"tool_use","part":{"messageID":"m","type":"tool","tool":"bash","state":{"status":"completed"}}}` + "\n"
	words := strings.Replace(strings.Replace(again, `"synthetic":true,`, "", 1), `{"compaction_continue":true}`, `{}`, 1)
	text := func(name string) string { return string(recorded(t, Opencode, name)) }
	for _, c := range []struct {
		name, stream string
		circle       bool
	}{
		{"a full window", text("circle-full"), true},
		{"each request refused", text("circle-refused"), true},
		{"calls between compactions", text("circle-with-calls"), false},
		{"one compaction", text("compaction"), false},
		{"a session", text("session"), false},
		{"three", again + again + again, true},
		{"two", again + again, false},
		{"a call between", again + again + call + again + again, false},
		{"a long call between", again + again + call[:20] + "\n" + again + again, false},
		{"after a call", call + again + again + again, true},
		{"words of the model", strings.Repeat(strings.Replace(words, "Continue.", `\"compaction_continue\":true`, 1), 5), false},
		{"without the program's mark", strings.Repeat(words, 5), false},
		{"unlike an event", strings.Repeat(`{"type":"text","part":"compaction_continue"}`+"\n{\n[]\n\n", 5), false},
	} {
		read := opencodeCircle()
		why := ""
		for line := range bytes.Lines([]byte(c.stream)) {
			if why = read(bytes.TrimSuffix(line, []byte("\n"))); why != "" {
				break
			}
		}
		if want := map[bool]string{true: "it compacted its conversation 3 times in a row without a tool call"}[c.circle]; why != want {
			t.Errorf("%s: %q, want %q", c.name, why, want)
		}
	}
}
