package crash

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// TestRenamed: a project renamed during its run is one project with two names.
// The run ends under the old name before the new one starts a run. A daemon
// that knows only the new name ends the old run's sessions, whose results
// nobody would receive.
func TestRenamed(t *testing.T) {
	t.Parallel()
	n := programtest.NewTwoTasks(t)
	file := n.Path("config", "nightporter", "nightporter.toml")
	named := func(name string) {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(data), "\nrepo = ")
		agents, _, _ := strings.Cut(string(data), "[[project]]")
		rest = strings.Replace(rest, `agent = "honest"`, "agent = \"held\"\nstart = \"auto\"", 1)
		if err := os.WriteFile(file, []byte(agents+"[[project]]\nname = \""+name+"\"\nrepo = "+rest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	named("shop")
	p, err := n.Machine.Start(nil, "up")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	held := func() (bool, error) { _, err := os.Stat(n.Path("notes", "at-go")); return err == nil, nil }
	if err := programtest.WaitFor("the first session", held); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
	named("market")
	if err := p.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	refused := "r1 is still at work on plan:plan.md, as shop"
	if err := programtest.WaitFor("the new name to wait", func() (bool, error) { return strings.Contains(p.Out.String(), refused), nil }); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
	if out := n.Out("nightporter", "status", "--project", "market"); !strings.Contains(out, refused) {
		t.Errorf("status of the new name:\n%s", out)
	}

	p.Kill()
	if p, err = n.Machine.Start(nil, "up"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	exit := filepath.Join(n.State(), "sessions", "r1-1", "exit.json")
	if err := programtest.WaitFor("the old session's end", func() (bool, error) { _, err := os.Stat(exit); return err == nil, nil }); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
	if err := os.WriteFile(n.Path("notes", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := programtest.WaitFor("the new name's run", func() (bool, error) {
		out, _, err := n.Output("nightporter", "status", "--json", "--project", "market")
		return strings.Contains(out, `"done":2,"total":2`), err
	}); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
}
