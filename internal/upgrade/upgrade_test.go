//go:build linux

// Package upgrade opens state folders of an earlier release with the programs
// of this one. Its fixtures were written by the released binaries and are never
// written again; testdata/README.md says how each was made.
package upgrade

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/internal/programtest"
)

// fixtureDir is where the earlier release wrote the fixtures. The ledger of an
// interrupted run records its repository's absolute path, and a run only goes
// on in that repository, so the fixture has to lie there again.
const fixtureDir = "/tmp/nightporter-fixture"

// patience limits each wait. No test waits that long on a healthy machine.
const patience = 60 * time.Second

func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }

// TestEndedRun reads a finished run: the ledger verifies, and every command
// prints what the release that wrote it printed.
func TestEndedRun(t *testing.T) {
	t.Parallel()
	programtest.DependOnSources(t)
	dir := t.TempDir()
	unpack(t, "testdata/demo.tar.gz", dir)
	m := machine{dir}
	m.prints(t, "demo")
	m.foldsAnew(t, "demo")
}

// TestInterruptedRun goes on with a run whose daemon was killed after its
// session had said build.complete and before the session's end was recorded.
// The session counts as ended, lost or running by what its folder holds; the
// run is brought to its end from each.
func TestInterruptedRun(t *testing.T) {
	programtest.DependOnSources(t)
	lockFixtureDir(t)
	const session = "r2-5"
	for name, c := range map[string]struct {
		change   func(t *testing.T, folder string) (release func())
		sessions int    // of agents, in the whole run
		end      string // how the ledger says that the session ended
	}{
		"ended":   {nil, 6, `"end":"event"`},
		"running": {keepRunning, 6, `"end":"event"`},
		// The event was accepted, so a lost session is not repeated.
		"lost": {loseExit, 6, `"end":"event"`},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(fixtureDir); err != nil {
				t.Fatal(err)
			}
			unpack(t, "testdata/killed.tar.gz", fixtureDir)
			m := machine{fixtureDir}
			m.prints(t, "killed")
			m.foldsAnew(t, "killed")

			release := func() {}
			if c.change != nil {
				release = c.change(t, filepath.Join(m.state(), "sessions", session))
			}
			run := m.command("run")
			var out bytes.Buffer
			run.Stdout, run.Stderr = &out, &out
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- run.Wait() }()
			defer func() { _ = run.Process.Kill() }()
			if name == "running" {
				m.waitFor(t, `"daemon":true,.*"session":"`+session+`"`)
			}
			release()
			select {
			case err := <-ended:
				if err != nil {
					t.Fatalf("run: %v\n%s", err, out.String())
				}
			case <-time.After(patience):
				t.Fatalf("run has not ended\n%s", out.String())
			}

			var status struct {
				State    string `json:"state"`
				Done     int    `json:"done"`
				Sessions int    `json:"sessions"`
			}
			if err := json.Unmarshal([]byte(m.output(t, "status", "--json")), &status); err != nil {
				t.Fatal(err)
			}
			if status.State != "ended" || status.Done != 2 || status.Sessions != c.sessions {
				t.Errorf("status %+v\n%s", status, out.String())
			}
			evidence := m.output(t, "evidence", "2", "--json")
			if ends := linesWith(evidence, `"type":"session.ended"`, `"session":"`+session+`"`); len(ends) != 1 || !strings.Contains(ends[0], c.end) {
				t.Errorf("%s ended as %q, want once, with %s", session, ends, c.end)
			}
			if n := len(linesWith(evidence, `"type":"task.committed"`)); n != 1 {
				t.Errorf("task 2 has %d commits", n)
			}
			if got := m.output(t, "verify"); !strings.Contains(got, "checked against 2 commits") {
				t.Errorf("verify: %s", got)
			}
		})
	}
}

// keepRunning makes the session's folder that of a session at work: a process
// holds the lock and stands in pid.json, as a supervisor does, and exit.json
// appears when release is called.
func keepRunning(t *testing.T, folder string) (release func()) {
	exit := filepath.Join(folder, "exit.json")
	if err := os.Rename(exit, exit+".kept"); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	supervisor := exec.Command("cat")
	supervisor.ExtraFiles = []*os.File{lock} // a flock goes with the open file
	in, err := supervisor.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = supervisor.Wait() })
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	pid := fmt.Sprintf(`{"pid":%d,"start":%d,"boot":%q}`, supervisor.Process.Pid, startTicks(t, supervisor.Process.Pid), strings.TrimSpace(string(boot)))
	if err := os.WriteFile(filepath.Join(folder, "pid.json"), []byte(pid), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Rename(exit+".kept", exit); err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
	}
}

// loseExit makes the session's folder that of one whose supervisor was killed.
func loseExit(t *testing.T, folder string) (release func()) {
	if err := os.Remove(filepath.Join(folder, "exit.json")); err != nil {
		t.Fatal(err)
	}
	return func() {}
}

// machine is the home, configuration and state of one user, below dir.
type machine struct{ dir string }

func (m machine) state() string { return filepath.Join(m.dir, "state", "nightporter") }

