package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestBeginStartsAtHead(t *testing.T) {
	repo := shop(t)
	before := repoContent(t, repo)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	head := git(t, repo, "rev-parse", "HEAD")
	want := ledger.Base{Commit: head, Head: head, Tree: git(t, repo, "rev-parse", "HEAD^{tree}"), HeadName: "main",
		Branch: "nightporter/shop/r1", Author: "Ada Example <ada@example.org>"}
	if diff := cmp.Diff(want, base); diff != "" {
		t.Errorf("base (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
		t.Errorf("Begin changed the user's repository (-before +after):\n%s", diff)
	}
	if again := begin(t, w, "r1"); !cmp.Equal(base, again) {
		t.Errorf("a repeated Begin gives %+v, want %+v", again, base)
	}
}

// TestBeginBeside: a run that begins while the one before it is still beginning, of
// which a person wants nothing any more, has a Workspace of its own.
func TestBeginBeside(t *testing.T) {
	w := workspace(t, shop(t))
	var all sync.WaitGroup
	for n := range 6 {
		beside, err := Open(t.Context(), w.o)
		must(t, err)
		all.Go(func() {
			if _, err := beside.Begin(t.Context(), ledger.Begin{Run: fmt.Sprint("r", n+1)}); err != nil {
				t.Errorf("r%d: %v", n+1, err)
			}
		})
	}
	all.Wait()
}

func TestBeginFindings(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, repo string) string // returns the folder to open
		want []string
	}{
		{"missing", func(t *testing.T, repo string) string { return repo + "-gone" }, []string{"does not exist", "--repo"}},
		{"a file", func(t *testing.T, repo string) string { return filepath.Join(repo, "README.md") }, []string{"is a file"}},
		{"no repository", func(t *testing.T, repo string) string { return t.TempDir() }, []string{"is not a git repository", "init"}},
		{"a folder inside", func(t *testing.T, repo string) string { return filepath.Join(repo, "cart") }, []string{"is a folder inside the repository " + "", "--repo"}},
		{"bare", func(t *testing.T, repo string) string {
			bare := filepath.Join(t.TempDir(), "bare.git")
			git(t, repo, "clone", "-q", "--bare", repo, bare)
			return bare
		}, []string{"is a bare repository", "git clone"}},
		{"no commits", func(t *testing.T, repo string) string {
			dir := t.TempDir()
			git(t, dir, "init", "-q")
			return dir
		}, []string{"has no commits yet", "git commit"}},
		{"unborn branch", func(t *testing.T, repo string) string {
			git(t, repo, "switch", "-q", "--orphan", "fresh")
			return repo
		}, []string{"branch fresh, which has no commit", "switch main"}},
		{"partial clone", func(t *testing.T, repo string) string {
			git(t, repo, "config", "uploadpack.allowFilter", "true")
			dir := filepath.Join(t.TempDir(), "partial")
			git(t, repo, "clone", "-q", "--filter=blob:none", "file://"+repo, dir)
			return dir
		}, []string{"is a partial clone"}},
		{"branch in the way", func(t *testing.T, repo string) string {
			git(t, repo, "branch", "nightporter")
			return repo
		}, []string{"a branch called nightporter is in the way", "branch -m nightporter"}},
		{"branch of the run exists", func(t *testing.T, repo string) string {
			git(t, repo, "branch", "nightporter/shop/r1")
			return repo
		}, []string{"nightporter/shop/r1 exists already", "branch -m"}},
		{"branches of later runs exist", func(t *testing.T, repo string) string {
			git(t, repo, "branch", "nightporter/shop/r2")
			git(t, repo, "branch", "nightporter/shop/r10")
			git(t, repo, "branch", "nightporter/shop/notes") // no run's name
			return repo
		}, []string{"branches nightporter/shop/r2 to nightporter/shop/r10 exist already, from another state folder", "for r in r2 r10; do git -C"}},
		{"read-only file system", func(t *testing.T, repo string) string {
			if os.Geteuid() != 0 {
				t.Skip("SKIPPED: only root can mount a file system read-only")
			}
			must(t, unix.Mount(repo, repo, "", unix.MS_BIND, ""))
			t.Cleanup(func() { must(t, unix.Unmount(repo, unix.MNT_DETACH)) })
			must(t, unix.Mount("", repo, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
			return repo
		}, []string{"is mounted read-only", "mount it writable"}},
		{"broken configuration", func(t *testing.T, repo string) string {
			writeFile(t, repo, ".git/config", "[core\n")
			return repo
		}, []string{"git cannot read", "bad config"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := c.make(t, shop(t))
			_, err := workspace(t, repo).Begin(t.Context(), ledger.Begin{Run: "r1"})
			got := findingsOf(t, err)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("findings %q lack %q", got, want)
				}
			}
		})
	}
}

