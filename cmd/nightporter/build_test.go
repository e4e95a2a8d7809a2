package main_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBuildWithoutCompiler: where there is no C compiler, make and go run say in
// their first line what to install.
func TestBuildWithoutCompiler(t *testing.T) {
	for _, c := range []struct {
		command []string
		env     string
		want    string
	}{
		{[]string{"make", "--no-print-directory", "build"}, "CC=/nowhere/cc", "there is no C compiler (/nowhere/cc), and SQLite needs one: apt install gcc"},
		{[]string{"go", "build", "./store"}, "CGO_ENABLED=0", "nightporter_needs_a_C_compiler_for_SQLite__apt_install_gcc"},
	} {
		if _, err := exec.LookPath(c.command[0]); err != nil {
			t.Skipf("%s is not installed", c.command[0])
		}
		cmd := exec.CommandContext(t.Context(), c.command[0], c.command[1:]...)
		cmd.Dir, cmd.Env = "../..", append(os.Environ(), c.env)
		out, err := cmd.CombinedOutput()
		said := strings.TrimPrefix(string(out), "# github.com/nightporter/nightporter/store\n")
		first, _, _ := strings.Cut(said, "\n")
		if err == nil || !strings.Contains(first, c.want) {
			t.Errorf("%s with %s: %v\n%s", strings.Join(c.command, " "), c.env, err, out)
		}
	}
}
