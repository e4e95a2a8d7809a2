package crash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// supervisor returns the process that supervises a session.
func (n run) supervisor(session string) int {
	n.T.Helper()
	data, err := os.ReadFile(filepath.Join(n.State(), "sessions", session, "pid.json"))
	if err != nil {
		n.T.Fatal(err)
	}
	var p struct {
		PID   int    `json:"pid"`
		Start uint64 `json:"start"`
	}
	if err := json.Unmarshal(data, &p); err != nil || programtest.StartTime(p.PID) != p.Start {
		n.T.Fatalf("%s: %v, %+v does not run", session, err, p)
	}
	return p.PID
}

// TestLostSession: a session whose supervisor was killed, alone or together
// with the daemon as in a power failure, does not count and is repeated with
// its guidance.
func TestLostSession(t *testing.T) {
	t.Parallel()
	for name, daemonToo := range map[string]bool{"alone": false, "with the daemon": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newRun(t)
			n.Out("nightporter", "run", "--check")
			n.Out("nightporter", "guidance", programtest.Guided)
			p := n.Start("")
			held := func() (bool, error) { _, err := os.Stat(n.Path("notes", "at-go")); return err == nil, nil }
			if err := programtest.WaitFor("the first session", held); err != nil {
				t.Fatalf("%v\n%s", err, p.Out)
			}
			if err := os.Remove(n.Path("notes", "at-go")); err != nil {
				t.Fatal(err)
			}
			pid := n.supervisor("r1-1")
			if daemonToo {
				p.Kill()
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if daemonToo {
				p = n.Start("")
			}
			if err := programtest.WaitFor("the session that replaces it", held); err != nil {
				t.Fatalf("%v\n%s", err, p.Out)
			}
			if err := os.WriteFile(n.Path("notes", "go"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if code, err := p.Wait(); err != nil || code != 0 {
				t.Fatalf("exit %d, %v\n%s", code, err, p.Out)
			}
			for _, session := range []string{"r1-1", "r1-2"} {
				prompt, err := os.ReadFile(n.Path("notes", "prompt-"+session))
				if err != nil || strings.Count(string(prompt), programtest.Guided) != 1 {
					t.Errorf("%s: %v\n%s", session, err, prompt)
				}
			}
			if out := n.Out("nightporter", "evidence", "1", "--json"); strings.Count(out, `"end":"lost"`) != 1 ||
				strings.Count(out, `"type":"task.committed"`) != 1 || !strings.Contains(out, `"session":"r1-2","actor":"agent","body":{"id":"g1","state":"addressed"`) {
				t.Errorf("evidence:\n%s", out)
			}
			if out := n.Out("nightporter", "tasks", "--json"); !strings.Contains(out, `"id":"Task 1","title":"First","status":"done","attempts":1`) {
				t.Errorf("tasks: %s", out)
			}
			n.Out("nightporter", "verify")
		})
	}
}
