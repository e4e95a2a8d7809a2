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
	for deadline := time.Now().Add(patience); len(g.Lines) < 4 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
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
		for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
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

// TestTranscript: the end of an output of any size is read, never more of it than a
// screen has, and a command's lines are not read as events.
func TestTranscript(t *testing.T) {
	h := newFixture(t, 0)
	if all, err := h.runner.Transcript("r1-9", 10); err != nil || len(all) > 0 || h.runner.OutputStamp("r1-9") != "" {
		t.Errorf("of no session: %v, %v", all, err)
	}
	write := func(name string, kind ledger.Kind, text string) {
		t.Helper()
		folder := h.runner.folder(name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := writeJSON(filepath.Join(folder, fileSpec), spec{Kind: kind, Plan: plan{Dir: "/work"}}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fileHead), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string, most int) []string {
		t.Helper()
		all, err := h.runner.Transcript(name, most)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, p := range all {
			out = append(out, strings.Split(p.Text, "\n")...)
		}
		return out
	}
	event := `{"type":"text","part":{"text":"I look.\nThen I edit."}}` + "\n"
	write("r1-1", ledger.KindAgent, event)
	write("r1-2", ledger.KindVerify, event)
	write("r1-3", ledger.KindVerify, strings.Repeat("ok shop/order\n", 800_000)+"the end\n") // 11 MB
	write("r1-4", ledger.KindVerify, "before\n"+strings.Repeat("漢", 1<<20))
	write("r1-5", ledger.KindVerify, strings.Repeat(strings.Repeat("x", 100_000)+"\n", 20))
	if got := read("r1-1", 10); !slices.Equal(got, []string{"I look.", "Then I edit."}) {
		t.Errorf("%q", got)
	}
	if got := read("r1-1", 1); !slices.Equal(got, []string{"Then I edit."}) {
		t.Errorf("%q", got)
	}
	if got := read("r1-2", 10); !slices.Equal(got, []string{strings.TrimSpace(event)}) {
		t.Errorf("%q", got)
	}
	if got := read("r1-3", 600); len(got) != 600 || got[599] != "the end" || got[0] != "ok shop/order" {
		t.Errorf("%d lines: %q", len(got), got[max(len(got)-2, 0):])
	}
	if got := read("r1-4", 600); len(got) != 1 || len(got[0]) > maxSaidLine || !strings.HasPrefix(got[0], "…") {
		t.Errorf("%d lines", len(got))
	}
	if got := strings.Join(read("r1-5", 600), ""); len(got) > 20*maxSaidLine || got == "" {
		t.Errorf("%d bytes", len(got))
	}
	before := h.runner.OutputStamp("r1-1")
	write("r1-1", ledger.KindAgent, event+event)
	if after := h.runner.OutputStamp("r1-1"); before == "" || after == before {
		t.Errorf("%q, then %q", before, after)
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
	if err != nil || len(g.Lines) != 1 || g.Lines[0] != "… end" || len(g.Lines[0]) > maxTailLine {
		t.Errorf("%d lines, %v", len(g.Lines), err)
	}
}
