package demo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
)

// TestMain lets the test program act as the agent, so that every session of a
// test is a process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	leaktest.Main(m.Run)
}

// hatScript replaces hat, which is not under test. It records its arguments,
// and exits with the code in the file "exit" of its folder.
const hatScript = `#!/bin/sh
dir=$(dirname "$0")
for arg in "$@"; do printf '%s\n' "$arg" >>"$dir/args"; done
cat >>"$dir/data"
echo call >>"$dir/calls"
[ ! -f "$dir/exit" ] || exit "$(cat "$dir/exit")"
`

// hatCall is a recorded call of hat.
type hatCall struct {
	Args []string
	Data string
	N    int // number of calls in one session
}

// hatFolder makes a folder with a recording hat.
func hatFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hat"), []byte(hatScript), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// takeCall returns the call that the hat in dir recorded, and deletes the
// record.
func takeCall(t *testing.T, dir string) hatCall {
	t.Helper()
	read := func(name string) string {
		p := filepath.Join(dir, name)
		data, err := os.ReadFile(p)
		if os.IsNotExist(err) {
			return ""
		}
		if err == nil {
			err = os.Remove(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	args, data, calls := read("args"), read("data"), read("calls")
	return hatCall{Args: strings.Split(strings.TrimSuffix(args, "\n"), "\n"), Data: data, N: strings.Count(calls, "\n")}
}

// runAgent runs the agent as a process in dir and returns its exit code and its
// output.
func runAgent(t *testing.T, dir, hats string, prompt string, env ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], Command)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(prompt)
	// Without this setting, a program with the race detector waits a second at
	// exit.
	cmd.Env = append([]string{"PATH=" + hats + ":" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}, env...)
	out, err := cmd.CombinedOutput()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// output runs a program in dir and returns its output without the last line
// end.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// sample makes the sample repository and returns its folder.
func sample(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), Name)
	if err := WriteRepository(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}
