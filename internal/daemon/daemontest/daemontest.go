package daemontest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/multicall"
	"github.com/nightporter/nightporter/internal/socket"
)

var dispatched bool

// Dispatch must be called first in TestMain. The daemon starts supervisors of
// sessions from its own executable, which is the test binary here: in such a
// process, Dispatch runs the supervisor and exits.
func Dispatch() {
	if code, is := multicall.Run(); is {
		exit(code)
	}
	// Runs of tests keep no machine awake.
	_ = os.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/dev/null")
	dispatched = true
}

// Patience limits the wait for an event that normally comes at once.
const Patience = 20 * time.Second

// ShortDir returns a temporary folder whose path is short enough for a socket's
// address.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "np") //nolint:usetesting // t.TempDir has the test's name in it, and sockets' paths are limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Config returns a configuration of one repository with the given start
// setting. Its agent does not exist: a run ends at its preflight, and no
// session ever starts.
func Config(t testing.TB, start string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("repo/plan.md", "- [ ] **Task 1: One**\n")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=Mira", "-c", "user.email=mira@example.com", "commit", "-q", "-m", "First"},
	} {
		cmd := exec.Command("git", append([]string{"-C", filepath.Join(dir, "repo")}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	cfg, err := config.Load(write("nightporter.toml", fmt.Sprintf(`timezone = "Europe/Berlin"
[agents.gone]
command = ["/nowhere/agent"]
[[project]]
name = "shop"
repo = %q
source = "plan:plan.md"
agent = "gone"
start = %q
`, filepath.Join(dir, "repo"), start)))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Open starts a paused daemon with Options.Stays and returns it with a client
// of its operator's socket. It stops at the end of the test.
func Open(t testing.TB, cfg *config.Config) (*daemon.Daemon, *socket.OperatorClient) {
	t.Helper()
	d := start(t, daemon.Options{Config: cfg})
	c, err := socket.Operator(d.Projects.State())
	if err != nil {
		t.Fatal(err)
	}
	return d, c
}

func start(t testing.TB, o daemon.Options) *daemon.Daemon {
	t.Helper()
	if !dispatched { // without Dispatch, each supervisor would run all tests again
		t.Fatal("TestMain has to call daemontest.Dispatch first")
	}
	o.State, o.Stays, o.Paused = filepath.Join(ShortDir(t), "s"), true, true
	o.Reload = func() (*config.Config, error) { return config.Load(o.Config.File) }
	d := daemon.New(o)
	if err := d.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}
