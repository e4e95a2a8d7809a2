package programtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Guided is what the person says while the first task's builder is at work.
const Guided = "Keep the old function names"

// TwoTasks is a run of two tasks through the pattern "single", so that each
// task is one session and its verification. The first builder is held until
// the person's guidance is in the ledger: it is for the second.
type TwoTasks struct {
	T *testing.T
	Machine
}

// NewTwoTasks returns such a run that was never begun, on a machine of its own.
func NewTwoTasks(t *testing.T) TwoTasks {
	t.Helper()
	DependOnSources(t)
	dir, err := os.MkdirTemp(workDir, "two") //nolint:usetesting // sessions run as another user, and have to get there
	if err != nil {
		t.Fatal(err)
	}
	n := TwoTasks{t, Machine{Dir: dir}}
	t.Cleanup(n.CleanUp)
	for name, text := range map[string]string{
		"repo/plan.md":   "# Plan\n\n- [ ] **Task 1: First**\n  - Scope: `src`\n- [ ] **Task 2: Second**\n  - Scope: `src`\n  - Depends on: Task 1\n",
		"repo/verify.sh": "! grep -rq BROKEN src\n",
		"repo/src/a.txt": "a\n",
	} {
		if err := os.MkdirAll(filepath.Dir(n.Path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(n.Path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Furnish(); err != nil {
		t.Fatal(err)
	}
	if err := n.Repo("repo"); err != nil {
		t.Fatal(err)
	}
	if err := n.takeInstalled(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Out returns the output of a command, which has to succeed.
func (n TwoTasks) Out(name string, args ...string) string {
	n.T.Helper()
	out, code, err := n.Output(name, args...)
	if err != nil {
		n.T.Fatal(err)
	}
	if code != 0 {
		n.T.Fatalf("%s %s: exit %d\n%s", name, strings.Join(args, " "), code, out)
	}
	return out
}

// Start starts the run, which dies at the point crash (internal/crash), "" = at
// none.
func (n TwoTasks) Start(crash string) *Process {
	n.T.Helper()
	var env []string
	if crash != "" {
		env = []string{"NIGHTPORTER_CRASH=" + crash}
	}
	p, err := n.Machine.Start(env, "run", "--agent", "held", "--pattern", "single")
	if err != nil {
		n.T.Fatal(err)
	}
	n.T.Cleanup(p.Kill)
	return p
}

// Through starts the run again and again, as a person would, until it has
// ended, and returns how many of crashes it came to: each start dies at the
// next of them. Each round, the person looks whether the guidance is there, and
// says it where it is not.
func (n TwoTasks) Through(crashes ...string) (crashed int) {
	n.T.Helper()
	for round := 0; ; round++ {
		if round > len(crashes)+5 {
			n.T.Fatal("it never ends")
		}
		crash := ""
		if crashed < len(crashes) {
			crash = crashes[crashed]
		}
		p := n.Start(crash)
		if err := n.Say(p); err != nil {
			n.T.Fatal(err)
		}
		code, err := p.Wait()
		if err != nil {
			n.T.Fatal(err)
		}
		switch code {
		case -9:
			if crash == "" {
				n.T.Fatalf("killed by somebody else\n%s", p.Out)
			}
			crashed++
		case 0:
			return crashed
		default:
			n.T.Fatalf("exit %d\n%s", code, p.Out)
		}
	}
}

var queued = regexp.MustCompile(`g\d+ queued`)

// Say types the guidance once the first builder is at work, unless it is in
// the ledger already, and then lets the builder go on.
func (n TwoTasks) Say(p *Process) error {
	if _, err := os.Stat(n.Path("notes", "go")); err == nil {
		return nil // said, and the builder knows
	}
	typed := false
	err := WaitFor("the guidance to be queued", func() (bool, error) {
		select {
		case <-p.Done:
			return true, nil
		default:
		}
		if queued.MatchString(p.Out.String()) {
			return true, nil
		}
		if _, err := os.Stat(n.Path("notes", "at-go")); err != nil || typed {
			return false, nil //nolint:nilerr // it is not there yet
		}
		if n.items() > 0 {
			return true, nil
		}
		typed = true
		_ = p.Type("/guidance " + Guided) // it may be dead by now
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, p.Out)
	}
	select {
	case <-p.Done:
		return nil
	default:
	}
	return os.WriteFile(n.Path("notes", "go"), nil, 0o644)
}

// items is how many directives are in the ledger.
func (n TwoTasks) items() int {
	out, code, err := n.Output("nightporter", "queue")
	if err != nil || code != 0 {
		return 0 // it died while it was asked: the next look will tell
	}
	return strings.Count(out, Guided)
}
