package agent

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/nightporter/nightporter/internal/copytree"
	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/hatcli"
	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestMain lets the test program act as nightporter: shims and their inner
// stages run from a copy of it.
func TestMain(m *testing.M) {
	if w, is := guard.Find(os.Args[0]); is {
		exit(w.Main(os.Args[1:], os.Stderr))
	}
	if filepath.Base(os.Args[0]) == "hat" {
		exit(hatcli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	if code, is := RunShim(os.Args); is {
		exit(code)
	}
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "daemon":
			exit(daemonHelper(os.Args[2]))
		case "probe":
			exit(probeHelper(os.Args[2:]))
		case "measure":
			exit(measureHelper(os.Args[2]))
		case "ways":
			exit(waysHelper(os.Stdin))
		case "serve":
			exit(serveHelper(os.Args[2]))
		case "connect":
			exit(connectHelper(os.Args[2]))
		case "flood":
			exit(floodHelper(os.Args[2]))
		}
	}
	leaktest.Main(func() int {
		defer func() { _ = os.RemoveAll(installed.dir) }()
		// Tests that are parallel wait for their sessions far more than they compute.
		flag.Parse()
		if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
			_ = flag.Set("test.parallel", "4")
		}
		return m.Run()
	})
}

// installed is what fixtures need not find out or make again: the level that a
// runner of an upper limit found, and the programs that it installed, which the
// states of other fixtures get as hard links.
var installed = struct {
	sync.Mutex
	dir   string
	level map[int]int // by Options.MaxLevel
}{level: map[int]int{}}

// reuse gives a runner what an earlier one of the same options found and made. A
// trial session of each fixture's own would prove nothing more: its test runs
// sessions at that level.
func (h *fixture) reuse() {
	h.t.Helper()
	if level, known := installed.level[h.opts.MaxLevel]; known {
		h.runner.levelOnce.Do(func() { h.runner.level = level })
		return
	}
	if installed.dir == "" {
		var err error
		if installed.dir, err = os.MkdirTemp("", "np"); err != nil {
			h.t.Fatal(err)
		}
	}
	linkTree(h.t, h.runner.bin, filepath.Join(installed.dir, filepath.Base(h.runner.bin)))
	installed.level[h.opts.MaxLevel], _ = h.runner.Level()
}

// linkTree makes hard links of the files and symbolic links of a folder, and copies
// of them where the other folder is on a disk of its own.
func linkTree(t testing.TB, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		err := os.Link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if errors.Is(err, syscall.EXDEV) {
			if err := copytree.Copy(from, to); err != nil {
				t.Fatal(err)
			}
			return
		}
		if err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
}

// exit ends the process without the second that the race detector waits at a
// normal exit. Its reports have been printed by then.
func exit(code int) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(code), 0, 0)
}

// fixture is a state folder with a runner and one agent, which is a shell
// script.
type fixture struct {
	t      testing.TB
	state  string
	work   string
	out    string // a folder outside the session's, with a file that other users can write
	runner *Runner
	opts   Options
}

func shortTiming() Timing {
	ms := func(n int) ledger.Duration { return ledger.Duration(time.Duration(n) * time.Millisecond) }
	return Timing{Check: ms(50), Grace: ms(500), Rest: ms(300), Abandon: ms(60_000)}
}

// program returns the path of this test program as sessions can execute it: New
// installed it in place of nightporter.
func (h *fixture) program() string { return filepath.Join(h.runner.bin, programSelf) }

