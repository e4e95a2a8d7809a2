package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
			must(t, w.Restore(t.Context(), only("r1", base.Tree)))
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

// TestFetchLooksAtFewRefs checks that what a fetch costs does not grow with the
// sessions of the past: git looks at as many refs of ours as in a repository of one
// run, and sends as many lines of negotiation.
func TestFetchLooksAtFewRefs(t *testing.T) {
	fetch := func(sessions int) (haves int) {
		repo := shop(t)
		w := workspace(t, repo)
		base := begin(t, w, "r1")
		ownCommits(t, w, base, sessions)
		writeFile(t, repo, "cart/more.go", fmt.Sprintf("package cart // %d\n", sessions))
		git(t, repo, "add", "-A")
		git(t, repo, "commit", "-m", "more")
		git(t, repo, "tag", "-a", "-m", "one", "v1")
		trace := filepath.Join(t.TempDir(), "trace")
		w.program = traced(t, w.program, trace)
		begin(t, w, "r2")
		data, err := os.ReadFile(trace)
		must(t, err)
		if got := git(t, w.gitDir, "rev-parse", "refs/tags/v1"); got != git(t, repo, "rev-parse", "refs/tags/v1") {
			t.Errorf("tag v1 is %s", got)
		}
		if _, err := os.Lstat(filepath.Join(w.gitDir, "fetch")); err == nil {
			t.Error("the folder of the fetch stays")
		}
		if got, want := git(t, w.gitDir, "rev-parse", fetchedRef), git(t, repo, "rev-parse", "HEAD"); got != want {
			t.Errorf("last fetched: %s, want %s", got, want)
		}
		return strings.Count(string(data), "fetch> have ")
	}
	fresh, old := fetch(0), fetch(2000)
	if fresh == 0 || old != fresh {
		t.Errorf("%d lines of negotiation with 2,000 sessions, %d with none", old, fresh)
	}
}

// ownCommits gives the repository of a workspace refs of sessions that have a commit
// each.
func ownCommits(t testing.TB, w *Workspace, base ledger.Base, sessions int) {
	t.Helper()
	if sessions == 0 {
		return
	}
	var in strings.Builder
	fmt.Fprintf(&in, "reset refs/heads/import\nfrom %s\n\n", base.Commit)
	for n := range sessions {
		fmt.Fprintf(&in, "commit refs/heads/import\nmark :%d\ncommitter n <n@localhost> %d +0000\ndata 1\ns\n\n", n+1, n)
	}
	marks := filepath.Join(t.TempDir(), "marks")
	_, err := w.run(t.Context(), call{gitDir: w.gitDir, in: strings.NewReader(in.String()), args: []string{"fast-import", "--quiet", "--force", "--export-marks=" + marks}})
	if err == nil {
		_, err = w.gitOurs(t.Context(), "update-ref", "-d", "refs/heads/import")
	}
	if err == nil {
		_, err = w.gitOurs(t.Context(), "pack-refs", "--all", "--prune")
	}
	var data, packed []byte
	if err == nil {
		data, err = os.ReadFile(marks)
	}
	if err == nil {
		packed, err = os.ReadFile(filepath.Join(w.gitDir, "packed-refs"))
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for line := range strings.Lines(string(packed)) {
		if hash, name, _ := strings.Cut(strings.TrimSpace(line), " "); fullHash.MatchString(hash) {
			lines = append(lines, name+" "+hash)
		}
	}
	for line := range strings.Lines(string(data)) {
		mark, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		lines = append(lines, w.hiddenRef("r0", "task-1/a1/s"+strings.TrimPrefix(mark, ":"))+" "+hash)
	}
	slices.Sort(lines)
	text := "# pack-refs with: peeled sorted \n"
	for i, line := range lines {
		name, hash, _ := strings.Cut(line, " ")
		lines[i] = hash + " " + name + "\n"
	}
	text += strings.Join(lines, "")
	if err := os.WriteFile(filepath.Join(w.gitDir, "packed-refs"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// traced returns a git that writes what fetches say to a file.
func traced(t *testing.T, program, file string) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "git")
	must(t, os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nGIT_TRACE_PACKET=%s exec %s \"$@\"\n", file, program), 0o755))
	return script
}
