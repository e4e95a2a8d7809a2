package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// supervisor returns the process that watches over a session.
func (n twoTasks) supervisor(session string) int {
	n.t.Helper()
	data, err := os.ReadFile(filepath.Join(n.state(), "sessions", session, "pid.json"))
	if err != nil {
		n.t.Fatal(err)
	}
	var p struct {
		PID   int    `json:"pid"`
		Start uint64 `json:"start"`
	}
	if err := json.Unmarshal(data, &p); err != nil || startTime(p.PID) != p.Start {
		n.t.Fatalf("%s: %v, %+v does not run", session, err, p)
	}
	return p.PID
}

// TestLostSession: a session whose supervisor is gone without a word, alone or
// together with the daemon as in a power cut, counts as nothing and is done
// over, with the guidance that it had.
func TestLostSession(t *testing.T) {
	t.Parallel()
	for name, daemonToo := range map[string]bool{"alone": false, "with the daemon": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newTwoTasks(t)
			n.out("nightporter", "run", "--check")
			n.out("nightporter", "guidance", guided)
			p := n.start("")
			held := func() (bool, error) { _, err := os.Stat(n.path("notes", "at-go")); return err == nil, nil }
			if err := waitFor("the first session", held); err != nil {
				t.Fatalf("%v\n%s", err, p.out)
			}
			if err := os.Remove(n.path("notes", "at-go")); err != nil {
				t.Fatal(err)
			}
			pid := n.supervisor("r2-1")
			if daemonToo {
				p.kill()
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if daemonToo {
				p = n.start("")
			}
			if err := waitFor("the session that replaces it", held); err != nil {
				t.Fatalf("%v\n%s", err, p.out)
			}
			if err := os.WriteFile(n.path("notes", "go"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if code, err := p.wait(); err != nil || code != 0 {
				t.Fatalf("exit %d, %v\n%s", code, err, p.out)
			}
			for _, session := range []string{"r2-1", "r2-2"} {
				prompt, err := os.ReadFile(n.path("notes", "prompt-"+session))
				if err != nil || strings.Count(string(prompt), guided) != 1 {
					t.Errorf("%s: %v\n%s", session, err, prompt)
				}
			}
			if out := n.out("nightporter", "evidence", "1", "--json"); strings.Count(out, `"end":"lost"`) != 1 ||
				strings.Count(out, `"type":"task.committed"`) != 1 || !strings.Contains(out, `"session":"r2-2","actor":"agent","body":{"id":"g1","state":"addressed"`) {
				t.Errorf("evidence:\n%s", out)
			}
			if out := n.out("nightporter", "tasks", "--json"); !strings.Contains(out, `"id":"Task 1","title":"First","status":"done","attempts":1`) {
				t.Errorf("tasks: %s", out)
			}
			n.out("nightporter", "verify")
		})
	}
}