func TestBeginKinds(t *testing.T) {
	for _, c := range []struct {
		name     string
		make     func(t *testing.T, repo string) string
		headName string
		notes    []string
	}{
		{"detached", func(t *testing.T, repo string) string {
			git(t, repo, "checkout", "-q", "--detach")
			return repo
		}, "detached", []string{"HEAD is detached"}},
		{"linked worktree", func(t *testing.T, repo string) string {
			dir := filepath.Join(t.TempDir(), "linked")
			git(t, repo, "worktree", "add", "-q", "-b", "side", dir)
			writeFile(t, dir, "side.txt", "x\n")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "side")
			return dir
		}, "side", nil},
		{"shallow", func(t *testing.T, repo string) string {
			writeFile(t, repo, "more.txt", "x\n")
			git(t, repo, "add", "-A")
			git(t, repo, "commit", "-q", "-m", "more")
			dir := filepath.Join(t.TempDir(), "shallow")
			git(t, repo, "clone", "-q", "--depth=1", "file://"+repo, dir)
			return dir
		}, "main", []string{"shallow clone"}},
		{"rebase in progress", func(t *testing.T, repo string) string {
			git(t, repo, "switch", "-q", "-c", "topic")
			writeFile(t, repo, "README.md", "topic\n")
			git(t, repo, "commit", "-qam", "topic")
			git(t, repo, "switch", "-q", "main")
			writeFile(t, repo, "README.md", "main\n")
			git(t, repo, "commit", "-qam", "main")
			git(t, repo, "switch", "-q", "topic")
			if out, err := tryGit(t, repo, "rebase", "main"); err == nil {
				t.Fatalf("the rebase was to stop at a conflict: %s", out)
			}
			return repo
		}, "detached", []string{"HEAD is detached", "a rebase is in progress"}},
		{"name with spaces and quotes", func(t *testing.T, repo string) string {
			dir := filepath.Join(t.TempDir(), "it's my [shop]*")
			if err := os.Rename(repo, dir); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "main", nil},
		{"encodings and line ends", func(t *testing.T, repo string) string {
			writeFile(t, repo, ".gitattributes", "*.u16 text working-tree-encoding=UTF-16LE\n*.bat text eol=crlf\n* text=auto\n")
			writeFile(t, repo, "a.u16", "h\x00i\x00\n\x00")
			writeFile(t, repo, "a.bat", "x\r\n")
			writeFile(t, repo, "mixed.txt", "x\r\ny\n")
			git(t, repo, "add", "-A")
			git(t, repo, "commit", "-q", "-m", "encodings")
			must(t, os.Chtimes(filepath.Join(repo, "a.u16"), tomorrow, tomorrow)) // git must read the file to see that it did not change
			return repo
		}, "main", nil},
		{"sha256", func(t *testing.T, repo string) string {
			dir := t.TempDir()
			git(t, dir, "init", "-q", "--object-format=sha256")
			writeFile(t, dir, "a.txt", "x\n")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "First")
			return dir
		}, "main", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := c.make(t, shop(t))
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			if base.Head != git(t, repo, "rev-parse", "HEAD") || base.Commit != base.Head || base.HeadName != c.headName {
				t.Errorf("base %+v, want HEAD %s on %s", base, git(t, repo, "rev-parse", "HEAD"), c.headName)
			}
			if len(base.Notes) != len(c.notes) {
				t.Errorf("notes %v, want %d", base.Notes, len(c.notes))
			}
			if base.Dirty != nil && base.HeadName == "main" {
				t.Errorf("dirty: %v", base.Dirty)
			}
			for _, want := range c.notes {
				if !strings.Contains((&ledger.InputError{Diagnostics: base.Notes}).Error(), want) {
					t.Errorf("notes %v lack %q", base.Notes, want)
				}
			}
			// Capture, restore and commit have to work from such a repository
			// too, not only the start.
			taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "new.txt", "x\n") })
			if diff := cmp.Diff([]string{"new.txt"}, paths(taken.Files)); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := git(t, repo, "rev-parse", "refs/heads/"+base.Branch); got != done.Commit {
				t.Errorf("branch at %s, want %s", got, done.Commit)
			}
			git(t, repo, "fsck", "--strict", "--no-dangling")
		})
	}
}

