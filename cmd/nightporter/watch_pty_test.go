package main_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/nightporter/nightporter/internal/programtest"
)

// terminalSession is nightporter in a pseudo-terminal.
type terminalSession struct {
	t    *testing.T
	tty  *os.File
	out  *programtest.Buffer
	cmd  *exec.Cmd
	done chan struct{}

	from   int // where the newest drawing of the screen begins
	drawn  time.Time
	narrow bool
}

// startTerminal starts nightporter in a terminal of 100 columns and 30 lines.
func startTerminal(t *testing.T, m programtest.Machine, env []string, args ...string) *terminalSession {
	t.Helper()
	cmd := m.Command(context.Background(), "nightporter", args...)
	cmd.Env = append(append(cmd.Env, "TERM=xterm-256color"), env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	s := &terminalSession{t: t, tty: tty, out: &programtest.Buffer{}, cmd: cmd, done: make(chan struct{}), drawn: time.Now()}
	go func() {
		defer close(s.done)
		_, _ = io.Copy(s.out, tty) // ends with an error when the program does
		_ = cmd.Wait()             // its exit code is in ProcessState
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		<-s.done
		_ = tty.Close()
	})
	return s
}

func (s *terminalSession) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// sequences are what moves a cursor or sets a colour.
var sequences = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[PX^_][^\x1b]*\x1b\\\\|[ -/]*[0-~])")

// text is what was written since the screen was drawn anew the last time.
func (s *terminalSession) text() string {
	return sequences.ReplaceAllString(s.out.String()[s.from:], " ")
}

// sees waits until the screen shows something. A screen sends only what has
// changed; a terminal of another size is sent all of it.
func (s *terminalSession) sees(re string) {
	s.t.Helper()
	want := regexp.MustCompile(re)
	err := programtest.WaitFor(re, func() (bool, error) {
		if want.MatchString(s.text()) {
			return true, nil
		}
		if time.Since(s.drawn) > 300*time.Millisecond {
			s.narrow = !s.narrow
			size := &pty.Winsize{Cols: 100, Rows: 30}
			if s.narrow {
				size.Cols = 99
			}
			s.from, s.drawn = len(s.out.String()), time.Now()
			return false, pty.Setsize(s.tty, size)
		}
		return false, nil
	})
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.text())
	}
}

func (s *terminalSession) ends(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(programtest.Patience):
		s.t.Fatalf("it does not end:\n%s", s.text())
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d:\n%s", got, code, s.text())
	}
}

// TestWatchTerminal: from a terminal, a run's sessions and what an agent prints
// are seen, guidance is given and the run is paused; who leaves, leaves it at
// work. In between nightporter is ended,
// which the screen says, and started again, which it sees by itself.
func TestWatchTerminal(t *testing.T) {
	t.Parallel()
	n := programtest.NewTwoTasks(t)
	notes := n.Path("notes")
	if err := os.Mkdir(notes, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(notes, 0o777); err != nil {
		t.Fatal(err)
	}
	touch := func(name string) {
		t.Helper()
		if err := os.WriteFile(n.Path("notes", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	touch("hold-planner-1")
	touch("hold-planner-2")
	run, err := n.Machine.Start(nil, "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Kill() })
	if err := programtest.WaitFor("the planner", func() (bool, error) {
		_, err := os.Stat(n.Path("notes", "at-go-planner-1"))
		return err == nil, nil
	}); err != nil {
		t.Fatalf("%v\n%s", err, run.Out)
	}

	s := startTerminal(t, n.Machine, []string{"NO_COLOR=1"}, "watch")
	s.sees(`shop r1`)
	s.sees(`● at work · 0/2 done`)
	s.sees(`● #1 First[\s│]`)
	s.sees(`planner · honest · \d:\d\d · attempt 1`)
	s.sees(`last event \d:\d\d ago · silent limit 15:00`)
	s.sees(`> waits for go-planner-1\s`)
	s.sees(`─ hats ─`)
	s.sees(` planner +[█▌▐]+`)
	if text := s.out.String(); regexp.MustCompile("\x1b\\[(?:3[0-9]|9[0-7]|38;|48;)[0-9;]*m").MatchString(text) {
		t.Errorf("colour in spite of NO_COLOR: %q", text)
	}
	s.press("g")
	s.sees(`enter sends`)
	s.press("Keep the old names")
	s.sees(`> Keep the old names_`)
	s.press("\r")
	s.sees(`○ g1 Keep the old names +queued`)
	s.press("gq9 a\r") // an answer, open or not, is never words for a session
	s.sees(`✗ there is no open question q9`)
	s.press("\x15\r") // nothing in the box
	s.sees(`g guidance +p pause +s stop +↵ task +l log +d diff`)
	s.press("\r")
	s.sees(`─ /task 1 ─`)
	s.press("q")
	s.press("s")
	s.sees(`\? y ends r1 after #1 planner · n`)
	s.press("n")
	s.sees(`○ not stopped`)
	s.press("p")
	s.sees(`‖ pauses after #1 planner`)
	if out := n.Out("nightporter", "status", "--json"); !strings.Contains(out, `"state":"pausing"`) || !strings.Contains(out, `"guidance_waiting":1`) {
		t.Error(out)
	}
	touch("go-planner-1")
	s.sees(`‖ paused · 0/2 done`)

	// The daemon goes, and comes back.
	run.Kill()
	s.sees(`! nightporter is away since \d\d:\d\d:\d\d`)
	if run, err = n.Machine.Start(nil, "run"); err != nil {
		t.Fatal(err)
	}
	s.sees(`✓ nightporter is back, was away since \d\d:\d\d:\d\d`)
	s.press("r")
	s.sees(`● #2 Second[\s│]`)
	s.sees(`✓ g1 Keep the old names +addressed`)
	s.sees(` planner +[█▌▐].*[█▌▐]`) // the sessions before it was away, too
	s.sees(` builder +[█▌▐]+`)
	s.press("d")
	s.sees(`─ /diff ─`)
	s.sees(`src/task1.txt`)
	s.press("q")
	s.press("l")
	s.sees(`─ /log ─`)
	s.sees(`#1 .*builder`)
	s.press("q")
	s.sees(`g guidance`)
	s.press("q")
	s.ends(0)

	// It goes on without anybody who watches.
	if out := n.Out("nightporter", "status", "--json"); !strings.Contains(out, `"state":"running"`) {
		t.Error(out)
	}
	// Where no terminal is, the status is printed once.
	if out := n.Out("nightporter", "watch", "shop"); !strings.Contains(out, "● shop 1/2") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	touch("go-planner-2")
	if code, err := run.Wait(); err != nil || code != 0 {
		t.Errorf("exit %d, %v\n%s", code, err, run.Out)
	}
}

// TestWatchNobody: without a nightporter there is nothing to watch, and the
// person is told what to do; a pipe gets the status all the same.
func TestWatchNobody(t *testing.T) {
	t.Parallel()
	n := programtest.NewTwoTasks(t)
	s := startTerminal(t, n.Machine, nil, "watch")
	s.ends(3)
	if !strings.Contains(s.text(), "nightporter is not running. Start it: nightporter up") {
		t.Error(s.text())
	}
	n.Out("nightporter", "run", "--check")
	if out := n.Out("nightporter", "watch"); !strings.Contains(out, "shop") {
		t.Error(out)
	}
}
