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

// TestOutputTail: a session's latest output and its time are available during
// and after the session. A session that does not exist has none.
func TestOutputTail(t *testing.T) {
	h := newFixture(t, 1)
	if g, err := h.runner.OutputTail("r1-9", 3); err != nil || len(g.Lines) > 0 || !g.At.IsZero() {
		t.Errorf("of no session: %+v, %v", g, err)
	}
	going := filepath.Join(h.work, "go")
	h.script(`printf 'one\n\n  two\r\n10%%\r99%%\nlast without an end'; while [ ! -e ` + going + ` ]; do sleep 0.01; done; echo; echo over`)
	began := time.Now().Add(-time.Second)
	h.start(h.launch("r1-1"))
	var g OutputTail
	for deadline := time.Now().Add(60 * time.Second); len(g.Lines) < 4 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var err error
		if g, err = h.runner.OutputTail("r1-1", 4); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"  two", "10%", "99%", "last without an end"}; !slices.Equal(g.Lines, want) {
		t.Errorf("%q, want %q", g.Lines, want)
	}
	if g.At.Before(began) || g.At.After(time.Now().Add(time.Second)) {
		t.Errorf("last sign of life %v, it began %v", g.At, began)
	}
	later := g.At.Add(time.Minute) // a hat call counts, too
	if err := os.Chtimes(filepath.Join(h.runner.folder("r1-1"), fileTouch), later, later); err != nil {
		t.Fatal(err)
	}
	if g, err := h.runner.OutputTail("r1-1", 4); err != nil || !g.At.Equal(later) {
		t.Errorf("%v, %v, want %v", g.At, err, later)
	}
	if err := os.WriteFile(going, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if x := h.wait("r1-1"); x.Said != "one\n  two\n10%\n99%\nlast without an end\nover" {
		t.Errorf("its last words: %q", x.Said)
	}
	if g, err := h.runner.OutputTail("r1-1", 1); err != nil || !slices.Equal(g.Lines, []string{"over"}) {
		t.Errorf("%q, %v", g.Lines, err)
	}
}

// TestLastAction: a running session's last action is known from its stream, also
// behind a long output of a tool. A command of the project has none.
func TestLastAction(t *testing.T) {
	h := newFixture(t, 1)
	if a, err := h.runner.LastAction("r1-9"); err != nil || a.String() != "" {
		t.Errorf("of no session: %q, %v", a, err)
	}
	call := func(command string) string {
		return `{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"` + command + `"}}` + "\n"
	}
	long := `{"type":"item.completed","item":{"type":"agent_message","text":"` + strings.Repeat("x", 200<<10) + `"}}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"r1-1", "words\n", ""},
		{"r1-2", call("npm ci") + call("cd "+h.work+"/x && npm test -- -t x"), "npm test"},
		{"r1-3", call("npm ci") + long, "npm ci"},
	} {
		output, going := filepath.Join(h.work, c.name), filepath.Join(h.work, "go-"+c.name)
		if err := os.WriteFile(output, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		h.script("cat " + output + `; echo; while [ ! -e ` + going + ` ]; do sleep 0.01; done`)
		h.start(h.launch(c.name))
		for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(time.Millisecond) {
			text, _, err := outputEnd(h.runner.folder(c.name), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > len(c.text) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s prints %d bytes only", c.name, len(text))
			}
		}
		if a, err := h.runner.LastAction(c.name); err != nil || a.String() != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, a, err, c.want)
		}
		if err := os.WriteFile(going, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		h.wait(c.name)
	}
	l := h.launch("r1-4")
	l.Kind, l.Command = ledger.KindVerify, "cat "+filepath.Join(h.work, "r1-2")
	h.start(l)
	h.wait("r1-4")
	if a, err := h.runner.LastAction("r1-4"); err != nil || a.String() != "" {
		t.Errorf("of a command: %q, %v", a, err)
	}
}

// TestOutputTailLines: lines are complete wherever the output is split into
// files, and whatever their length.
func TestOutputTailLines(t *testing.T) {
	h := newFixture(t, 0)
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
		g, err := h.runner.OutputTail("r1-1", 3)
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
	g, err := h.runner.OutputTail("r1-1", 3)
	if err != nil || len(g.Lines) != 1 || !strings.HasPrefix(g.Lines[0], "…xxx") || len(g.Lines[0]) > maxTailLine {
		t.Errorf("%d lines, %v", len(g.Lines), err)
	}
}
