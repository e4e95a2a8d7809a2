package main_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"

	"github.com/nightporter/nightporter/internal/programtest"
)

// testTerminal is a person at a terminal.
type testTerminal struct {
	t    *testing.T
	tty  *os.File
	out  *programtest.Buffer
	cmd  *exec.Cmd
	done chan struct{}

	from   int // offset of the last complete redraw
	drawn  time.Time
	narrow bool
}

// openTerminal starts nightporter in a terminal of 100 columns and 30 lines.
func openTerminal(t *testing.T, m programtest.Machine, env []string, args ...string) *testTerminal {
	t.Helper()
	return startTerminal(t, m, m.Dir, 100, controlling, env, args...)
}

// openTerminalIn starts nightporter in a folder, in a terminal of 30 lines.
func openTerminalIn(t *testing.T, m programtest.Machine, dir string, columns uint16, env []string, args ...string) *testTerminal {
	t.Helper()
	return startTerminal(t, m, dir, columns, controlling, env, args...)
}

// controlling are the attributes of a process that its terminal sends signals.
var controlling = &syscall.SysProcAttr{Setsid: true, Setctty: true}

// startTerminal is openTerminalIn with attributes of the process. Without Setctty the
// terminal sends it no signals.
func startTerminal(t *testing.T, m programtest.Machine, dir string, columns uint16, attrs *syscall.SysProcAttr, env []string, args ...string) *testTerminal {
	t.Helper()
	cmd := m.Command(context.Background(), "nightporter", args...)
	cmd.Dir = dir
	cmd.Env = append(append(cmd.Env, "TERM=xterm-256color"), env...)
	tty, err := pty.StartWithAttrs(cmd, &pty.Winsize{Cols: columns, Rows: 30}, attrs)
	if err != nil {
		t.Fatal(err)
	}
	s := &testTerminal{t: t, tty: tty, out: &programtest.Buffer{}, cmd: cmd, done: make(chan struct{}), drawn: time.Now()}
	go func() {
		defer close(s.done)
		_, _ = io.Copy(s.out, tty) // the program's end causes an error
		_ = cmd.Wait()             // the exit code is in ProcessState
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-s.done
		_ = tty.Close()
	})
	return s
}

func (s *testTerminal) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// sequences matches control sequences that move the cursor or set a colour.
var sequences = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[PX^_][^\x1b]*\x1b\\\\|[ -/]*[0-~])")

// text returns the output since the last complete redraw.
func (s *testTerminal) text() string { return sequences.ReplaceAllString(s.out.String()[s.from:], " ") }

