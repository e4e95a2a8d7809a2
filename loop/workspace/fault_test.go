package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// breakGit makes the workspace's git fail at the first calls that have a word in
// their arguments, as a shell command says.
func breakGit(t *testing.T, w *Workspace, times int, word, fails string) {
	t.Helper()
	dir := t.TempDir()
	var left strings.Builder
	for n := range times {
		fmt.Fprintf(&left, "if mkdir %s/%d 2>/dev/null; then %s; fi;", dir, n, fails)
	}
	writeFile(t, dir, "git", fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *%q*) %s ;; esac\nexec %s \"$@\"\n", word, left.String(), w.program))
	w.program = filepath.Join(dir, "git")
	must(t, os.Chmod(w.program, 0o755))
}

// TestGitFaults meets faults of the machine in a capture. Each is told from a
// mistake, and the same call works when it is over.
func TestGitFaults(t *testing.T) {
	for name, c := range map[string]struct {
		times       int
		word, fails string
		want        ledger.Fault
	}{
		"lock":    {1, "update-index --add", `echo "fatal: Unable to create '/elsewhere/index.lock': File exists." >&2; exit 128`, ledger.FaultMachine},
		"space":   {1, "write-tree", `echo "error: unable to write: No space left on device" >&2; exit 128`, ledger.FaultDisk},
		"signal":  {2, "read-tree --reset", `kill -9 $$`, ledger.FaultMachine}, // this is tried twice
		"mistake": {1, "write-tree", `echo "error: invalid object" >&2; exit 128`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := workspace(t, shop(t))
			base := begin(t, w, "r1")
			must(t, w.Restore(t.Context(), only("r1", base.Tree)))
			writeFile(t, w.Work(only("r1", "")).Dir, "cart/cart.go", "package cart // changed\n")
			must(t, os.Remove(folder{filepath.Dir(w.Work(only("r1", "")).Dir), "work"}.index())) // git has to read the tree
			breakGit(t, w, c.times, c.word, c.fails)
			_, err := w.Capture(t.Context(), captureRequest(base, base.Tree, all))
			if err == nil || fault.Of(err) != c.want {
				t.Fatalf("the capture's error is %v: fault %q, want %q", err, fault.Of(err), c.want)
			}
			if taken, err := w.Capture(t.Context(), captureRequest(base, base.Tree, all)); err != nil || len(taken.Files) != 1 {
				t.Errorf("a second time: %+v, %v", taken, err)
			}
		})
	}
}

// TestFaultAtBegin meets faults of the machine while the repositories are looked
// at: they are no reason to tell a person that something is wrong with them.
func TestFaultAtBegin(t *testing.T) {
	for _, word := range []string{"--show-object-format", "--show-toplevel", "symbolic-ref", "HEAD^{commit}", "check-ref-format", "update-ref"} {
		w := workspace(t, shop(t))
		begin(t, w, "r1")
		breakGit(t, w, 1, word, `echo "fatal: unable to read config: Too many open files" >&2; exit 128`)
		if _, err := w.Begin(t.Context(), ledger.Begin{Run: "r2"}); err != nil && fault.Of(err) != ledger.FaultMachine {
			t.Errorf("%s: %v is fault %q", word, err, fault.Of(err))
		}
		if _, err := w.Begin(t.Context(), ledger.Begin{Run: "r2"}); err != nil {
			t.Errorf("%s, a second time: %v", word, err)
		}
	}
}

// TestGitSpeaksEnglish holds that git's messages are those that gitFaults knows.
func TestGitSpeaksEnglish(t *testing.T) {
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("LANGUAGE", "de")
	w := workspace(t, shop(t))
	breakGit(t, w, 1, "rev-parse", `echo "$LC_ALL,$LANGUAGE,$LANG"; exit 0`)
	if said, err := w.gitOurs(t.Context(), "rev-parse", "HEAD"); err != nil || said != "C,," {
		t.Errorf("git runs with LC_ALL,LANGUAGE,LANG = %q, %v", said, err)
	}
}

// TestLeftLocks removes a lock that a killed git left in our repository, unless a
// process has it open, and never one in the person's.
func TestLeftLocks(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	old := time.Now().Add(-time.Hour)
	leave := func(file string) *os.File {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		f, err := os.Create(file)
		must(t, err)
		must(t, os.Chtimes(file, old, old))
		return f
	}
	pack := func() error {
		_, err := w.run(t.Context(), call{gitDir: w.gitDir, config: []string{"core.packedRefsTimeout=0"}, args: []string{"pack-refs", "--all"}})
		return err
	}
	ours := filepath.Join(w.gitDir, "packed-refs.lock")
	held := leave(ours)
	for range 2 {
		if err := pack(); fault.Of(err) != ledger.FaultMachine {
			t.Errorf("a lock that a process has open: %v", err)
		}
	}
	must(t, held.Close())
	if err := pack(); fault.Of(err) != ledger.FaultMachine {
		t.Errorf("a stale lock: %v", err)
	}
	if err := pack(); err != nil {
		t.Errorf("a stale lock stays: %v", err)
	}

	was := safeConfig
	t.Cleanup(func() { safeConfig = was })
	safeConfig = append(slices.Clone(was), "core.filesRefLockTimeout=0") // git would wait for five seconds
	theirs := filepath.Join(repo, ".git", "refs", "heads", "nightporter", "shop", "r1.lock")
	must(t, leave(theirs).Close())
	err := w.updateUserRef(t.Context(), userRepo{commonDir: filepath.Join(repo, ".git")}, "refs/heads/nightporter/shop/r1", "", base.Commit)
	if fault.Of(err) != ledger.FaultMachine || !strings.Contains(err.Error(), theirs) {
		t.Errorf("a lock in the person's repository: %v", err)
	}
	if _, err := os.Lstat(theirs); err != nil {
		t.Errorf("a lock in the person's repository was removed: %v", err)
	}
}
