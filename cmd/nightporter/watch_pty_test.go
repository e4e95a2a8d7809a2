package main_test

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

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
	s.awaitText(`^─ shop ─`)
	s.awaitWidth(100)
	s.resize(64)
	s.awaitWidth(64)
	// The columns that a wider screen gains are erased where the next view has nothing.
	s.resize(130)
	s.awaitWidth(130)
	s.press("?")
	s.awaitText(`^─ keys ─`)
	s.checkRedraw()
	s.press("q")
	// There and back between two looks at the size: the terminal has cut the lines, and
	// nothing tells.
	s.resize(64)
	s.resize(130)
	s.redraw()
	s.awaitWidth(130)
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
	if !strings.Contains(s.screen.String(), "nightporter is not running. Start it: nightporter up") {
		t.Error(s.screen)
	}
	n.Out("nightporter", "run", "--check")
	if out := n.Out("nightporter", "watch"); !strings.Contains(out, "shop") {
		t.Error(out)
	}
}
