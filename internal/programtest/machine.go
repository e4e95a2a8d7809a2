package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is how long a condition may take to come true. It is long because
// it costs nothing where all is well, and machines can be slow.
const patience = 60 * time.Second

// world is one person's machine: a home, a config, a state folder, and a
// folder notes in which agents may write beside their work folder, so that a
// test can see what happened inside sessions and hold them.
type world struct{ dir string }

func (w world) path(elem ...string) string {
	return filepath.Join(append([]string{w.dir}, elem...)...)
}

func (w world) state() string { return w.path("state", "nightporter") }

// furnish makes what every test has: the agents, and a config that knows all
// of them and the repository "repo". A config that is there already is left
// alone; DIR in it stands for the world's folder.
func (w world) furnish() error {
	for _, dir := range []string{"home", "state", "config/nightporter", "agents"} {
		if err := os.MkdirAll(w.path(dir), 0o755); err != nil {
			return err
		}
	}
	agents, err := filepath.Glob("testdata/agents/*.sh")
	if err != nil {
		return err
	}
	var table strings.Builder
	for _, file := range agents {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		base := filepath.Base(file)
		if err := os.WriteFile(w.path("agents", base), data, 0o755); err != nil {
			return err
		}
		if name := strings.TrimSuffix(base, ".sh"); name != "lib" {
			fmt.Fprintf(&table, "[agents.%s]\ncommand = [%q, %q]\n", name, w.path("agents", base), w.path("notes"))
		}
	}
	const standard = `timezone = "UTC"

AGENTS
[[project]]
name = "shop"
repo = "DIR/repo"
source = "plan:plan.md"
agent = "honest"
verify = ["sh ./verify.sh"]
cache = ["DIR/notes"]
`
	file := w.path("config", "nightporter", "nightporter.toml")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte(standard), nil
	}
	if err != nil {
		return err
	}
	text := strings.NewReplacer("AGENTS\n", table.String(), "DIR", w.dir).Replace(string(data))
	return os.WriteFile(file, []byte(text), 0o644)
}

// env is the environment of every program of the world: nothing of the
// person's who runs the tests but where programs are.
func (w world) env(extra ...string) []string {
	env := []string{
		"PATH=" + binDir + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + w.path("home"),
		"XDG_CONFIG_HOME=" + w.path("config"),
		"XDG_STATE_HOME=" + w.path("state"),
		"TMPDIR=" + os.TempDir(),
		"GIT_CONFIG_NOSYSTEM=1",
		"TZ=UTC", "LANG=C.UTF-8",
	}
	return append(env, extra...)
}

// command makes a command of the world, run in its folder.
func (w world) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if path := filepath.Join(binDir, name); name == "nightporter" || name == "hat" {
		name = path
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = w.dir, w.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// output runs a command and returns its standard output and exit code.
func (w world) output(name string, args ...string) (string, int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := w.command(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	code := cmd.ProcessState.ExitCode()
	var exit *exec.ExitError
	if errors.As(err, &exit) && code >= 0 {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	if code != 0 {
		return out.String() + errs.String(), code, err
	}
	return out.String(), code, err
}

// repo makes a repository of the files in dir, or an empty folder's.
func (w world) repo(dir string) error {
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "Mira"},
		{"config", "user.email", "mira@example.com"},
		{"add", "--all"},
		{"commit", "--quiet", "--message=First", "--date=2026-11-19T21:00:00+01:00"},
	} {
		cmd := w.command(context.Background(), "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(cmd.Env, "GIT_COMMITTER_DATE=2026-11-19T21:00:00+01:00")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// installed returns the folder of the programs that a world's daemon installed
// in its state folder. Worlds share them by links: without that, each test
// would copy and sync the programs once more.
func installed() string { return filepath.Join(root, "installed") }

// takeInstalled gives a new world the programs that another one installed. The
// world has a state folder then, as one that had a run.
func (w world) takeInstalled() error {
	if _, err := os.Stat(installed()); err != nil {
		return nil //nolint:nilerr // none was yet
	}
	if err := os.MkdirAll(w.state(), 0o700); err != nil {
		return err
	}
	return linkTree(installed(), filepath.Join(w.state(), "bin"))
}

// giveInstalled keeps the programs that this world installed, for others.
func (w world) giveInstalled() {
	tmp, err := os.MkdirTemp(root, "installing") //nolint:usetesting // it outlives the test
	if err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(tmp) }() // gone already where it was renamed
	if linkTree(filepath.Join(w.state(), "bin"), filepath.Join(tmp, "bin")) == nil {
		_ = os.Rename(filepath.Join(tmp, "bin"), installed()) // another world may have been faster
	}
}

// linkTree makes the folder to of links to the files below from.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") { // not finished
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return os.Link(path, filepath.Join(to, rel))
	})
}

// cleanUp ends sessions that a test has left behind, by the id that their
// supervisor wrote down; with the supervisor, its whole tree ends.
func (w world) cleanUp() {
	files, _ := filepath.Glob(filepath.Join(w.state(), "sessions", "*", "pid.json"))
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(filepath.Dir(file), "exit.json")); err == nil {
			continue
		}
		data, err := os.ReadFile(file)
		var p struct {
			PID   int    `json:"pid"`
			Start uint64 `json:"start"`
		}
		if err != nil || json.Unmarshal(data, &p) != nil || p.PID <= 1 || startTime(p.PID) != p.Start {
			continue
		}
		_ = syscall.Kill(p.PID, syscall.SIGKILL)
	}
	if _, err := os.Stat(installed()); err != nil {
		w.giveInstalled()
	}
	// What a session made can have any mode.
	_ = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
}

// startTime is a process's start in ticks since boot; 0 where it is gone.
func startTime(pid int) uint64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return 0
	}
	var ticks uint64
	_, _ = fmt.Sscan(fields[19], &ticks)
	return ticks
}

// process is a nightporter that runs while the test goes on.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *record
	done chan struct{} // closed when it has ended
}

// record gathers output; it is safe for concurrent use.
type record struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// start starts nightporter with a standard input that stays open.
func (w world) start(env []string, args ...string) (*process, error) {
	cmd := w.command(context.Background(), "nightporter", args...)
	cmd.Env = append(cmd.Env, env...)
	p := &process{cmd: cmd, out: &record{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // its exit code is in ProcessState
		close(p.done)
	}()
	return p, nil
}

// write types a line.
func (p *process) write(line string) error {
	_, err := io.WriteString(p.in, line+"\n")
	return err
}

// wait returns the exit code: -9 for a process that SIGKILL ended.
func (p *process) wait() (int, error) {
	select {
	case <-p.done:
	case <-time.After(patience):
		return 0, fmt.Errorf("nightporter %s has not ended:\n%s", strings.Join(p.cmd.Args[1:], " "), p.out)
	}
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return -int(s.Signal()), nil
	}
	return p.cmd.ProcessState.ExitCode(), nil
}

// kill ends it like a power cut, if it has not ended, and waits for that.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
}

// waitFor returns when the condition is true, or an error when it never was.
// There is no event to wait for that all of files, processes and answers of
// commands share, so it looks again and again, at short intervals.
func waitFor(what string, condition func() (bool, error)) error {
	deadline := time.Now().Add(patience)
	for {
		ok, err := condition()
		if err != nil || ok {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s for %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
