package main_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/programtest"
)

// tmuxScreen is a program in a terminal of tmux, which shows what is on its screen.
type tmuxScreen struct {
	t      *testing.T
	m      programtest.Machine
	socket string
}

// openTmux starts nightporter in a terminal of tmux.
func openTmux(t *testing.T, m programtest.Machine, width, height int, args ...string) *tmuxScreen {
	t.Helper()
	dir, err := os.MkdirTemp("", "np") //nolint:usetesting // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	s := &tmuxScreen{t, m, filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_ = s.command("kill-server").Run() // it ends with its last window
		_ = os.RemoveAll(dir)
	})
	program := m.Command(context.Background(), "nightporter", args...)
	cmd := s.command(append([]string{"-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height)}, program.Args...)...)
	cmd.Args[len(cmd.Args)-len(program.Args)] = program.Path
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	return s
}

func (s *tmuxScreen) command(args ...string) *exec.Cmd {
	cmd := s.m.Command(context.Background(), "tmux", append([]string{"-u", "-S", s.socket}, args...)...)
	cmd.Env = append(cmd.Env, "TERM=screen-256color", "NO_COLOR=1", "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = nil // the server outlives the command that starts it
	return cmd
}

func (s *tmuxScreen) tmux(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *tmuxScreen) resize(width, height int) {
	s.t.Helper()
	s.tmux("resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// await waits until the screen shows all of these, none of those behind "not ", and
// is as wide as it should be: tmux itself only cuts what a program showed before.
func (s *tmuxScreen) await(width int, all ...string) {
	s.t.Helper()
	shown := ""
	err := programtest.WaitFor(strings.Join(all, ", "), func() (bool, error) {
		shown = s.tmux("capture-pane", "-p")
		first, _, _ := strings.Cut(shown, "\n")
		if utf8.RuneCountInString(first) != width {
			return false, nil
		}
		for _, re := range all {
			re, not := strings.CutPrefix(re, "not ")
			if regexp.MustCompile(re).MatchString(shown) == not {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		s.t.Fatalf("%v\n%s", err, shown)
	}
}

// TestWatchLarge looks at a large screen in a real terminal: it shows what the session
// at work says, the plan and the diff, loses what it has no room for while it is made
// smaller, and has all of it again after a restart of the daemon.
func TestWatchLarge(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("SKIPPED: tmux is not installed, so the large live screen is not looked at in a terminal (package tmux)")
	}
	n := programtest.NewTwoTasks(t)
	if err := os.Mkdir(n.Path("notes"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(n.Path("notes"), 0o777); err != nil {
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

	s := openTmux(t, n.Machine, 200, 60, "watch")
	s.await(200, `─ › output #1 planner ─`, `— \d\d:\d\d #1 planner`, `  waits for go-planner-1`, `─ plan #1 First ─`, `no plan yet; the task as it is written`, `- Scope: .src.`, `─ diff r1 ─`, `─ tasks 0/2 ─`, `─ hats ─`, `─ last ─`)
	s.resize(120, 40)
	s.await(120, `─ › output #1 planner ─`, `─ plan #1 First ─`, `not ─ diff`)
	s.resize(80, 24)
	s.await(80, `> waits for go-planner-1`, `─ tasks 0/2 ─`, `not ─ plan`, `not output`)
	s.resize(40, 15)
	s.await(40, `● #1 First`)
	s.resize(200, 60)
	touch("go-planner-1")
	s.await(200, `─ › output #2 planner ─`, `waits for go-planner-2`, `#2 is at work; what it changes is here after each session`, `— src/task1.txt  new \+1`, `\+ .*`)
	s.tmux("send-keys", "k", "k", "v")
	s.await(200, `─ diff #1 ─`, `›✓ #1 First`)

	run.Kill()
	s.await(200, `! nightporter is away since`)
	if run, err = n.Machine.Start(nil, "run"); err != nil {
		t.Fatal(err)
	}
	s.await(200, `✓ nightporter is back`)
	s.tmux("send-keys", "Escape")
	s.await(200, `─ › output #2 planner ─`, `waits for go-planner-2`)
	touch("go-planner-2")
	s.await(200, `— src/task2.txt  new \+1`, `─ tasks 2/2 ─`)
	s.tmux("send-keys", "q")
	if err := programtest.WaitFor("the end of the screen", func() (bool, error) { return s.command("has-session").Run() != nil, nil }); err != nil {
		t.Error(err)
	}
}