// awaitText waits until the screen shows a text. A screen usually sends only
// its changes, so the terminal is resized to receive all of it.
func (s *testTerminal) awaitText(re string) {
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

func (s *testTerminal) awaitExit(code int) {
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

// TestWatchTerminal: the screen in a terminal shows a run's sessions and an
// agent's output, gives guidance and pauses the run. Leaving the screen does
// not end the run. In between nightporter is killed and restarted, and the
// screen shows both.
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

	s := openTerminal(t, n.Machine, []string{"NO_COLOR=1"}, "watch")
	s.awaitText(`shop r1`)
	s.awaitText(`● at work · 0/2 done`)
	s.awaitText(`● #1 First[\s│]`)
	s.awaitText(`planner · honest · \d:\d\d · attempt 1`)
	s.awaitText(`last event \d:\d\d ago · silent limit 15:00`)
	s.awaitText(`> waits for go-planner-1\s`)
	s.awaitText(`─ hats ─`)
	s.awaitText(` planner +[█▌▐]+`)
	if text := s.out.String(); regexp.MustCompile("\x1b\\[(?:3[0-9]|9[0-7]|38;|48;)[0-9;]*m").MatchString(text) {
		t.Errorf("colour in spite of NO_COLOR: %q", text)
	}
	s.press("g")
	s.awaitText(`enter sends`)
	s.press("Keep the old names")
	s.awaitText(`> Keep the old names_`)
	s.press("\r")
	s.awaitText(`○ g1 Keep the old names +queued`)
	s.press("gq9 a\r") // an answer never becomes guidance, even to an unknown question
	s.awaitText(`✗ there is no open question q9`)
	s.press("\x15\r") // the input line is empty
	s.awaitText(`g guidance +p pause +s stop +↵ task +l log +d diff`)
	s.press("\r")
	s.awaitText(`─ /task 1 ─`)
	s.press("q")
	s.press("s")
	s.awaitText(`\? y ends r1 after #1 planner · n`)
	s.press("n")
	s.awaitText(`○ not stopped`)
	s.press("p")
	s.awaitText(`‖ pauses after #1 planner`)
	if out := n.Out("nightporter", "status", "--json"); !strings.Contains(out, `"state":"pausing"`) || !strings.Contains(out, `"guidance_waiting":1`) {
		t.Error(out)
	}
	touch("go-planner-1")
	s.awaitText(`‖ paused · 0/2 done`)

	// The screen notices that the daemon ends and starts again.
	run.Kill()
	s.awaitText(`! nightporter is away since \d\d:\d\d:\d\d`)
	if run, err = n.Machine.Start(nil, "run"); err != nil {
		t.Fatal(err)
	}
	s.awaitText(`✓ nightporter is back, was away since \d\d:\d\d:\d\d`)
	s.press("r")
	s.awaitText(`● #2 Second[\s│]`)
	s.awaitText(`✓ g1 Keep the old names +addressed`)
	s.awaitText(` planner +[█▌▐].*[█▌▐]`) // including the sessions before the restart
	s.awaitText(` builder +[█▌▐]+`)
	s.press("d")
	s.awaitText(`─ /diff ─`)
	s.awaitText(`src/task1.txt`)
	s.press("q")
	s.press("l")
	s.awaitText(`─ /log ─`)
	s.awaitText(`#1 .*builder`)
	s.press("q")
	s.awaitText(`g guidance`)
	s.press("q")
	s.awaitExit(0)

	// The run continues without the screen.
	if out := n.Out("nightporter", "status", "--json"); !strings.Contains(out, `"state":"running"`) {
		t.Error(out)
	}
	// Without a terminal, watch prints the status once.
	if out := n.Out("nightporter", "watch", "shop"); !strings.Contains(out, "● shop 1/2") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	touch("go-planner-2")
	if code, err := run.Wait(); err != nil || code != 0 {
		t.Errorf("exit %d, %v\n%s", code, err, run.Out)
	}
}

// TestWatchResizeWithoutSignal: the screen takes the size that its terminal has,
// where no signal announces it.
func TestWatchResizeWithoutSignal(t *testing.T) {
	t.Parallel()
	n := programtest.NewTwoTasks(t)
	up, err := n.Machine.Start(nil, "up")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { up.Kill() })
	if err := programtest.WaitFor("up", func() (bool, error) {
		return n.Machine.Command(t.Context(), "nightporter", "status").Run() == nil && strings.Contains(up.Out.String(), "shop"), nil
	}); err != nil {
		t.Fatalf("%v\n%s", err, up.Out)
	}
	s := startTerminal(t, n.Machine, n.Dir, 100, &syscall.SysProcAttr{Setsid: true}, []string{"NO_COLOR=1"}, "watch")
	for _, cols := range []int{100, 64, 130} {
		s.from = len(s.out.String())
		if err := pty.Setsize(s.tty, &pty.Winsize{Cols: uint16(cols), Rows: 30}); err != nil {
			t.Fatal(err)
		}
		if cols == 100 { // the first drawing
			s.from = 0
		}
		clock := regexp.MustCompile(`─ .*\d\d:\d\d:\d\d ─`)
		if err := programtest.WaitFor("a screen of "+strconv.Itoa(cols)+" columns", func() (bool, error) {
			for line := range strings.SplitSeq(s.text(), "\n") {
				if head := clock.FindString(line); utf8.RuneCountInString(strings.TrimLeft(head, " ")) == cols {
					return true, nil
				}
			}
			return false, nil
		}); err != nil {
			t.Fatalf("%v\n%q", err, s.text())
		}
	}
	s.press("q")
	s.awaitExit(0)
}

// TestWatchNoDaemon: without a daemon, watch exits with a remedy, but a pipe
// still gets the status.
func TestWatchNoDaemon(t *testing.T) {
	t.Parallel()
	n := programtest.NewTwoTasks(t)
	s := openTerminal(t, n.Machine, nil, "watch")
	s.awaitExit(3)
	if !strings.Contains(s.text(), "nightporter is not running. Start it: nightporter up") {
		t.Error(s.text())
	}
	n.Out("nightporter", "run", "--check")
	if out := n.Out("nightporter", "watch"); !strings.Contains(out, "shop") {
		t.Error(out)
	}
}
