package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// longLived gives the repository of a workspace the refs of many sessions, as git
// would have left them one by one.
func longLived(t testing.TB, w *Workspace, base ledger.Base, run string, sessions int) {
	t.Helper()
	for n := range sessions {
		file := filepath.Join(w.gitDir, fmt.Sprintf("refs/nightporter/shop/%s/task-%d/a1/s%d", run, n/50, n))
		if n%50 == 0 {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(file, []byte(base.Commit+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ageRun makes a run look as if it was used last so long ago.
func ageRun(t *testing.T, w *Workspace, run string, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	must(t, os.Chtimes(w.baseLog(run), at, at))
}

func refs(t *testing.T, w *Workspace, below string) []string {
	t.Helper()
	return strings.Fields(git(t, w.gitDir, "for-each-ref", "--format=%(refname)", below))
}

// TestMaintain checks that refs of old runs go and those of newer ones stay, that
// what is to be kept outlives its ref, and that nothing else is lost.
func TestMaintain(t *testing.T) {
	const day = 24 * time.Hour
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/new.go", "package cart\n") })
	kept := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/kept.go", "package cart // kept\n") })
	begin(t, w, "r2")
	begin(t, w, "r3")
	longLived(t, w, base, "r2", 300)
	longLived(t, w, base, "r3", 300)
	m := ledger.Maintenance{Run: "r3", Age: 30 * day, Keep: []string{kept.Tree, strings.Repeat("ab", 20), strings.Repeat("cd", 32)}}

	ageRun(t, w, "r1", 29*day)
	ageRun(t, w, "r3", 40*day) // the present run stays however old it is
	must(t, w.Maintain(t.Context(), m))
	if n := len(refs(t, w, "refs/nightporter/shop/r1")); n != 3 {
		t.Errorf("%d refs of the run that is 29 days old, want 3", n)
	}
	if n := w.count("refs/nightporter", 1000); n > 0 {
		t.Errorf("%d refs are files of their own", n)
	}

	ageRun(t, w, "r1", 31*day)
	must(t, w.Maintain(t.Context(), m))
	if got := refs(t, w, "refs/nightporter/shop/r1"); len(got) > 0 {
		t.Errorf("refs of the old run stay: %v", got)
	}
	for _, run := range []string{"r2", "r3"} {
		if n := len(refs(t, w, "refs/nightporter/shop/"+run)); n != 302 {
			t.Errorf("%s has %d refs, want 302", run, n)
		}
	}

	// Objects are dropped once they are old, and what is kept is not.
	drop := func() {
		old := time.Now().Add(-8 * day)
		must(t, os.Chtimes(filepath.Join(w.gitDir, "drop-due"), old, old))
		must(t, w.Maintain(t.Context(), m))
	}
	there := func(hash string) bool {
		_, err := tryGit(t, w.gitDir, "cat-file", "-e", hash)
		return err == nil
	}
	drop()
	if !there(taken.Tree) {
		t.Error("an object was dropped as soon as its ref went")
	}
	found, _ := filepath.Glob(filepath.Join(w.gitDir, "objects/pack/*.mtimes"))
	if len(found) != 1 {
		t.Fatalf("%d packs of unreachable objects, want one", len(found))
	}
	m.Age = 0
	must(t, os.WriteFile(filepath.Join(w.gitDir, "drop-due"), nil, 0o600))
	drop()
	if there(taken.Tree) {
		t.Error("an old object without a ref stays")
	}
	if !there(kept.Tree) || !there(base.Commit) {
		t.Error("what is kept was dropped")
	}
	if out, err := tryGit(t, w.gitDir, "fsck", "--no-dangling"); err != nil || strings.Contains(out, "missing") {
		t.Errorf("fsck: %v %s", err, out)
	}
	// The repository goes on working.
	session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/again.go", "package cart\n") })
	begin(t, w, "r4")
}

// TestMaintainRepacks checks that loose objects are packed without losing one.
func TestMaintainRepacks(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	for n := range 4 {
		session(t, w, base, "", all, func(dir string) { fill(t, filepath.Join(dir, fmt.Sprintf("gen%d", n)), 350) })
	}
	before := objects(t, w)
	tmp := filepath.Join(w.gitDir, "objects/pack/tmp_pack_x")
	must(t, os.WriteFile(tmp, []byte("x"), 0o600))
	old := time.Now().Add(-2 * time.Hour)
	must(t, os.Chtimes(tmp, old, old))
	must(t, os.WriteFile(filepath.Join(w.gitDir, "packed-refs.lock"), nil, 0o600)) // of a git that was killed
	must(t, w.Maintain(t.Context(), ledger.Maintenance{Run: "r1", Age: time.Hour}))
	if n := w.count("objects", manyObjects); n > 100 {
		t.Errorf("%d objects are files of their own", n)
	}
	if n := objects(t, w); n != before {
		t.Errorf("%d objects, were %d", n, before)
	}
	if _, err := os.Lstat(tmp); err == nil {
		t.Error("the file of a killed git stays")
	}
}

// holdGit makes the workspace's git announce each call that has a word in its
// arguments on the returned pipe, and then wait for a signal. It fails without one.
func holdGit(t *testing.T, w *Workspace, word string) (at string) {
	t.Helper()
	dir := t.TempDir()
	at = filepath.Join(dir, "at")
	must(t, syscall.Mkfifo(at, 0o600))
	writeFile(t, dir, "git", fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *%q*) echo at >%s; sleep 60; exit 1 ;; esac\nexec %s \"$@\"\n", word, at, w.program))
	must(t, os.Chmod(filepath.Join(dir, "git"), 0o755))
	program := w.program
	w.program = filepath.Join(dir, "git")
	t.Cleanup(func() { w.program = program })
	return at
}

// TestMaintainYields checks that another use of the repository stops maintenance in
// each of its steps, that nothing is lost by it, and that maintenance does not begin
// while something waits.
func TestMaintainYields(t *testing.T) {
	const day = 24 * time.Hour
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	begin(t, w, "r2")
	longLived(t, w, base, "r1", 2*manyRefs)
	longLived(t, w, base, "r2", 2)
	ageRun(t, w, "r2", 2*day)
	fill(t, filepath.Join(w.gitDir, "objects", "00"), manyObjects) // only counted
	m := ledger.Maintenance{Run: "r1", Age: day}
	for _, step := range []string{"for-each-ref", "update-ref --stdin", "pack-refs", "repack"} {
		t.Run(step, func(t *testing.T) {
			at := holdGit(t, w, step)
			ended := make(chan error, 1)
			go func() { ended <- w.Maintain(t.Context(), m) }()
			began := make(chan error, 1)
			go func() {
				_, err := os.ReadFile(at)
				began <- err
			}()
			select {
			case err := <-began:
				must(t, err)
			case err := <-ended:
				t.Fatalf("maintenance ended before: %v", err)
			}
			must(t, w.Restore(t.Context(), "r1", base.Tree))
			must(t, <-ended)
		})
	}
	unlock := w.lock()
	must(t, w.Maintain(t.Context(), m))
	unlock()
	if n := len(refs(t, w, "refs/nightporter/shop/r1/")); n != 2*manyRefs+2 {
		t.Errorf("%d refs, want %d", n, 2*manyRefs+2)
	}
}

// TestMaintainedFetch checks that a fetch into a repository with the refs of 20,000
// sessions is as fast after maintenance as into a fresh one.
func TestMaintainedFetch(t *testing.T) {
	if os.Getenv("NIGHTPORTER_SOAK") == "" {
		t.Skip("SKIPPED: NIGHTPORTER_SOAK=1 compares times of fetches with 20,000 refs")
	}
	w := workspace(t, shop(t))
	fresh := workspace(t, w.o.Repo)
	begin(t, fresh, "r1")
	base := begin(t, w, "r1")
	longLived(t, w, base, "r1", 20_000)
	fetch := func(w *Workspace) time.Duration {
		best := time.Hour
		for range 7 {
			began := time.Now()
			u, err := w.inspect(t.Context())
			must(t, err)
			must(t, w.fetch(t.Context(), u, "HEAD", w.hiddenRef("r1", "head"), u.head))
			best = min(best, time.Since(began))
		}
		return best
	}
	before := fetch(w)
	began := time.Now()
	must(t, w.Maintain(t.Context(), ledger.Maintenance{Run: "r1", Age: time.Hour}))
	took := time.Since(began)
	packed, small := fetch(w), fetch(fresh)
	ageRun(t, w, "r1", 2*time.Hour)
	must(t, w.Maintain(t.Context(), ledger.Maintenance{Age: time.Hour}))
	pruned := fetch(w)
	t.Logf("fetch: fresh %s; 20,000 refs %s, packed %s (in %s), pruned %s: %.2f ×, %.2f ×", small, before, packed, took, pruned,
		float64(packed)/float64(small), float64(pruned)/float64(small))
	if pruned > small*3/2 {
		t.Errorf("a fetch takes %s after maintenance, and %s into a fresh repository", pruned, small)
	}
}
