package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestGlimpse: what a session printed last is to be seen while it is at work,
// with the time, and afterwards; of one that is not there nothing is known.
func TestGlimpse(t *testing.T) {
	h := newHouse(t, 1)
	if g, err := h.runner.Glimpse("r1-9", 3); err != nil || len(g.Lines) > 0 || !g.At.IsZero() {
		t.Errorf("of no session: %+v, %v", g, err)
	}
	going := filepath.Join(h.work, "go")
	h.script(`printf 'one\n\n  two\r\n10%%\r99%%\nlast without an end'; while [ ! -e ` + going + ` ]; do sleep 0.01; done; echo; echo over`)
	began := time.Now().Add(-time.Second)
	h.start(h.launch("r1-1"))
	var g OutputTail
	for deadline := time.Now().Add(60 * time.Second); len(g.Lines) < 4 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var err error
		if g, err = h.runner.Glimpse("r1-1", 4); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"  two", "10%", "99%", "last without an end"}; !slices.Equal(g.Lines, want) {
		t.Errorf("%q, want %q", g.Lines, want)
	}
	if g.At.Before(began) || g.At.After(time.Now().Add(time.Second)) {
		t.Errorf("last sign of life %v, it began %v", g.At, began)
	}
	later := g.At.Add(time.Minute) // a call of hat counts too
	if err := os.Chtimes(filepath.Join(h.runner.folder("r1-1"), fileTouch), later, later); err != nil {
		t.Fatal(err)
	}
	if g, err := h.runner.Glimpse("r1-1", 4); err != nil || !g.At.Equal(later) {
		t.Errorf("%v, %v, want %v", g.At, err, later)
	}
	if err := os.WriteFile(going, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	h.wait("r1-1")
	if g, err := h.runner.Glimpse("r1-1", 1); err != nil || !slices.Equal(g.Lines, []string{"over"}) {
		t.Errorf("%q, %v", g.Lines, err)
	}
}

// TestGlimpseEnd: lines are whole wherever the output is cut into files, and
// however long they are.
func TestGlimpseEnd(t *testing.T) {
	h := newHouse(t, 0)
	folder := h.runner.folder("r1-1")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeJSON(filepath.Join(folder, fileSpec), spec{Kind: ledger.KindVerify}); err != nil {
		t.Fatal(err)
	}
	o, err := newOutput(folder, 1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 400 {
		if _, err := o.Write([]byte(strings.Repeat(string(rune('a'+n%26)), 30) + "\n")); err != nil {
			t.Fatal(err)
		}
		g, err := h.runner.Glimpse("r1-1", 3)
		if err != nil || len(g.Lines) != min(n+1, 3) || strings.Trim(g.Lines[len(g.Lines)-1], string(rune('a'+n%26))) != "" {
			t.Fatalf("after line %d: %q, %v", n, g.Lines, err)
		}
		for _, line := range g.Lines {
			if len(line) != 30 {
				t.Fatalf("after line %d, a part of one: %q", n, line)
			}
		}
	}
	o, err = newOutput(folder, headSize, tailSize)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fileTail, fileTail + ".1"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.Write([]byte("before\n" + strings.Repeat("x", 3<<20) + "the end")); err != nil {
		t.Fatal(err)
	}
	g, err := h.runner.Glimpse("r1-1", 3)
	if err != nil || len(g.Lines) != 1 || !strings.HasPrefix(g.Lines[0], "…xxx") || len(g.Lines[0]) > maxGlimpse {
		t.Errorf("%d lines, %v", len(g.Lines), err)
	}
}

// TestClaudeTell: the program's stream as people want to see it, from real
// sessions.
func TestClaudeTell(t *testing.T) {
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
		got := claude{}.Tell(printed(string(data), true), "/work", 8)
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s:\n%s", name, strings.Join(got, "\n"))
		}
		if last := (claude{}).Tell(printed(string(data), true), "/work", 1); !slices.Equal(last, got[len(got)-1:]) {
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
		if got := strings.Join(claude{}.Tell(c.lines, "/work", 8), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
}
