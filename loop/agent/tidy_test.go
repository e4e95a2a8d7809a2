package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestTidy: folders of old sessions and runs are removed. Running, spared and
// recent ones stay, and so do all other files of the state folder.
func TestTidy(t *testing.T) {
	h := newFixture(t, 2)
	h.run("r1-1", `mkdir -p deep/er; chmod 0500 deep/er deep; exit 0`)
	l := h.launch("r2-1")
	l.Run = "r2"
	h.script(`exit 0`)
	h.start(l)
	h.wait("r2-1")
	h.script(`while :; do sleep 0.1; done`)
	h.start(h.launch("r1-2"))
	state := h.opts.State
	for _, run := range []string{"r1", "r2", "r9"} {
		if err := os.MkdirAll(filepath.Join(state, "runs", run, "work", "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(state, "runs", "r9", "work", "out")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("keep"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(state, "runs", "r9", "work", "sub"), 0o500); err != nil {
		t.Fatal(err)
	}
	exists := func(path string) bool {
		_, err := os.Lstat(filepath.Join(state, path))
		return err == nil
	}

	spare := func(run string) bool { return run == "r2" }
	if n, err := h.runner.Tidy(t.Context(), time.Now().Add(-time.Hour), func(string) bool { return false }); n != 0 || err != nil {
		t.Errorf("what is young went: %d, %v", n, err)
	}
	n, err := h.runner.Tidy(t.Context(), time.Now().Add(time.Hour), spare)
	if err != nil || n != 3 {
		t.Errorf("removed %d, %v, want 3: r1-1, r1 and r9", n, err)
	}
	for path, want := range map[string]bool{
		"sessions/r1-1": false, "sessions/r1-2": true, "sessions/r2-1": true, "runs/r1": false, "runs/r2": true, "runs/r9": false, "cache": true, "bin": true,
	} {
		if exists(path) != want {
			t.Errorf("%s: there is %v, want %v", path, !want, want)
		}
	}
	if err := h.runner.End(t.Context(), "r1-3", 0); err != nil { // of a session that never began
		t.Fatal(err)
	}
	if n, err := h.runner.Tidy(t.Context(), time.Now().Add(time.Hour), spare); n != 1 || err != nil || exists("sessions/r1-3") {
		t.Errorf("removed %d, %v, want 1: r1-3", n, err)
	}
	if data, err := os.ReadFile(outside); string(data) != "keep" {
		t.Errorf("a link led out: %q, %v", data, err)
	}
	if err := h.runner.End(t.Context(), "r1-2", ledger.Duration(0)); err != nil {
		t.Fatal(err)
	}
	h.wait("r1-2")
}

// TestTidyPrograms: copies of earlier releases are removed while no session is at
// work, and the runner's own copy never.
func TestTidyPrograms(t *testing.T) {
	h := newFixture(t, 2)
	bin := filepath.Join(h.opts.State, "bin")
	for _, name := range []string{"0123456789abcdef", ".new-1"} { // an earlier release, and what a kill left of one
		if err := os.MkdirAll(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	none := func(string) bool { return false }
	count := func() int {
		entries, err := os.ReadDir(bin)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	h.script(`while :; do sleep 0.1; done`)
	h.start(h.launch("r1-1"))
	if _, err := h.runner.Tidy(t.Context(), time.Now().Add(time.Hour), none); err != nil || count() != 3 {
		t.Errorf("%d copies beside a session, %v; want 3", count(), err)
	}
	if err := h.runner.End(t.Context(), "r1-1", ledger.Duration(0)); err != nil {
		t.Fatal(err)
	}
	h.wait("r1-1")
	if n, err := h.runner.Tidy(t.Context(), time.Now().Add(-time.Hour), none); n != 0 || err != nil || count() != 3 {
		t.Errorf("what is young went: %d, %v", n, err)
	}
	if n, err := h.runner.Tidy(t.Context(), time.Now().Add(time.Hour), none); n != 3 || err != nil || count() != 1 {
		t.Errorf("removed %d, %v, want the session and two copies", n, err)
	}
	if err := os.MkdirAll(filepath.Join(h.opts.State, "runs", "r1", "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.run("r1-2", `exit 0`)
}

// TestTrialsOfKilledProcesses checks that the start removes folders of trials whose
// process was killed, and no other.
func TestTrialsOfKilledProcesses(t *testing.T) {
	h := newFixture(t, 2)
	old := time.Now().Add(-time.Hour)
	for name, at := range map[string]time.Time{"try-1": old, "try-2": time.Now(), "tryst": old} {
		dir := filepath.Join(h.opts.State, name)
		if err := os.MkdirAll(filepath.Join(dir, "kernel", "work"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, "kernel", "work"), 0); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := New(h.opts); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"try-1": false, "try-2": true, "tryst": true} {
		if _, err := os.Lstat(filepath.Join(h.opts.State, name)); (err == nil) != stays {
			t.Errorf("%s stays: %t, want %t", name, err == nil, stays)
		}
	}
}