func TestBeginAfterUnshallow(t *testing.T) {
	full := shop(t)
	writeFile(t, full, "more.txt", "x\n")
	git(t, full, "add", "-A")
	git(t, full, "commit", "-q", "-m", "more")
	repo := filepath.Join(t.TempDir(), "shallow")
	git(t, full, "clone", "-q", "--depth=1", "file://"+full, repo)
	w := workspace(t, repo)
	begin(t, w, "r1")
	git(t, repo, "fetch", "-q", "--unshallow")
	base, err := w.Begin(t.Context(), ledger.Begin{Run: "r2"})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.gitOurs(t.Context(), "rev-list", "--count", base.Commit); err != nil || n != "2" {
		t.Errorf("our history has %s commits (%v), want 2", n, err)
	}
	if len(base.Notes) != 0 {
		t.Errorf("notes %v, want none", base.Notes)
	}
}

func TestBeginListsDirtyFiles(t *testing.T) {
	repo := shop(t)
	writeFile(t, repo, "README.md", "changed\n")
	writeFile(t, repo, "staged.txt", "x\n")
	git(t, repo, "add", "staged.txt")
	writeFile(t, repo, "new/a.txt", "x\n")
	writeFile(t, repo, "new/b.txt", "x\n")
	writeFile(t, repo, "plan.md", "- [x] **Task 1: A**\n") // changes of the source never lead to a note
	writeFile(t, repo, ".ralph/x.json", "{}")
	writeFile(t, repo, "noise.log", "x\n") // ignored
	writeFile(t, repo, "private/x", "x\n") // ignored on this machine only
	writeFile(t, repo, ".git/info/exclude", "/private\n")
	if err := os.Remove(filepath.Join(repo, "docs/api.md")); err != nil {
		t.Fatal(err)
	}
	before := repoContent(t, repo)
	base := begin(t, workspace(t, repo), "r1")
	if diff := cmp.Diff([]string{"README.md", "docs/api.md", "staged.txt", "new/"}, base.Dirty); diff != "" {
		t.Errorf("dirty (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
		t.Errorf("Begin changed the user's repository (-before +after):\n%s", diff)
	}
}

func TestBeginSparseAndSplitIndexAreNotDirty(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"sparse checkout", []string{"sparse-checkout", "set", "cart"}},
		{"split index", []string{"update-index", "--split-index"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := shop(t)
			git(t, repo, c.args...)
			if base := begin(t, workspace(t, repo), "r1"); len(base.Dirty)+len(base.Notes) > 0 {
				t.Errorf("dirty %v, notes %v, want none", base.Dirty, base.Notes)
			}
		})
	}
}

