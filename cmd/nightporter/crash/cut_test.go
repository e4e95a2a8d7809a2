package crash

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// TestStopInPreparation stops the real program while its first agent session is
// being prepared, by a line and by a signal, at each step on the way to its
// process. The run ends at once, and no agent has started.
func TestStopInPreparation(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before-effect:session.start:3", "before-start:2", "before-spawn:2"} {
		for how, exit := range map[string]int{"/stop now": 2, "SIGTERM": 143} {
			t.Run(point+" "+how, func(t *testing.T) {
				t.Parallel()
				n := newRun(t)
				hold := n.Path("hold")
				p, err := n.Machine.Start([]string{"NIGHTPORTER_HOLD=" + point + "=" + hold}, "run", "--agent", "held", "--pattern", "single")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(p.Kill)
				await := func(what string, ok func() bool) {
					t.Helper()
					if err := programtest.WaitFor(what, func() (bool, error) { return ok(), nil }); err != nil {
						t.Fatalf("%v\n%s", err, p.Out)
					}
				}
				await("the session to be prepared", func() bool { _, err := os.Stat(hold); return err == nil })
				if out := n.Out("nightporter", "status", "--json"); !strings.Contains(out, `r1-1`) {
					t.Fatalf("no agent session is being prepared: %s", out)
				}
				if how == "SIGTERM" {
					err = syscall.Kill(p.Cmd.Process.Pid, syscall.SIGTERM)
				} else {
					err = p.Type(how)
				}
				if err != nil {
					t.Fatal(err)
				}
				await("the cut to be in the ledger", func() bool {
					out, _, _ := n.Output("nightporter", "status", "--json")
					return strings.Contains(out, `"cut":true`) || strings.Contains(out, `"state":"stopping"`)
				})
				pipe, err := os.OpenFile(hold, os.O_WRONLY, 0) // lets it go on
				if err != nil {
					t.Fatal(err)
				}
				_ = pipe.Close()
				code, err := p.Wait()
				if err != nil || code != exit {
					t.Errorf("exit %d, want %d; %v\n%s", code, exit, err, p.Out)
				}
				for _, file := range []string{"at-go", "prompt-r1-1"} {
					if _, err := os.Stat(n.Path("notes", file)); err == nil {
						t.Errorf("the agent started\n%s", p.Out)
					}
				}
			})
		}
	}
}

// TestStopWithoutDaemon kills the real program while its session works, and stops
// the run with nothing there to carry that out: the session ends all the same.
func TestStopWithoutDaemon(t *testing.T) {
	t.Parallel()
	n := newRun(t)
	p := n.Start("")
	if err := programtest.WaitFor("the session", func() (bool, error) {
		_, err := os.Stat(n.Path("notes", "at-go"))
		return err == nil, nil
	}); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
	pid := n.supervisor("r1-1")
	p.Kill()
	began := programtest.StartTime(pid)
	n.Out("nightporter", "stop", "--now")
	if err := programtest.WaitFor("the end of the session", func() (bool, error) { return programtest.StartTime(pid) != began, nil }); err != nil {
		t.Fatal(err)
	}
}
