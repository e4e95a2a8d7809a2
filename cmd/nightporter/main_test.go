package main_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/leaktest"
)

// Folders of the whole test run, set by TestMain before any test.
var (
	binDir string // nightporter and hat, as they are released
	root   string // work folders; its path is short, because sockets' paths are limited
)

// TestMain builds the two programs once. They are built, and not linked into
// the test binary under other names, because nightporter starts itself again
// from STATE/bin and looks for hat beside itself: what is tested are the files
// that a user has.
func TestMain(m *testing.M) {
	daemontest.Dispatch()
	flag.Parse()
	leaktest.Main(func() int { return inPrograms(m) })
}

func inPrograms(m *testing.M) int {
	var err error
	if root, err = os.MkdirTemp("", "np"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(root) }()
	if root, err = filepath.EvalSymlinks(root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Sessions of a daemon that is root run as another user.
	if err := os.Chmod(root, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binDir = filepath.Join(root, "bin")
	for name, static := range map[string]bool{"nightporter": false, "hat": true} {
		// Stripped: every start of a daemon hashes them, and the first one in a
		// state folder copies them.
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(binDir, name), "github.com/nightporter/nightporter/cmd/"+name)
		cmd.Env = os.Environ()
		if static {
			cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", name, err, out.String())
			return 1
		}
	}
	// A run waits for its disk and its children far more than it computes.
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == f.DefValue {
		_ = flag.Set("test.parallel", "4")
	}
	return m.Run()
}