func (m machine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programtest.BinDir(), "nightporter"), args...)
	cmd.Dir = m.dir
	cmd.Env = []string{
		"PATH=" + programtest.BinDir() + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(m.dir, "home"),
		"XDG_CONFIG_HOME=" + filepath.Join(m.dir, "config"),
		"XDG_STATE_HOME=" + filepath.Join(m.dir, "state"),
		"GIT_CONFIG_NOSYSTEM=1", "TZ=UTC", "LANG=C.UTF-8",
	}
	return cmd
}

// output runs a command that has to succeed and returns its standard output.
func (m machine) output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.command(args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("nightporter %s: %v\n%s%s", strings.Join(args, " "), err, out, exit.Stderr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// prints compares the output of commands with that of the earlier release.
func (m machine) prints(t *testing.T, fixture string) {
	t.Helper()
	if got, want := m.output(t, "tasks", "--json"), golden(t, fixture, "tasks"); got != want {
		t.Errorf("tasks --json:\n%swant\n%s", got, want)
	}
	hasFields(t, "status --json", m.output(t, "status", "--json"), golden(t, fixture, "status"))
	verify := m.output(t, "verify", "--json")
	hasFields(t, "verify --json", verify, golden(t, fixture, "verify"))
	var got struct {
		Streams json.RawMessage `json:"streams"`
	}
	if err := json.Unmarshal([]byte(verify), &got); err != nil {
		t.Fatal(err)
	}
	if streams := string(got.Streams); strings.Count(streams, `"folded":true`) != 2 || strings.Contains(streams, "false") {
		t.Errorf("verify --json has streams %s", streams)
	}
}

// foldsAnew folds the ledger from its first entry, without the snapshot that
// the earlier release left, to the same status.
func (m machine) foldsAnew(t *testing.T, fixture string) {
	t.Helper()
	var replay struct {
		Streams []struct {
			Stream string `json:"stream"`
			Same   bool   `json:"same"`
		} `json:"streams"`
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal([]byte(m.output(t, "replay", "--json")), &replay); err != nil {
		t.Fatal(err)
	}
	if len(replay.Streams) != 2 {
		t.Errorf("replay of streams %+v, want the project's and the shared one", replay.Streams)
	}
	for _, s := range replay.Streams {
		if !s.Same {
			t.Errorf("%s folds to another state than its snapshot", s.Stream)
		}
	}
	hasFields(t, "status of the ledger folded anew", string(replay.Status), golden(t, fixture, "status"))
}

// hasFields checks that an output in JSON has the fields of the earlier release's,
// with the same values. Later releases add fields.
func hasFields(t *testing.T, name, output, golden string) {
	t.Helper()
	var got, want map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal([]byte(output), &got), json.Unmarshal([]byte(golden), &want)); err != nil {
		t.Fatal(err)
	}
	for field := range want {
		if string(got[field]) != string(want[field]) {
			t.Errorf("%s has %s %s, want %s", name, field, got[field], want[field])
		}
	}
}

// waitFor waits until status --json contains the parts of pattern, which are
// separated by ".*", in this order.
func (m machine) waitFor(t *testing.T, pattern string) {
	t.Helper()
	status := ""
	if err := programtest.WaitFor("status "+pattern, func() (bool, error) {
		status = m.output(t, "status", "--json")
		rest, found := status, true
		for part := range strings.SplitSeq(pattern, ".*") {
			var ok bool
			_, rest, ok = strings.Cut(rest, part)
			found = found && ok
		}
		return found, nil
	}); err != nil {
		t.Fatalf("%v\n%s", err, status)
	}
}

// golden is what the earlier release printed for a command of a fixture.
func golden(t *testing.T, fixture, command string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", fixture, command+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// lockFixtureDir keeps fixtureDir to this test until it ends, and removes it
// then. Another test run on this machine waits.
func lockFixtureDir(t *testing.T) {
	t.Helper()
	lock, err := os.OpenFile(fixtureDir+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("%s belongs to another user, who has run this test: %v", fixtureDir, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(os.RemoveAll(fixtureDir), lock.Close()); err != nil {
			t.Error(err)
		}
	})
}

// unpack writes the files of an archive below dir, all of them owned by the
// user who runs the test.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(zr); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = unpackFile(r, h, filepath.Join(dir, h.Name))
		}
		if err != nil {
			t.Fatalf("%s: %v", archive, err)
		}
	}
}

func unpackFile(r io.Reader, h *tar.Header, path string) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, h.FileInfo().Mode().Perm()|0o700)
	case tar.TypeSymlink:
		return os.Symlink(h.Linkname, path)
	case tar.TypeReg:
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, h.FileInfo().Mode().Perm()|0o600)
	}
	return fmt.Errorf("%s is neither a file nor a directory", h.Name)
}

// startTicks is when a process started, in ticks since boot.
func startTicks(t *testing.T, pid int) uint64 {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return ticks
}

// linesWith returns the lines that contain all parts.
func linesWith(text string, parts ...string) []string {
	var found []string
	for line := range strings.Lines(text) {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(line, p)
		}
		if all {
			found = append(found, line)
		}
	}
	return found
}
