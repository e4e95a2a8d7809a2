package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestEndedWhileOpening: SIGTERM ends a daemon that is only just taking up what
// was unfinished, with a git that hangs, and nothing is lost by it.
func TestEndedWhileOpening(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	n := newTwoTasks(t)
	p := n.start("")
	held := func() (bool, error) { _, err := os.Stat(n.path("notes", "at-go")); return err == nil, nil }
	if err := waitFor("the first session", held); err != nil {
		t.Fatalf("%v\n%s", err, p.out)
	}
	p.kill()
	wrap := n.path("wrap")
	script := "#!/bin/sh\n[ ! -e " + n.path("hang") + " ] || { : >" + n.path("hangs") + "; exec sleep 600; }\nexec " + git + ` "$@"` + "\n"
	for name, text := range map[string]string{"wrap/git": script, "hang": ""} {
		if err := os.MkdirAll(filepath.Dir(n.path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(n.path(name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + wrap + string(os.PathListSeparator) + os.Getenv("PATH")}
	if p, err = n.world.start(env, "up"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	if err := waitFor("git to hang", func() (bool, error) { _, err := os.Stat(n.path("hangs")); return err == nil, nil }); err != nil {
		t.Fatalf("%v\n%s", err, p.out)
	}
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code, err := p.wait()
	if took := time.Since(began); err != nil || code != 0 || took > 10*time.Second {
		t.Fatalf("exit %d after %s, %v\n%s", code, took, err, p.out)
	}
	if err := os.Remove(n.path("hang")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.path("notes", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = n.world.start(nil, "run"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	if code, err := p.wait(); err != nil || code != 0 {
		t.Errorf("exit %d, %v\n%s", code, err, p.out)
	}
}
