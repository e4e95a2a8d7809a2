package programtest

import (
	"bytes"
	"context"
	"embed"
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

// Patience is how long a condition may take to come true, and a run to end. It
// is long because it costs nothing where all is well, and on a busy machine the
// baseline of one task, which compiles Go's library, has taken eight minutes. go
// test's own limit is longer.
const Patience = 20 * time.Minute

// agents are the scripted agents, by file name. lib.sh is what they share.
//
//go:embed agents/*.sh
var agents embed.FS

// Machine is one person's machine: a home, a config, a state folder, and a
// folder notes in which agents may write beside their work folder, so that a
// test can see what happened inside sessions and hold them.
type Machine struct{ Dir string }

// Path returns a path below the machine's folder.
func (m Machine) Path(elem ...string) string {
	return filepath.Join(append([]string{m.Dir}, elem...)...)
}

// State returns the state folder.
func (m Machine) State() string { return m.Path("state", "nightporter") }

// Furnish makes what every test has: the agents, and a config that knows all
// of them and the repository "repo". A config that is there already is left
// alone; DIR in it stands for the machine's folder.
func (m Machine) Furnish() error {
	for _, dir := range []string{"home", "state", "config/nightporter", "agents"} {
		if err := os.MkdirAll(m.Path(dir), 0o755); err != nil {
			return err
		}
	}
	files, err := agents.ReadDir("agents")
	if err != nil {
		return err
	}
	var table strings.Builder
	for _, file := range files {
		base := file.Name()
		data, err := agents.ReadFile("agents/" + base)
		if err != nil {
			return err
		}
		if err := os.WriteFile(m.Path("agents", base), data, 0o755); err != nil {
			return err
		}
		if name := strings.TrimSuffix(base, ".sh"); name != "lib" {
			fmt.Fprintf(&table, "[agents.%s]\ncommand = [%q, %q]\n", name, m.Path("agents", base), m.Path("notes"))
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
shared = ["DIR/notes"]
`
	file := m.Path("config", "nightporter", "nightporter.toml")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte(standard), nil
	}
	if err != nil {
		return err
	}
	text := strings.NewReplacer("AGENTS\n", table.String(), "DIR", m.Dir).Replace(string(data))
	return os.WriteFile(file, []byte(text), 0o644)
}

// Env is the environment of every program of the machine: nothing of the
// person's who runs the tests but where programs are, and how often Go programs
// collect garbage (Makefile).
func (m Machine) Env(extra ...string) []string {
	env := []string{
		"PATH=" + m.Path("path") + string(os.PathListSeparator) + binDir + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + m.Path("home"),
		"XDG_CONFIG_HOME=" + m.Path("config"),
		"XDG_STATE_HOME=" + m.Path("state"),
		"TMPDIR=" + os.TempDir(),
		"GIT_CONFIG_NOSYSTEM=1",
		"TZ=UTC", "LANG=C.UTF-8",
		"DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null", // runs of tests keep no machine awake
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return append(env, extra...)
}

// Command makes a command of the machine, run in its folder.
func (m Machine) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if path := filepath.Join(binDir, name); name == "nightporter" || name == "hat" {
		name = path
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = m.Dir, m.Env()
	cmd.SysProcAttr = endWithTest()
	return cmd
}

// Output runs a command and returns its standard output and exit code.
func (m Machine) Output(name string, args ...string) (string, int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := m.Command(ctx, name, args...)
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

// Repo makes a repository of the files in dir, or an empty folder's.
func (m Machine) Repo(dir string) error {
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"config", "user.name", "Mira"},
		{"config", "user.email", "mira@example.com"},
		{"add", "--all"},
		{"commit", "--quiet", "--message=First", "--date=2026-11-19T21:00:00+01:00"},
	} {
		cmd := m.Command(context.Background(), "git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(cmd.Env, "GIT_COMMITTER_DATE=2026-11-19T21:00:00+01:00")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// installed returns the folder of the programs that a machine's daemon installed
// in its state folder. Machines share them by links: without that, each test
// would copy and sync the programs once more.
func installed() string { return filepath.Join(workDir, "installed") }

// takeInstalled gives a new machine the programs that another one installed. The
// machine has a state folder then, as one that had a run.
func (m Machine) takeInstalled() error {
	if _, err := os.Stat(installed()); err != nil {
		return nil //nolint:nilerr // none was yet
	}
	if err := os.MkdirAll(m.State(), 0o700); err != nil {
		return err
	}
	return linkTree(installed(), filepath.Join(m.State(), "bin"))
}

// giveInstalled keeps the programs that this machine installed, for others.
func (m Machine) giveInstalled() {
	tmp, err := os.MkdirTemp(workDir, "installing") //nolint:usetesting // it outlives the test
	if err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(tmp) }() // gone already where it was renamed
	if linkTree(filepath.Join(m.State(), "bin"), filepath.Join(tmp, "bin")) == nil {
		_ = os.Rename(filepath.Join(tmp, "bin"), installed()) // another machine may have been faster
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

// Supervisors returns the processes that supervise sessions which have not ended. With
// a supervisor, its whole tree ends.
func (m Machine) Supervisors() (running []int) {
	files, _ := filepath.Glob(filepath.Join(m.State(), "sessions", "*", "pid.json"))
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(filepath.Dir(file), "exit.json")); err == nil {
			continue
		}
		data, err := os.ReadFile(file)
		var p struct {
			PID   int    `json:"pid"`
			Start uint64 `json:"start"`
		}
		if err != nil || json.Unmarshal(data, &p) != nil || p.PID <= 1 || StartTime(p.PID) != p.Start {
			continue
		}
		running = append(running, p.PID)
	}
	return running
}

// CleanUp ends sessions that a test has left behind, by the id that their
// supervisor wrote down.
func (m Machine) CleanUp() {
	for _, pid := range m.Supervisors() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if _, err := os.Stat(installed()); err != nil {
		m.giveInstalled()
	}
	// What a session made can have any mode.
	_ = filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
}

// StartTime is a process's start in ticks since boot; 0 where it is gone.
func StartTime(pid int) uint64 {
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

// Process is a nightporter that runs while the test goes on.
type Process struct {
	Cmd  *exec.Cmd
	In   io.WriteCloser
	Out  *Buffer
	Done chan struct{} // closed when it has ended
}

// Buffer gathers output; it is safe for concurrent use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written until now.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start starts nightporter with a standard input that stays open.
func (m Machine) Start(env []string, args ...string) (*Process, error) {
	cmd := m.Command(context.Background(), "nightporter", args...)
	cmd.Env = append(cmd.Env, env...)
	p := &Process{Cmd: cmd, Out: &Buffer{}, Done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.Out, p.Out
	var err error
	if p.In, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // its exit code is in ProcessState
		close(p.Done)
	}()
	return p, nil
}

// Type types a line.
func (p *Process) Type(line string) error {
	_, err := io.WriteString(p.In, line+"\n")
	return err
}

// Wait returns the exit code: -9 for a process that SIGKILL ended.
func (p *Process) Wait() (int, error) {
	select {
	case <-p.Done:
	case <-time.After(Patience):
		return 0, fmt.Errorf("nightporter %s has not ended:\n%s", strings.Join(p.Cmd.Args[1:], " "), p.Out)
	}
	if s, ok := p.Cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return -int(s.Signal()), nil
	}
	return p.Cmd.ProcessState.ExitCode(), nil
}

// Kill ends it like a power cut, if it has not ended, and waits for that.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill() // it may have ended by itself
	<-p.Done
}

// WaitFor returns when the condition is true, or an error when it never was.
// There is no event to wait for that all of files, processes and answers of
// commands share, so it looks again and again, at short intervals. A look that runs
// a command may take a third of the time: it keeps what it waits for from running.
func WaitFor(what string, condition func() (bool, error)) error {
	deadline := time.Now().Add(Patience)
	for {
		began := time.Now()
		ok, err := condition()
		if err != nil || ok {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s for %s", Patience, what)
		}
		time.Sleep(min(max(10*time.Millisecond, 2*time.Since(began)), time.Second))
	}
}
