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
	t      *testing.T
	tty    *os.File
	out    *programtest.Buffer
	screen *emulator
	cmd    *exec.Cmd
	done   chan struct{}
	from   int // offset in out up to which it was read
}

// openTerminal starts nightporter in a terminal of 100 columns and 30 lines.
func openTerminal(t *testing.T, m programtest.Machine, env []string, args ...string) *testTerminal {
	t.Helper()
	return startTerminal(t, m, m.Dir, 100, controlling, env, args...)
}

// openTerminalIn starts nightporter in a folder, in a terminal of 30 lines.
func openTerminalIn(t *testing.T, m programtest.Machine, dir string, columns int, env []string, args ...string) *testTerminal {
	t.Helper()
	return startTerminal(t, m, dir, columns, controlling, env, args...)
}

// controlling are the attributes of a process that its terminal sends signals.
var controlling = &syscall.SysProcAttr{Setsid: true, Setctty: true}

// terminalLines is the height of a test's terminal.
const terminalLines = 30

// startTerminal is openTerminalIn with attributes of the process. Without Setctty the
// terminal sends it no signals.
func startTerminal(t *testing.T, m programtest.Machine, dir string, columns int, attrs *syscall.SysProcAttr, env []string, args ...string) *testTerminal {
	t.Helper()
	cmd := m.Command(context.Background(), "nightporter", args...)
	cmd.Dir = dir
	cmd.Env = append(append(cmd.Env, "TERM=xterm-256color"), env...)
	tty, err := pty.StartWithAttrs(cmd, &pty.Winsize{Cols: uint16(columns), Rows: terminalLines}, attrs)
	if err != nil {
		t.Fatal(err)
	}
	s := &testTerminal{t: t, tty: tty, out: &programtest.Buffer{}, screen: newEmulator(columns, terminalLines), cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_, _ = io.Copy(io.MultiWriter(s.out, s.screen), tty) // the program's end causes an error
		_ = cmd.Wait()                                       // the exit code is in ProcessState
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-s.done
		_ = tty.Close()
		if unknown := s.screen.Unknown(); unknown != nil {
			t.Errorf("the emulator does not know %v", unknown)
		}
	})
	return s
}

func (s *testTerminal) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// resize changes the width of the terminal.
func (s *testTerminal) resize(columns int) {
	s.t.Helper()
	s.screen.Resize(columns, terminalLines)
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: uint16(columns), Rows: terminalLines}); err != nil {
		s.t.Fatal(err)
	}
}

// awaitText waits until the screen shows a text.
func (s *testTerminal) awaitText(re string) {
	s.t.Helper()
	want := regexp.MustCompile(re)
	if err := programtest.WaitFor(re, func() (bool, error) { return want.MatchString(s.screen.String()), nil }); err != nil {
		s.t.Fatalf("%v\n%s", err, s.screen)
	}
}

// clock matches the clock in the first line of the screen, which reaches its last
// column.
var clock = regexp.MustCompile(`\d\d:\d\d:\d\d ─$`)

// awaitWidth waits until the screen is drawn for a width.
func (s *testTerminal) awaitWidth(columns int) {
	s.t.Helper()
	if err := programtest.WaitFor(strconv.Itoa(columns)+" columns", func() (bool, error) {
		head, _, _ := strings.Cut(s.screen.String(), "\n")
		return clock.MatchString(head) && utf8.RuneCountInString(head) == columns, nil
	}); err != nil {
		s.t.Fatalf("%v\n%s", err, s.screen)
	}
}

// redraw asks for the whole screen again and waits for it. Its last line, which is
// never empty, is drawn last.
func (s *testTerminal) redraw() {
	s.t.Helper()
	before := s.screen.Redraws()
	s.press("\x0c") // Ctrl-L
	if err := programtest.WaitFor("a redraw", func() (bool, error) { return s.screen.Redraws() > before, nil }); err != nil {
		s.t.Fatalf("%v\n%s", err, s.screen)
	}
	s.awaitText(`\S$`)
}

// checkRedraw checks that the screen shows the same after a redraw, besides the time.
func (s *testTerminal) checkRedraw() {
	s.t.Helper()
	text := func() string {
		return regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(s.screen.String(), "hh:mm:ss")
	}
	before := text()
	s.redraw()
	if after := text(); after != before {
		s.t.Errorf("the screen showed\n%s\nand after a redraw\n%s", before, after)
	}
}

func (s *testTerminal) awaitExit(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(programtest.Patience):
		s.t.Fatalf("it does not end:\n%s", s.screen)
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d:\n%s", got, code, s.screen)
	}
}
