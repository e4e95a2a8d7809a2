package workspace

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// withSubmodule adds a submodule to a shop, and to that one another.
func withSubmodule(t *testing.T, repo string) {
	t.Helper()
	lib, inner := filepath.Join(t.TempDir(), "lib"), filepath.Join(t.TempDir(), "inner")
	for dir, file := range map[string]string{inner: "deep.c", lib: "lib.c"} {
		writeFile(t, dir, file, "int lib;\n")
		writeFile(t, dir, ".gitignore", "*.o\n")
		git(t, dir, "init", "-q")
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", "First")
	}
	must(t, os.Chmod(filepath.Join(lib, "lib.c"), 0o755))
	git(t, lib, "submodule", "--quiet", "add", inner, "inner")
	git(t, lib, "commit", "-q", "-am", "Second")
	git(t, repo, "submodule", "--quiet", "add", "--name", "the-lib", lib, "vendor/lib")
	git(t, repo, "commit", "-q", "-m", "sub")
}

// TestSubmodule has a session work beside a submodule, whose files it sees and cannot
// change.
func TestSubmodule(t *testing.T) {
	for name, prepare := range map[string]func(repo string){
		"checked out": func(string) {},
		"not checked out, but fetched": func(repo string) {
			git(t, repo, "submodule", "--quiet", "deinit", "-f", "vendor/lib")
		},
		"in a folder of its own": func(repo string) { // as old versions of git had it
			dir := filepath.Join(repo, "vendor/lib")
			must(t, os.Remove(filepath.Join(dir, ".git")))
			must(t, os.Rename(filepath.Join(repo, ".git/modules/the-lib"), filepath.Join(dir, ".git")))
			git(t, dir, "--git-dir=.git", "config", "--unset", "core.worktree")
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := shop(t)
			withSubmodule(t, repo)
			link := git(t, repo, "rev-parse", "HEAD:vendor/lib")
			prepare(repo)
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			if len(base.Notes) != 1 || base.Notes[0].File != "vendor/lib/inner" {
				t.Errorf("notes: %v", base.Notes)
			}
			taken := session(t, w, base, "", all, func(dir string) {
				if got := readFile(t, dir, "vendor/lib/lib.c"); got != "int lib;\n" {
					t.Errorf("lib.c is %q", got)
				}
				if info, err := os.Stat(filepath.Join(dir, "vendor/lib/lib.c")); err != nil || info.Mode()&0o100 == 0 {
					t.Errorf("lib.c: %v %v", info, err)
				}
				if got := git(t, dir, "status", "--porcelain"); got != "" {
					t.Errorf("the session begins with changes:\n%s", got)
				}
				writeFile(t, dir, "cart/cart.go", "package cart // 1\n")
				writeFile(t, dir, "vendor/lib/out.txt", "built\n")
				writeFile(t, dir, "vendor/new.c", "mine\n")
			})
			if diff := cmp.Diff([]string{"cart/cart.go", "vendor/new.c"}, paths(taken.Files)); diff != "" || len(taken.Refused) > 0 {
				t.Errorf("captured (-want +got):\n%s refused %v", diff, taken.Refused)
			}
			if got := readFile(t, w.Work(only("r1", "")).Dir, "vendor/lib/out.txt") + readFile(t, w.Work(only("r1", "")).Dir, "vendor/lib/lib.c"); got != "(none)int lib;\n" {
				t.Errorf("after the capture: %q", got)
			}
			again, err := w.Capture(t.Context(), captureRequest(base, base.Tree, all)) // after a crash
			must(t, err)
			if again.Tree != taken.Tree {
				t.Errorf("the second capture has another tree")
			}
			_, err = w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
			must(t, err)
			if got := git(t, repo, "rev-parse", base.Branch+":vendor/lib"); got != link {
				t.Errorf("the submodule is at %s, and was at %s", got, link)
			}
			git(t, repo, "fsck", "--strict", "--no-dangling")

			changed := session(t, w, base, taken.Tree, all, func(dir string) {
				writeFile(t, dir, "vendor/lib/lib.c", "int changed;\n")
				must(t, os.Remove(filepath.Join(dir, "vendor/lib/.gitignore")))
			})
			if len(changed.Refused) != 2 || !strings.Contains(changed.Refused[1].Text, "belongs to the submodule vendor/lib") || changed.Tree != taken.Tree {
				t.Errorf("a changed submodule: %v", changed.Refused)
			}
		})
	}
}

