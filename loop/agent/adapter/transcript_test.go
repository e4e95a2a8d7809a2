package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown renders passages as a screen does: "› " before an action.
func shown(all []Passage) string {
	var out []string
	for _, p := range all {
		if p.Action {
			p.Text = "› " + p.Text
		}
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

// TestTranscript reads streams of real sessions whole.
func TestTranscript(t *testing.T) {
	for name, want := range map[string]string{
		"claude/background-after-the-event": `› tail -f /dev/null   Command running in background with ID: …
› hat emit build.complete --data '{"files_modified":["hello.txt"],"summary":"it'\''s done"}'   This session has ended with it. …
Done.`,
		"claude/faults-500-at-turn-2": "› echo hi   hi\nAPI Error: 500 Internal server error. …",
		"codex/works": "Model metadata for `gpt-5-codex` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.\n" +
			"› echo hi   hi\n› edits cart/total.go\n› cd cart && cat total.go   package cart\nDone.",
		"opencode/works": "› echo hi   hi\n› write cart/total.go\n› read cart/total.go\n› edit cart/total.go\n› grep package   ✗ failed: ripgrep execution failed\nDone.",
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		got, wanted := strings.Split(shown(Transcript(lines(data), "/work")), "\n"), strings.Split(want, "\n")
		same := len(got) == len(wanted)
		for n := range min(len(got), len(wanted)) {
			head, open := strings.CutSuffix(wanted[n], "…")
			same = same && (got[n] == wanted[n] || open && strings.HasPrefix(got[n], head))
		}
		if !same {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), want)
		}
	}
}

// TestTranscriptLines: what is no event stays as it is, results find their calls,
// and a call that began before the output at hand is told when it is over.
func TestTranscriptLines(t *testing.T) {
	use := func(id, command string) string {
		return `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look.\n\n- first\n"},{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"` + command + `"}}]}}`
	}
	result := func(id, text string) string {
		return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + text + `"}]}}`
	}
	codex := func(kind, item string) string { return `{"type":"item.` + kind + `","item":{"id":"i1",` + item + `}}` }
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{"plain", "  two", `{"level":"info"}`, `{"broken`}, "plain\n  two\n{\"level\":\"info\"}\n{\"broken"},
		{[]string{use("a", "x"), use("b", "y"), result("b", "of y"), result("a", "of x"), result("c", "of none"), "warning"},
			"I look.\n\n- first\n› x   of x\nI look.\n\n- first\n› y   of y\nwarning"},
		{[]string{`{"type":"system"}`, `{"type":"user","message":{"content":"words"}}`, `{"type":"result","result":"again"}`, "[nightporter: output is missing here]"}, ""},
		{[]string{codex("completed", `"type":"command_execution","command":"bash -lc 'npm test'","aggregated_output":"a\n2 failed\n","exit_code":1`)}, "› npm test   ✗ failed: exit 1  2 failed"},
		{[]string{codex("started", `"type":"command_execution","command":"sleep 9"`)}, "› sleep 9"},
		{[]string{codex("completed", `"type":"file_change","changes":[{"path":"/work/a"},{"path":"/b"}]`), codex("completed", `"type":"file_change"`)}, "› edits a /b"},
	} {
		if got := shown(Transcript(c.lines, "/work")); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.lines, got, c.want)
		}
	}
	if got := shown(PlainTranscript([]string{`{"type":"text"}`, "ok"})); got != "{\"type\":\"text\"}\nok" {
		t.Error(got)
	}
}

// FuzzTranscript: no output, however broken, ends the daemon, and nothing that is no
// event is lost.
func FuzzTranscript(f *testing.F) {
	for _, name := range []string{"claude/denied-rm-rf-keep", "codex/works", "opencode/works"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := lines([]byte(text))
		got := shown(Transcript(all, "/work"))
		for _, line := range all {
			if _, isEvent := parseEvent(line); !isEvent && !strings.HasPrefix(line, "[nightporter: ") && !strings.Contains(got, line) {
				t.Errorf("%q is lost in %q", line, got)
			}
		}
	})
}