func TestBeginWithoutIdentity(t *testing.T) {
	repo := shop(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	if base.Author != "nightporter <nightporter@localhost>" || len(base.Notes) != 1 || !strings.Contains(base.Notes[0].Remedy, "git config") {
		t.Errorf("author %q, notes %v", base.Author, base.Notes)
	}
	git(t, repo, "config", "user.name", "Ada <of> the shop.")
	git(t, repo, "config", "user.email", "ada@shop.example")
	if base := begin(t, w, "r1"); base.Author != "Ada of the shop <ada@shop.example>" {
		t.Errorf("author %q", base.Author)
	}
}

func TestBeginGoesOnFromTheLastRun(t *testing.T) {
	// start makes a repository with a first run that left one commit on its
	// branch.
	start := func(t *testing.T) (repo string, w *Workspace, tip string) {
		repo = shop(t)
		w = workspace(t, repo)
		base := begin(t, w, "r1")
		taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/cart.go", "package cart // r1\n") })
		done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
		if err != nil {
			t.Fatal(err)
		}
		return repo, w, done.Commit
	}
	next := ledger.Begin{Run: "r2", Previous: "nightporter/shop/r1"}

	t.Run("HEAD has not moved", func(t *testing.T) {
		_, w, tip := start(t)
		base, err := w.Begin(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		if base.Commit != tip || base.From != "nightporter/shop/r1" {
			t.Errorf("base %+v, want to start at %s", base, tip)
		}
	})
	t.Run("HEAD contains it", func(t *testing.T) {
		repo, w, tip := start(t)
		git(t, repo, "merge", "-q", "--no-ff", "-m", "merged", tip)
		base, err := w.Begin(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		if base.Commit != base.Head || base.From != "" {
			t.Errorf("base %+v, want to start at HEAD", base)
		}
	})
	t.Run("both moved", func(t *testing.T) {
		repo, w, tip := start(t)
		writeFile(t, repo, "README.md", "Two shops.\n")
		git(t, repo, "commit", "-qam", "readme")
		base, err := w.Begin(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		parents, _ := w.gitOurs(t.Context(), "show", "--no-patch", "--format=%P %an <%ae>", base.Commit)
		if parents != tip+" "+base.Head+" "+base.Author {
			t.Errorf("parents and author %s, want %s, %s and %s", parents, tip, base.Head, base.Author)
		}
		for file, want := range map[string]string{"cart/cart.go": "package cart // r1\n", "README.md": "Two shops.\n"} {
			if got, _ := w.Read(t.Context(), base.Tree, file); string(got) != want {
				t.Errorf("%s is %q, want %q", file, got, want)
			}
		}
		if again, err := w.Begin(t.Context(), next); err != nil || again.Commit != base.Commit {
			t.Errorf("again: %s, %v, want %s", again.Commit, err, base.Commit)
		}
	})
	t.Run("conflict", func(t *testing.T) {
		repo, w, _ := start(t)
		writeFile(t, repo, "cart/cart.go", "package cart // mine\n")
		git(t, repo, "commit", "-qam", "mine")
		_, err := w.Begin(t.Context(), next)
		if got := findingsOf(t, err); !strings.Contains(got, "cart/cart.go") || !strings.Contains(got, "--new") {
			t.Errorf("findings %q", got)
		}
		fresh := next
		fresh.Fresh = true
		base, err := w.Begin(t.Context(), fresh)
		if err != nil || base.Commit != base.Head {
			t.Errorf("fresh start: %+v, %v", base, err)
		}
	})
	t.Run("the branch was deleted", func(t *testing.T) {
		repo, w, _ := start(t)
		git(t, repo, "branch", "-q", "-D", "nightporter/shop/r1")
		base, err := w.Begin(t.Context(), next)
		if err != nil || base.Commit != base.Head || len(base.Notes) != 1 {
			t.Errorf("base %+v, %v", base, err)
		}
	})
	t.Run("the run never made one", func(t *testing.T) {
		_, w, _ := start(t)
		base, err := w.Begin(t.Context(), ledger.Begin{Run: "r3", Previous: "nightporter/shop/r2"})
		if err != nil || base.Commit != base.Head || len(base.Notes) != 0 {
			t.Errorf("base %+v, %v", base, err)
		}
	})
}

// TestBeginFindsWhatTheLastRunMade starts a run after somebody changed the last
// run's branch.
func TestBeginFindsWhatTheLastRunMade(t *testing.T) {
	const branch = "nightporter/shop/r1"
	for _, c := range []struct {
		name  string
		do    func(t *testing.T, repo, tip string)
		from  string   // start of the run as messages name it; "" = the run does not start
		want  []string // parts of the refusal or the notes; empty = no notes
		lacks string
	}{
		{"untouched", func(*testing.T, string, string) {}, branch, nil, ""},
		{"added to", func(t *testing.T, repo, tip string) {
			git(t, repo, "switch", "-q", branch)
			git(t, repo, "commit", "-q", "--allow-empty", "-m", "mine")
			git(t, repo, "switch", "-q", "main")
		}, branch, nil, ""},
		{"moved back", func(t *testing.T, repo, tip string) {
			git(t, repo, "branch", "-q", "-f", branch, tip+"~1")
		}, "", []string{branch + " was moved to", "REPO branch -f " + branch + " TIP", "nightporter run --new"}, "fetch"},
		{"moved aside", func(t *testing.T, repo, tip string) {
			git(t, repo, "switch", "-q", branch)
			git(t, repo, "commit", "-q", "--amend", "-m", "my words")
			git(t, repo, "switch", "-q", "main")
		}, "", []string{"branch nightporter-shop-r1-old " + branch + " && git -C REPO branch -f " + branch + " TIP", "--new"}, "fetch"},
		{"moved back and pruned", func(t *testing.T, repo, tip string) {
			git(t, repo, "branch", "-q", "-f", branch, tip+"~1")
			git(t, repo, "reflog", "expire", "--expire=now", "--all")
			git(t, repo, "gc", "-q", "--prune=now")
		}, "", []string{"REPO fetch OURS " + branch + " && git -C REPO branch -f " + branch + " TIP"}, ""},
		{"moved back where it is checked out", func(t *testing.T, repo, tip string) {
			git(t, repo, "worktree", "add", "-q", repo+"-linked", branch)
			git(t, repo+"-linked", "reset", "-q", "--hard", tip+"~1")
		}, "", []string{"git -C REPO-linked merge TIP"}, "branch -f"},
		{"moved back after a merge", func(t *testing.T, repo, tip string) {
			git(t, repo, "merge", "-q", "--no-ff", "-m", "merged", tip)
			git(t, repo, "branch", "-q", "-f", branch, tip+"~1")
		}, "HEAD", nil, ""},
		{"deleted after a merge", func(t *testing.T, repo, tip string) {
			git(t, repo, "merge", "-q", "--no-ff", "-m", "merged", tip)
			git(t, repo, "branch", "-q", "-d", branch)
		}, "HEAD", nil, ""},
		{"deleted after a squash", func(t *testing.T, repo, tip string) {
			git(t, repo, "merge", "-q", "--squash", tip)
			git(t, repo, "commit", "-q", "-m", "squashed")
			git(t, repo, "branch", "-q", "-D", branch)
		}, "HEAD", []string{branch + " of the last run is gone", "not in HEAD by name"}, ""},
		{"deleted unmerged", func(t *testing.T, repo, tip string) {
			git(t, repo, "branch", "-q", "-D", branch)
		}, "HEAD", []string{branch + " of the last run is gone", "REPO fetch OURS " + branch + ":" + branch}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := shop(t)
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/cart.go", "package cart // r1\n") })
			done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
			if err != nil {
				t.Fatal(err)
			}
			c.do(t, repo, done.Commit)
			next := ledger.Begin{Run: "r2", Previous: branch, Tip: done.Commit}
			base, err = w.Begin(t.Context(), next)
			var said, fix string
			if c.from == "" {
				said = findingsOf(t, err)
				input, _ := errors.AsType[*ledger.InputError](err)
				fix = input.Diagnostics[0].Remedy
			} else {
				if err != nil {
					t.Fatal(err)
				}
				if want := git(t, repo, "rev-parse", c.from); base.Commit != want {
					t.Errorf("starts at %s, want %s, %s", base.Commit, c.from, want)
				}
				for _, n := range base.Notes {
					said += n.Text + " " + n.Remedy
				}
			}
			names := strings.NewReplacer("REPO", repo, "OURS", w.gitDir, "TIP", done.Commit[:12])
			for _, want := range c.want {
				if want = names.Replace(want); !strings.Contains(said, want) {
					t.Errorf("said %q, lacks %q", said, want)
				}
			}
			if len(c.want) == 0 && said != "" {
				t.Errorf("said %q, want not a word", said)
			}
			if c.lacks != "" && strings.Contains(said, c.lacks) {
				t.Errorf("said %q, want no %q", said, c.lacks)
			}
			if fix == "" {
				return
			}
			// Both remedies of the refusal have to work.
			fresh := next
			fresh.Fresh = true
			if base, err := w.Begin(t.Context(), fresh); err != nil || base.Commit != base.Head {
				t.Errorf("--new: %+v, %v", base, err)
			}
			command, _, _ := strings.Cut(strings.TrimPrefix(fix, "put it back: "), "   or ")
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
			if base, err := w.Begin(t.Context(), next); err != nil || base.Commit != done.Commit {
				t.Errorf("put back: %+v, %v, want to start at %s", base, err, done.Commit)
			}
		})
	}
}

func TestBeginOfAnotherRepositoryUnderTheSameName(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	begin(t, w, "r1")
	other := t.TempDir()
	git(t, other, "init", "-q", "--object-format=sha256")
	git(t, other, "commit", "-q", "--allow-empty", "-m", "x")
	w2 := workspace(t, other, func(o *Options) { o.State = w.o.State })
	_, err := w2.Begin(t.Context(), ledger.Begin{Run: "r2"})
	if got := findingsOf(t, err); !strings.Contains(got, "sha256") {
		t.Errorf("findings %q", got)
	}
}

func TestBeginWhenAllIsProtected(t *testing.T) {
	w := workspace(t, shop(t), func(o *Options) { o.Protected = []string{"**"} })
	_, err := w.Begin(t.Context(), ledger.Begin{Run: "r1"})
	if got := findingsOf(t, err); !strings.Contains(got, "is protected") {
		t.Errorf("findings %q", got)
	}
}

func commitTask(base ledger.Base, parent, tree string) ledger.CommitTask {
	return ledger.CommitTask{Run: "r1", Branch: base.Branch, Parent: parent, Tree: tree, Subject: "feat: Task 1 - A",
		Footers: "Nightporter-Session: r1-1\nNightporter-Head: abc123", Author: base.Author, Time: "2026-11-20T22:30:00+01:00"}
}
