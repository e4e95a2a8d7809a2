package corpus

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/programtest"
)

// toolPath is the PATH of everything that a task runs: the system's folders and
// those of go and node. A person's other toolchains are left out: a python3 of
// pyenv has no pytest, and sessions cannot read all of them.
var toolPath = sync.OnceValue(func() string {
	dirs := []string{"/usr/local/bin", "/usr/bin", "/bin"}
	for _, name := range []string{"go", "node"} {
		if file, err := exec.LookPath(name); err == nil {
			dirs = append(dirs, filepath.Dir(file))
		}
	}
	return strings.Join(dirs, ":")
})

// needs are the commands that show that a language's toolchain is there.
var needs = map[string][]string{
	"go":     {"go version"},
	"node":   {"node --version", "npm --version"},
	"python": {"python3 -m pytest --version"},
	"rust":   {"cargo --version", "rustc --version"},
}

// missing says what a language lacks on this machine, "" for nothing.
var missing = func() func(language string) string {
	found := map[string]func() string{}
	for language, commands := range needs {
		found[language] = sync.OnceValue(func() string {
			for _, command := range commands {
				if out, err := shell("", nil, command); err != nil {
					return fmt.Sprintf("%q: %v\n%s", command, err, out)
				}
			}
			return ""
		})
	}
	return func(language string) string { return found[language]() }
}()

// requireToolchain skips a test whose language is not there.
func requireToolchain(t *testing.T, language string) {
	t.Helper()
	if why := missing(language); why != "" {
		t.Skip("no " + language + " on this machine: " + why)
	}
}

// shell runs a script with sh -e in dir, with little more of this process's
// environment than the toolchains.
func shell(dir string, env []string, script string) (string, error) {
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + toolPath(), "HOME=" + ownHome(), "GOCACHE=" + filepath.Join(ownHome(), "go-build"), "GOFLAGS=-modcacherw",
		"TMPDIR=" + os.TempDir(), "LANG=C.UTF-8", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1", "PYTHONDONTWRITEBYTECODE=1",
	}, env...)
	cmd.WaitDelay = time.Second // a process that it left behind holds the pipe
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// ownHome is a home that all judges share, with caches that no task writes.
var ownHome = sync.OnceValue(func() string {
	dir := filepath.Join(programtest.WorkDir(), "home")
	_ = os.MkdirAll(dir, 0o755) // what needs it says so
	return dir
})

// writeFiles writes files below dir.
func writeFiles(dir string, files map[string][]byte) error {
	for name, data := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// judge tells whether the work in dir is good, and if not, what was printed. It
// lays the judge's files there.
func judge(task Task, dir, start string) (good bool, out string, err error) {
	if err := writeFiles(dir, task.Below("judge")); err != nil {
		return false, "", err
	}
	script, ok := task.Script("judge")
	if !ok {
		script = strings.Join(append(task.Setup[:len(task.Setup):len(task.Setup)], task.Verify...), "\n")
	}
	out, failure := shell(dir, []string{"START=" + start}, script)
	return failure == nil, out, nil
}
