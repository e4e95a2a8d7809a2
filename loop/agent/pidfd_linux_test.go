package agent

import (
	"os/exec"
	"testing"
)

// TestKillIf ends a process only if it is the one that is meant, also when another one has
// its number by then.
func TestKillIf(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.Env = []string{"TMPDIR=/state/sessions/r1-1/box/tmp"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	meant := func(variable string) func() bool { return func() bool { return hasVariable(pid, variable) } }
	killIf(pid, meant("TMPDIR=/state/sessions/r1-2/box/tmp"))
	killIf(pid, meant("TMPDIR=/state/sessions/r1-1/box"))
	if !meant("TMPDIR=/state/sessions/r1-1/box/tmp")() {
		t.Fatal("a process that was not meant is ended")
	}
	killIf(pid, meant("TMPDIR=/state/sessions/r1-1/box/tmp"))
	if err := cmd.Wait(); err == nil {
		t.Error("the process was not ended")
	}
	killIf(pid, meant("TMPDIR=/state/sessions/r1-1/box/tmp")) // it is gone
}