// TestSubmoduleMissing begins where the files of a submodule are not on the machine:
// it is an empty folder, as in a clone, and a note says so.
func TestSubmoduleMissing(t *testing.T) {
	repo := shop(t)
	git(t, repo, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",vendor/lib")
	git(t, repo, "commit", "-q", "-m", "sub")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	if len(base.Notes) != 1 || !strings.Contains(base.Notes[0].Text, "is not on this machine") || !strings.HasSuffix(base.Notes[0].Remedy, "submodule update --init vendor/lib") {
		t.Errorf("notes: %v", base.Notes)
	}
	for name, do := range map[string]func(dir string){
		"left alone": func(string) {},
		"removed":    func(dir string) { must(t, os.RemoveAll(filepath.Join(dir, "vendor"))) },
		"filled":     func(dir string) { writeFile(t, dir, "vendor/lib/a.c", "x\n") },
		"a file": func(dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "vendor")))
			writeFile(t, dir, "vendor/lib", "x\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			taken := session(t, w, base, "", all, func(dir string) {
				if entries, err := os.ReadDir(filepath.Join(dir, "vendor/lib")); err != nil || len(entries) > 0 {
					t.Errorf("vendor/lib holds %v, %v", entries, err)
				}
				writeFile(t, dir, "cart/cart.go", "package cart // 1\n")
				do(dir)
			})
			if diff := cmp.Diff([]string{"cart/cart.go"}, paths(taken.Files)); diff != "" || len(taken.Refused) > 0 {
				t.Errorf("captured (-want +got):\n%s refused %v", diff, taken.Refused)
			}
			if got := git(t, w.gitDir, "ls-tree", taken.Tree, "vendor/lib"); !strings.HasPrefix(got, "160000 commit 1111") {
				t.Errorf("the tree has %q", got)
			}
		})
	}
}

// TestSubmoduleScope gives tasks scopes in and beside a submodule.
func TestSubmoduleScope(t *testing.T) {
	repo := shop(t)
	withSubmodule(t, repo)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	for task, refused := range map[string]bool{
		"`vendor/lib/lib.c`": true, "`vendor/lib`": true, "`vendor/lib/`": true, "`cart`, `vendor/lib/x.c`": true, "`vendor/lib/**`": true,
		"`vendor/`": false, "`cart`": false, "": false,
	} {
		scope := all
		scope.Task = task
		_, _, err := w.ResolveScope(t.Context(), base.Tree, scope)
		if refused != (err != nil) {
			t.Errorf("scope %q: %v", task, err)
		}
		if refused && !strings.Contains(findingsOf(t, err), "lies in the submodule vendor/lib") {
			t.Errorf("scope %q: %s", task, findingsOf(t, err))
		}
	}
}

// TestContentRoom lays rooms of trees with a submodule and a file of Git LFS.
func TestContentRoom(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		repo := shop(t)
		withSubmodule(t, repo)
		withLFS(t, repo)
		w := workspace(t, repo, func(o *Options) { o.Mounts = func() bool { return mounts } })
		t.Cleanup(func() { _ = makeAccessible(w.o.State) })
		base := begin(t, w, "r1")
		r := &roomWorld{t: t, w: w, base: base, use: ledger.RoomUse{Tree: base.Commit}}
		const look = "cat vendor/lib/lib.c art/one.psd; git status --porcelain; git log --format=%s | tail -1"
		if got := inRoom(t, r.lay(r.use, true), look); got != "int lib;\nlarge one\nFirst" {
			t.Errorf("the room of the start shows\n%s", got)
		}
		taken := session(t, w, base, "", all, func(dir string) {
			writeFile(t, dir, "art/one.psd", "larger one\n")
			writeFile(t, dir, "go.mod", "module store\n") // a layer of its own
		})
		if got := inRoom(t, r.lay(ledger.RoomUse{Tree: taken.Tree, Parent: base.Commit}, true), look); got != "int lib;\nlarger one\nFirst" {
			t.Errorf("the room of a change shows\n%s", got)
		}
		must(t, w.KeepLayer(t.Context(), taken.Tree))
	})
}