// newFixture makes a fixture whose sessions run at the given level. It skips
// the test, with the reason, on a machine without that level.
func newFixture(t testing.TB, level int, change ...func(*Options)) *fixture {
	t.Helper()
	top := t.TempDir()
	// Without mounts, the session's user has to pass through these folders.
	for _, d := range []string{filepath.Dir(top), top} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h := &fixture{t: t, state: filepath.Join(top, "state"), out: filepath.Join(top, "out")}
	h.work = filepath.Join(h.state, "runs", "r1", "work")
	for _, d := range []string{h.state, h.work, h.out} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(h.out, 0o777); err != nil {
		t.Fatal(err)
	}
	h.opts = Options{
		State: h.state, MaxLevel: level, Timing: shortTiming(), Agents: map[string]Definition{},
		Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&h.opts)
	}
	installed.Lock()
	defer installed.Unlock()
	if programs, err := os.ReadDir(installed.dir); err == nil {
		for _, p := range programs {
			linkTree(t, filepath.Join(installed.dir, p.Name()), filepath.Join(h.state, "bin", p.Name()))
		}
	}
	h.runner = h.open()
	if len(change) == 0 {
		h.reuse()
	}
	if level > 0 {
		if got, why := h.runner.Level(); got != level {
			if supportedLevel() >= level {
				t.Fatalf("boundary level %d of %d, on a machine that can do it: %s", got, level, strings.Join(why, "; "))
			}
			t.Skipf("SKIPPED: this machine has boundary level %d as uid %d, not %d: %s", got, os.Geteuid(), level, strings.Join(why, "; "))
		}
		t.Logf("boundary level %d as uid %d", level, os.Geteuid())
	}
	return h
}

// supportedLevel returns the boundary level that this machine supports
// according to other programs. A test can so tell a broken boundary from an
// unsupported one.
func supportedLevel() int {
	if landlockABI() < abiTruncate {
		return 1
	}
	args := []string{"--mount", "--pid", "--ipc", "--fork", "--mount-proc", "true"}
	if os.Geteuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	if exec.Command("unshare", args...).Run() != nil {
		return 2
	}
	return 3
}

func (h *fixture) open() *Runner {
	h.t.Helper()
	r, err := New(h.opts)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// script makes a shell script the program of the agent "mine".
func (h *fixture) script(text string) {
	h.t.Helper()
	path := filepath.Join(h.out, "agent.sh")
	// A process that another test forks meanwhile would hold the file open for
	// writing, and it could not be run: "text file busy".
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		h.t.Fatal(err)
	}
	h.runner.o.Agents["mine"] = Definition{Name: "mine", Command: []string{path}, Dir: h.out}
}

func (h *fixture) launch(session string) ledger.Launch {
	return ledger.Launch{
		Session: session, Project: "shop", Run: "r1", Task: "Task 5", Kind: ledger.KindAgent, Hat: "builder", Agent: "mine",
		Prompt: "do it\n", Work: h.work, Token: "t0ken", Context: map[string][]byte{"TASK.md": []byte("# Task 5\n")},
	}
}

func (h *fixture) start(l ledger.Launch) {
	h.t.Helper()
	if err := h.runner.Start(context.Background(), l); err != nil {
		h.t.Fatal(err)
	}
}

// patience is how long a session may take to end, and a condition to come true: on a
// busy machine the first start of a real agent has taken more than a minute.
const patience = 8 * time.Minute

func (h *fixture) wait(session string) ledger.Exit {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	x, err := h.runner.Wait(ctx, session)
	if err != nil {
		h.t.Fatalf("%v\n%s", err, h.log(session))
	}
	for _, text := range []string{h.log(session), x.Tail} {
		if strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") {
			h.t.Errorf("a shim said:\n%s", text)
		}
	}
	return x
}

// run runs one session with a script.
func (h *fixture) run(session, script string) ledger.Exit {
	h.t.Helper()
	h.script(script)
	h.start(h.launch(session))
	return h.wait(session)
}

func (h *fixture) log(session string) string {
	data, _ := os.ReadFile(filepath.Join(h.runner.folder(session), fileLog))
	return string(data)
}

// atEachLevel runs a test at each boundary level.
func atEachLevel(t *testing.T, test func(t *testing.T, level int)) {
	for level := 3; level >= 1; level-- {
		t.Run(fmt.Sprintf("level%d", level), func(t *testing.T) { test(t, level) })
	}
}

// awaitChange waits until ok returns true, and calls it after each change in
// dir.
func awaitChange(t testing.TB, dir, what string, ok func() bool) {
	t.Helper()
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := w.Add(dir); err != nil {
		t.Fatal(err)
	}
	late := time.After(patience)
	for !ok() {
		select {
		case <-w.Events:
		case <-late:
			t.Fatalf("never happened: %s", what)
		}
	}
}

// processesWith returns the living processes with the mark among their
// arguments.
func processesWith(mark string) []int {
	var pids []int
	for _, p := range processes() {
		cmd, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		if err == nil && !p.gone() && strings.Contains(string(cmd), mark) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}
