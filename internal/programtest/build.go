package programtest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Folders of the whole test run, set by Run before any test.
var (
	binDir  string
	workDir string
)

// BinDir returns the folder of nightporter and hat.
func BinDir() string { return binDir }

// WorkDir returns a folder for the folders of tests. Its path is short, because
// sockets' paths are limited, and sessions of another user can get there.
func WorkDir() string { return workDir }

// Run builds the programs, runs the tests and returns their exit code. The
// programs are built, and not linked into the test binary under other names,
// because nightporter starts itself again from STATE/bin and looks for hat
// beside itself.
func Run(m *testing.M) int {
	flag.Parse()
	dir, err := prepare()
	defer func() { _ = os.RemoveAll(dir) }()
	if err != nil {
		fmt.Fprintln(os.Stderr, "programtest:", err)
		return 1
	}
	// A run waits for its disk and its children far more than it computes.
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == f.DefValue {
		_ = flag.Set("test.parallel", "4")
	}
	return m.Run()
}

// prepare makes the two folders and returns the one to remove in the end.
func prepare() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "np"); err != nil {
		return "", err
	}
	if workDir, err = filepath.EvalSymlinks(dir); err != nil {
		return dir, err
	}
	// Sessions of a daemon that is root run as another user.
	if err := os.Chmod(workDir, 0o755); err != nil {
		return dir, err
	}
	binDir = filepath.Join(workDir, "bin")
	if err := os.Mkdir(binDir, 0o755); err != nil {
		return dir, err
	}
	root, err := moduleRoot()
	if err != nil {
		return dir, err
	}
	return dir, build(filepath.Join(root, ".cache", "programs"), binDir)
}

// build links the programs in the folder shared, unless they are up to date
// there, and copies them to the folder to. The lock makes one of several
// packages link them: go build finds the work done for the others.
func build(shared, to string) error {
	if err := os.MkdirAll(shared, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(shared, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // frees it
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	for name, env := range map[string][]string{"nightporter": nil, "hat": {"CGO_ENABLED=0"}, "nightporter-shim": {"CGO_ENABLED=0"}} {
		// Stripped: every start of a daemon hashes them, and the first one in a
		// state folder copies them. Without the commit, which would make them
		// anew for each.
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-buildvcs=false", "-o", filepath.Join(shared, name), "github.com/nightporter/nightporter/cmd/"+name)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
		if err := linkOrCopy(filepath.Join(shared, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// linkOrCopy makes the file to of the file from. A link is enough: go build
// replaces a program and never writes into it.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from) // on another file system
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// moduleRoot returns the folder of go.mod, at or above the test's own.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the test's folder")
		}
		dir = up
	}
}

// statSources makes a cached result depend on the sources of the programs: go
// test records the files that a test looks at, but not those that go build
// reads, nor those that TestMain looks at.
var statSources = sync.OnceValue(func() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "testdata" || name == "docs" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !d.IsDir() && !strings.HasSuffix(name, "_test.go"):
			_, err = os.Stat(path)
		}
		return err
	})
})

// DependOnSources makes the result of a test that runs the programs depend on
// their sources, as go test caches it. Machines of NewTwoTasks and Scripts do
// so by themselves.
func DependOnSources(t testing.TB) {
	t.Helper()
	if err := statSources(); err != nil {
		t.Fatal(err)
	}
}