// lfsPointer is what Git LFS commits for a text.
func lfsPointer(text string) string {
	return "version https://git-lfs.github.com/spec/v1\noid sha256:" + lfsID(text) + "\nsize " + lfsSize(text) + "\n"
}

// withLFS adds files of Git LFS to a shop, without that program: pointers, and one
// object of two.
func withLFS(t *testing.T, repo string) {
	t.Helper()
	writeFile(t, repo, ".gitattributes", "# x\n*.psd filter=lfs diff=lfs merge=lfs -text\nsmall.psd !filter\n")
	writeFile(t, repo, "art/one.psd", lfsPointer("large one\n"))
	writeFile(t, repo, "art/far.psd", lfsPointer("far away\n"))
	writeFile(t, repo, "art/small.psd", "not in LFS\n")
	git(t, repo, "-c", "core.attributesFile=/dev/null", "-c", "filter.lfs.clean=cat", "-c", "filter.lfs.required=false", "add", "-A")
	git(t, repo, "commit", "-q", "-m", "lfs")
	writeFile(t, repo, ".git/"+lfsPath(lfsID("large one\n")), "large one\n")
}

// TestLFS has a session change, add, move and remove files of Git LFS.
func TestLFS(t *testing.T) {
	repo := shop(t)
	withLFS(t, repo)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	if len(base.Notes) != 1 || !strings.Contains(base.Notes[0].Text, "art/far.psd") || strings.Contains(base.Notes[0].Text, "one.psd") {
		t.Errorf("notes: %v", base.Notes)
	}
	see := func(dir, name, want string) {
		t.Helper()
		if got := readFile(t, dir, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	nothing := session(t, w, base, "", all, func(dir string) {
		see(dir, "art/one.psd", "large one\n")
		see(dir, "art/far.psd", lfsPointer("far away\n"))
		if got := git(t, dir, "status", "--porcelain"); got != "" {
			t.Errorf("the session begins with changes:\n%s", got)
		}
	})
	if nothing.Tree != base.Tree || len(nothing.Files) > 0 {
		t.Errorf("without a change the tree is %s, with %v", nothing.Tree, nothing.Files)
	}
	taken := session(t, w, base, "", all, func(dir string) {
		writeFile(t, dir, "art/one.psd", "larger one\n")
		writeFile(t, dir, "web/two.psd", "two\n")
		writeFile(t, dir, "web/empty.psd", "")
		writeFile(t, dir, "art/small.psd", "still not\n")
		must(t, os.Rename(filepath.Join(dir, "art/far.psd"), filepath.Join(dir, "web/far.psd")))
	})
	if diff := cmp.Diff([]string{"art/far.psd", "art/one.psd", "art/small.psd", "web/empty.psd", "web/far.psd", "web/two.psd"}, paths(taken.Files)); diff != "" || len(taken.Refused) > 0 {
		t.Errorf("captured (-want +got):\n%s refused %v", diff, taken.Refused)
	}
	see(w.Work(only("r1", "")).Dir, "web/two.psd", "two\n")
	done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	for name, want := range map[string]string{
		"art/one.psd": lfsPointer("larger one\n"), "web/two.psd": lfsPointer("two\n"), "web/empty.psd": "",
		"art/small.psd": "still not\n", "web/far.psd": lfsPointer("far away\n"),
	} {
		if got := git(t, repo, "cat-file", "blob", done.Commit+":"+name); got != strings.TrimSpace(want) {
			t.Errorf("%s is committed as %q", name, got)
		}
	}
	for _, text := range []string{"larger one\n", "two\n"} {
		see(repo, ".git/"+lfsPath(lfsID(text)), text)
	}
	git(t, repo, "fsck", "--strict", "--no-dangling")

	// The next session, by another process, has what the first one made.
	w, err = Open(t.Context(), w.o)
	must(t, err)
	session(t, w, base, done.Tree, all, func(dir string) { see(dir, "art/one.psd", "larger one\n"); see(dir, "web/two.psd", "two\n") })
}

// TestLFSBad begins with objects and settings that cannot be used.
func TestLFSBad(t *testing.T) {
	repo := shop(t)
	withLFS(t, repo)
	at := filepath.Join(repo, ".git", lfsPath(lfsID("large one\n")))
	for name, do := range map[string]func(){
		"damaged": func() { must(t, os.WriteFile(at, []byte("larger 1!\n"), 0o644)) },
		"short":   func() { must(t, os.WriteFile(at, nil, 0o644)) },
		"a link":  func() { must(t, os.Remove(at)); must(t, os.Symlink("/etc/passwd", at)) },
		"a pipe":  func() { must(t, os.Remove(at)); must(t, exec.Command("mkfifo", at).Run()) }, //nolint:noctx // it ends
	} {
		do()
		base, err := workspace(t, repo).Begin(t.Context(), ledger.Begin{Run: "r1"})
		if err != nil || len(base.Notes) != 1 || !strings.Contains(base.Notes[0].Text, "art/one.psd") {
			t.Errorf("%s: %v %v", name, base.Notes, err)
		}
		must(t, os.Remove(at))
		must(t, os.WriteFile(at, []byte("large one\n"), 0o644))
	}
	refused := func(want string) {
		t.Helper()
		_, err := workspace(t, repo).Begin(t.Context(), ledger.Begin{Run: "r1"})
		if got := findingsOf(t, err); !strings.Contains(got, want) {
			t.Errorf("begin: %s, want %q", got, want)
		}
	}
	must(t, os.Rename(filepath.Join(repo, ".git/lfs"), repo+"-lfs"))
	must(t, os.Symlink(repo+"-lfs", filepath.Join(repo, ".git/lfs")))
	refused(".git/lfs is a link or a file")
	git(t, repo, "config", "lfs.storage", "elsewhere")
	refused("lfs.storage is elsewhere")
}

func TestLFSRules(t *testing.T) {
	for _, c := range []struct {
		dir, lines, path string
		want             bool
	}{
		{".", "*.psd filter=lfs", "a/b.psd", true},
		{".", "*.psd filter=lfs", "a/b.png", false},
		{".", "*.psd filter=lfs\na/*.psd -filter", "a/b.psd", false},
		{".", "*.psd filter=lfs\na/*.psd !filter", "a/b.psd", false},
		{".", "*.psd filter=lfs\nb.psd filter=other", "a/b.psd", false},
		{".", "/b.psd filter=lfs", "a/b.psd", false},
		{".", "/b.psd filter=lfs", "b.psd", true},
		{".", "a/** filter=lfs", "a/c/b.psd", true},
		{".", "a/* filter=lfs", "a/c/b.psd", false},
		{".", "a[[:space:]]b.psd filter=lfs", "x/a b.psd", true},
		{".", "\"a b.psd\" filter=lfs", "x/a b.psd", true},
		{".", "*.psd\tdiff=lfs\tfilter=lfs", "b.psd", true},
		{".", "# *.psd filter=lfs", "b.psd", false},
		{".", "*.psd text", "b.psd", false},
		{".", "*.{psd} filter=lfs", "b.psd", false},
		{"web", "*.psd filter=lfs", "b.psd", false},
		{"web", "*.psd filter=lfs", "web/a/b.psd", true},
		{"w*b", "*.psd filter=lfs", "web/b.psd", false},
		{".", "filter=lfs", "filter=lfs", false},
		{".", "\"", "x", false},
		{".", "", "x", false},
	} {
		var rules lfsRules
		for line := range strings.Lines(c.lines) {
			if rule, ok := parseLFSRule(c.dir, line); ok {
				rules = append(rules, rule)
			}
		}
		if got := rules.has(c.path); got != c.want {
			t.Errorf("%q in %s: %s is in LFS: %v, want %v", c.lines, c.dir, c.path, got, c.want)
		}
	}
}

func TestParsePointer(t *testing.T) {
	good := lfsPointer("x")
	for text, want := range map[string]bool{
		good: true,
		strings.Replace(good, "oid", "ext-0-foo sha256:"+strings.Repeat("a", 64)+"\noid", 1): true,
		"":                                   false,
		good + "more\n":                      false,
		strings.TrimSpace(good):              false,
		strings.Replace(good, "v1", "v2", 1): false,
		strings.Replace(good, "size 1", "size 99999999999999999999", 1):     false,
		strings.Replace(good, "size 1", "size -1", 1):                       false,
		strings.Replace(good, "oid", strings.Repeat("ext-0-a b\n", 200), 1): false,
	} {
		if _, got := parsePointer([]byte(text)); got != want {
			t.Errorf("%q is a pointer: %v", text, got)
		}
	}
}

func lfsID(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func lfsSize(text string) string { return strconv.Itoa(len(text)) }
