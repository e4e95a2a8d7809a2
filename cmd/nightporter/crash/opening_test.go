package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/programtest"
)

// TestEndedWhileOpening: SIGTERM ends a daemon that is still resuming
// unfinished work with a hanging git, and no work is lost.
func TestEndedWhileOpening(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	n := programtest.NewTwoTasks(t)
	p := n.Start("")
	held := func() (bool, error) { _, err := os.Stat(n.Path("notes", "at-go")); return err == nil, nil }
	if err := programtest.WaitFor("the first session", held); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
	p.Kill()
	wrap := n.Path("wrap")
	script := "#!/bin/sh\n[ ! -e " + n.Path("hang") + " ] || { : >" + n.Path("hangs") + "; exec sleep 600; }\nexec " + git + ` "$@"` + "\n"
	for name, text := range map[string]string{"wrap/git": script, "hang": ""} {
		if err := os.MkdirAll(filepath.Dir(n.Path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(n.Path(name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + wrap + string(os.PathListSeparator) + os.Getenv("PATH")}
	if p, err = n.Machine.Start(env, "up"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if err := programtest.WaitFor("git to hang", func() (bool, error) { _, err := os.Stat(n.Path("hangs")); return err == nil, nil }); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
	began := time.Now()
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code, err := p.Wait()
	if took := time.Since(began); err != nil || code != 0 || took > 10*time.Second {
		t.Fatalf("exit %d after %s, %v\n%s", code, took, err, p.Out)
	}
	if err := os.Remove(n.Path("hang")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.Path("notes", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = n.Machine.Start(nil, "run"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if code, err := p.Wait(); err != nil || code != 0 {
		t.Errorf("exit %d, %v\n%s", code, err, p.Out)
	}
}
