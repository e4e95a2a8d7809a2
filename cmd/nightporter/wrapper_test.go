package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/programtest"
)

// TestWrapper: if hat is not installed beside nightporter, the wrappers of
// denied programs lead to nightporter itself through a link named hat.
func TestWrapper(t *testing.T) {
	dir := t.TempDir()
	hat := filepath.Join(dir, "hat")
	if err := errors.Join(os.Symlink(filepath.Join(programtest.BinDir(), "nightporter"), hat), os.Symlink(hat, filepath.Join(dir, "expr")),
		os.WriteFile(filepath.Join(dir, guard.RulesFile), []byte(`{"hat": "builder", "denied": ["expr 6"]}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"expr 5 + 1":  {0, "6\n"},
		"expr 6 + 1":  {guard.ExitRefused, "nightporter: `expr 6 + 1` is denied to the builder"},
		"hat version": {0, "api 1"},
	} {
		cmd := exec.Command("/bin/sh", "-c", line)
		cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
		out, _ := cmd.CombinedOutput() // its code is looked at
		if got := cmd.ProcessState.ExitCode(); got != want.code || !strings.Contains(string(out), want.out) {
			t.Errorf("%s: exit %d, %q", line, got, out)
		}
	}
}
