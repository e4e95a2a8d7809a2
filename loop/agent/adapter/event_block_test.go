package adapter

import (
	"strings"
	"testing"
)

func TestWrittenEvent(t *testing.T) {
	const block = "```nightporter-event build.complete\n{\"summary\":\"x\"}\n```"
	for _, c := range []struct{ name, message, typ, data string }{
		{"alone", block, "build.complete", `{"summary":"x"}`},
		{"after words", "All done.\n\n" + block + "\n\n", "build.complete", `{"summary":"x"}`},
		{"carriage returns", strings.ReplaceAll("Done.\n"+block, "\n", "\r\n"), "build.complete", `{"summary":"x"}`},
		{"without data", "```nightporter-event task.blocked\n```", "task.blocked", "{}"},
		{"data of several lines", "```nightporter-event x\n{\n \"a\": 1\n}\n```", "x", "{\n \"a\": 1\n}"},
		{"words after it", block + "\nThis is how it would look.", "", ""},
		{"two", block + "\n" + block, "", ""},
		{"quoted", "> " + block, "", ""},
		{"indented", "  x " + block, "", ""},
		{"another block", "```json\n{}\n```", "", ""},
		{"not closed", strings.TrimSuffix(block, "```"), "", ""},
		{"no type", "```nightporter-event \n{}\n```", "", ""},
		{"no JSON", "```nightporter-event x\n{summary: x}\n```", "", ""},
		{"no object", "```nightporter-event x\n[1]\n```", "", ""},
		{"nothing", "", "", ""},
	} {
		e := WrittenEvent(c.message)
		if (e != nil) != (c.typ != "") || e != nil && (e.Type != c.typ || string(e.Data) != c.data) {
			t.Errorf("%s: %+v, want %q %s", c.name, e, c.typ, c.data)
		}
	}
}

// TestLastMessage checks where an agent's last message is read: in Claude Code's result,
// and at the end of a plain output.
func TestLastMessage(t *testing.T) {
	stream := `{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"no"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"the last words"}
`
	failed := strings.Replace(stream, `"is_error":false`, `"is_error":true`, 1)
	long := strings.Repeat("x", 5*longestWritten) + "end"
	for _, c := range []struct {
		a            *Agent
		output, want string
	}{
		{&claude, stream, "the last words"},
		{&claude, failed, ""},
		{&claude, "", ""},
		{&command, "one\ntwo\n", "one\ntwo\n"},
	} {
		if got := c.a.LastMessage(strings.NewReader(c.output)); got != c.want {
			t.Errorf("%s: %q, want %q", c.a.Name, got, c.want)
		}
	}
	if got := lastLines(strings.NewReader(long)); len(got) > 2*longestWritten || !strings.HasSuffix(got, "xend") {
		t.Errorf("%d bytes are kept of %d", len(got), len(long))
	}
}
