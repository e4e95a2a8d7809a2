package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func lines(data []byte) []string {
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' || r == '\r' })
}

// TestClaudeTail renders streams of real sessions.
func TestClaudeTail(t *testing.T) {
	for name, want := range map[string][]string{
		"background-after-the-event": {
			"tail -f /dev/null   Command running in background with ID:",
			`hat emit build.complete --data '{"files_modified":["hello.txt"],"summary":"it'\''s done"}'   This session has ended with it. Stop now:`,
			"Done.",
		},
		"denied-rm-rf-keep": {
			"rm -rf keep   ✗ failed: Permission to use Bash with command rm -rf keep has been denied.",
			"Done.", "Done.",
		},
		"faults-500-at-turn-2": {
			"echo hi   hi",
			"API Error: 500 Internal server error.",
		},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "claude", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		got := claudeTail(lines(data), "/work", 8)
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s:\n%s", name, strings.Join(got, "\n"))
		}
		if last := claudeTail(lines(data), "/work", 1); !slices.Equal(last, got[len(got)-1:]) {
			t.Errorf("%s: the last is %q", name, last)
		}
	}
	use := func(name, input string) string {
		return `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t1","name":"` + name + `","input":` + input + `}]}}`
	}
	result := func(content, bad string) string {
		return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":` + content + `,"is_error":` + bad + `}]}}`
	}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{use("Edit", `{"file_path":"/work/order/adapter.go","old_string":"a"}`)}, "Edit order/adapter.go"},
		{[]string{use("Edit", `{"file_path":"/work/a.go"}`), result(`"updated"`, "false")}, "Edit a.go"},
		{[]string{use("Edit", `{"file_path":"/workshop/a.go"}`), result(`"File has not been read yet\nmore"`, "true")}, "Edit /workshop/a.go   ✗ failed: File has not been read yet …"},
		{[]string{use("Bash", `{"command":"cd x &&\ngo test"}`), result(`[{"type":"text","text":"=== RUN\nok  \tshop/order\t1.9s\n\n"}]`, "false")}, "cd x && …   ok shop/order 1.9s"},
		{[]string{use("Grep", `{"pattern":"func New","path":"/work/x"}`)}, "Grep func New"},
		{[]string{use("LS", `{"path":"/work/x"}`)}, "LS x"},
		{[]string{use("mcp__db__query", `{"limit":5}`)}, "mcp__db__query"},
		{[]string{use("Bash", `{"command":["no","text"]}`)}, "Bash"},
		{[]string{use("Bash", `"no object"`)}, "Bash"},
		{[]string{`{"type":"user","message":{"content":"words"}}`, "error: from standard error"}, "error: from standard error"},
		{[]string{`{"broken`, `{"type":"assistant"}`, `{}`, "[nightporter: output is missing here]"}, ""},
	} {
		if got := strings.Join(claudeTail(c.lines, "/work", 8), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
}
