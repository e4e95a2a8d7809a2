package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestCapture(t *testing.T) {
	cart := ledger.Scope{Task: "`cart`", Allowed: []string{"**"}, Denied: []string{"docs/**"}, Shipped: true, Never: []string{"plan.md"}}
	for _, c := range []struct {
		name                            string
		scope                           ledger.Scope
		do                              func(t *testing.T, dir string)
		files, dropped, outside, refuse []string
		lock                            bool
	}{
		{name: "nothing", scope: all, do: func(*testing.T, string) {}},
		{name: "changed, new, deleted, renamed", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "README.md", "Two\nlines\n")
			writeFile(t, dir, "new/a.go", "x\n")
			must(t, os.Remove(filepath.Join(dir, "web/app/page.tsx")))
			must(t, os.Rename(filepath.Join(dir, "cart/cart.go"), filepath.Join(dir, "cart/basket.go")))
		}, files: []string{"README.md", "cart/basket.go", "cart/cart.go", "new/a.go", "web/app/page.tsx"}},
		{name: "odd names", scope: all, do: func(t *testing.T, dir string) {
			for _, name := range []string{"a b", "ä", "-x", `q"uote`, "line\nend", ":(top)x", "star*", "tab\t"} {
				writeFile(t, dir, name, "x\n")
			}
		}, files: []string{"-x", ":(top)x", "a b", "line\nend", `q"uote`, "star*", "tab\t", "ä"}},
		{name: "mode and link", scope: all, do: func(t *testing.T, dir string) {
			must(t, os.Chmod(filepath.Join(dir, "README.md"), 0o755))
			must(t, os.Symlink("README.md", filepath.Join(dir, "readme-link")))
			must(t, os.Symlink("../cart/cart.go", filepath.Join(dir, "web/cart.go")))
		}, files: []string{"README.md", "readme-link", "web/cart.go"}},
		{name: "file and folder swapped", scope: all, do: func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "go.mod")))
			writeFile(t, dir, "go.mod/x", "x\n")
			must(t, os.RemoveAll(filepath.Join(dir, "cart")))
			writeFile(t, dir, "cart", "x\n")
		}, files: []string{"cart", "cart/cart.go", "cart/cart_test.go", "go.mod", "go.mod/x"}},
		{name: "folder becomes link", scope: all, do: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "cart")))
			must(t, os.Symlink("web/cart", filepath.Join(dir, "cart")))
		}, files: []string{"cart", "cart/cart.go", "cart/cart_test.go"}},
		{name: "rights", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "closed/x", "x\n")
			writeFile(t, dir, "cart/cart.go", "package cart // changed\n")
			must(t, os.Chmod(filepath.Join(dir, "cart/cart.go"), 0))
			must(t, os.Chmod(filepath.Join(dir, "README.md"), 0o222))
			must(t, os.Chmod(filepath.Join(dir, "cart"), 0o311))
			must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
		}, files: []string{"cart/cart.go", "closed/x"}},
		{name: "out of scope", scope: cart, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "cart/new.go", "x\n")
			writeFile(t, dir, "web/cart/view.ts", "other\n")
			writeFile(t, dir, "README.md", "other\n")
			must(t, os.Remove(filepath.Join(dir, "web/app/page.tsx")))
		}, files: []string{"cart/new.go"}, outside: []string{"README.md", "web/app/page.tsx", "web/cart/view.ts"}},
		{name: "never in scope", scope: cart, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "cart/new.go", "x\n")
			writeFile(t, dir, "plan.md", "- [x] **Task 1: A**\n")
			writeFile(t, dir, "plan.progress.md", "x\n")
			writeFile(t, dir, ".ralph/agent/memories.md", "x\n")
			writeFile(t, dir, ".nightporter/hats/builder.toml", "x\n")
		}, files: []string{"cart/new.go"}, dropped: []string{".nightporter/hats/builder.toml", ".ralph/agent/memories.md", "plan.md", "plan.progress.md"}},
		{name: "denied", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "docs/api.md", "other\n")
			writeFile(t, dir, "web/docs/x.md", "x\n")
		}, files: []string{"web/docs/x.md"}, outside: []string{"docs/api.md"}},
		{name: "ignored stays out", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "node_modules/x/index.js", "x\n")
			writeFile(t, dir, "a.log", "x\n")
			writeFile(t, dir, "web/keep.log", "x\n")
		}, files: []string{"web/keep.log"}},
		{name: "its own ignore rules uncover nothing", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "")
			writeFile(t, dir, "node_modules/x/index.js", "x\n")
		}, files: []string{".gitignore"}},
		{name: "lockfile", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "web/package-lock.json", "{}\n")
		}, files: []string{"web/package-lock.json"}, lock: true},
		{name: "manifest", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "go.mod", "module other\n")
		}, files: []string{"go.mod"}, lock: true},
		{name: "companions", scope: ledger.Scope{Task: "go.mod, web/app/page.test.tsx", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "go.mod", "module other\n")
			writeFile(t, dir, "go.sum", "x\n")
			writeFile(t, dir, "web/app/__snapshots__/page.test.tsx.snap", "x\n")
			writeFile(t, dir, "web/app/__snapshots__/other.test.tsx.snap", "x\n")
			writeFile(t, dir, "web/package-lock.json", "{}\n")
		}, files: []string{"go.mod", "go.sum", "web/app/__snapshots__/page.test.tsx.snap"},
			outside: []string{"web/app/__snapshots__/other.test.tsx.snap", "web/package-lock.json"}, lock: true},
		{name: "half of a swap", scope: ledger.Scope{Task: "`web/cart`, `web/app`", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "web")))
			writeFile(t, dir, "web", "a file\n") // web/.gitignore is out of scope and is restored
		}, files: []string{"web/app/page.tsx", "web/cart/view.ts"}, outside: []string{"web", "web/.gitignore"}},
		{name: "other half of a swap", scope: ledger.Scope{Task: "`go.mod/x`", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "go.mod")))
			writeFile(t, dir, "go.mod/x", "x\n")
		}, outside: []string{"go.mod", "go.mod/x"}},
		{name: "links that leave", scope: all, do: func(t *testing.T, dir string) {
			for name, target := range map[string]string{"abs": "/etc/passwd", "up": "../x", "cart/up": "../../x", "cart/in": "../README.md",
				"cart/turn": "../web/../../x", "git": ".git/config", "deep": "a/../../../x"} {
				must(t, os.Symlink(target, filepath.Join(dir, name)))
			}
		}, files: []string{"cart/in"}, refuse: []string{"abs", "cart/turn", "cart/up", "deep", "git", "up"}},
		{name: "special files", scope: all, do: func(t *testing.T, dir string) {
			must(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
			must(t, os.Remove(filepath.Join(dir, "go.mod")))
			must(t, unix.Mkfifo(filepath.Join(dir, "go.mod"), 0o644))
			writeFile(t, dir, "ok.txt", "x\n")
		}, files: []string{"ok.txt"}, refuse: []string{"fifo", "go.mod"}},
		{name: "pipes that git would open", scope: all, do: func(t *testing.T, dir string) {
			must(t, unix.Mkfifo(filepath.Join(dir, ".gitattributes"), 0o644))
			must(t, unix.Mkfifo(filepath.Join(dir, "cart/.gitattributes"), 0o644))
			writeFile(t, dir, "cart/cart.go", "package cart // changed\n")
		}, files: []string{"cart/cart.go"}, refuse: []string{".gitattributes", "cart/.gitattributes"}},
		{name: "a 2 GB file", scope: all, do: func(t *testing.T, dir string) {
			f, err := os.Create(filepath.Join(dir, "huge.bin"))
			must(t, err)
			must(t, f.Truncate(2<<30))
			must(t, f.Close())
			must(t, os.Truncate(filepath.Join(dir, "README.md"), 51<<20))
		}, refuse: []string{"README.md", "huge.bin"}},
		{name: "nested repository", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "nested/x", "x\n")
			git(t, filepath.Join(dir, "nested"), "init", "-q")
			writeFile(t, dir, "file/.git", "gitdir: ../.git\n")
		}, files: []string{"nested/x"}, refuse: []string{"file/.git", "nested/.git"}},
		{name: "names", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "Readme.md", "x\n")
			writeFile(t, dir, "bad\xff", "x\n")
			writeFile(t, dir, ".GIT/config", "x\n")
			writeFile(t, dir, "sub/git~1", "x\n")
			writeFile(t, dir, "one/a", "x\n")
			writeFile(t, dir, "one/A", "x\n")
		}, files: []string{"one/A"}, refuse: []string{".GIT", "Readme.md", "bad\uFFFD", "one/a", "sub/git~1"}},
		{name: "renamed by case only", scope: all, do: func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "README.md"), filepath.Join(dir, "Readme.md")))
		}, files: []string{"README.md", "Readme.md"}},
		{name: "attributes", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitattributes", "*.txt working-tree-encoding=UTF-16\n*.id ident\n*.crlf text eol=crlf\n*.lf text\n")
			writeFile(t, dir, "a.txt", "\xff\xfe\xff")
			writeFile(t, dir, "a.id", "$Id$\n")
			writeFile(t, dir, "a.crlf", "x\r\ny\r\n")
			writeFile(t, dir, "a.lf", "x\r\ny\n")
		}, files: []string{".gitattributes", "a.crlf", "a.id", "a.lf", "a.txt"}},
		{name: "committed by the agent", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "cart/cart.go", "package cart // 1\n")
			git(t, dir, "checkout", "-q", "-b", "main")
			git(t, dir, "commit", "-qam", "mine")
			writeFile(t, dir, "cart/cart.go", "package cart // 2\n")
			git(t, dir, "commit", "-qam", "mine too")
			git(t, dir, "branch", "-D", "nightporter")
		}, files: []string{"cart/cart.go"}},
		{name: "all deleted", scope: all, do: func(t *testing.T, dir string) {
			entries, err := os.ReadDir(dir)
			must(t, err)
			for _, e := range entries {
				must(t, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
			writeFile(t, dir, "node_modules/x/index.js", "ignored\n")
		}, refuse: []string{""}},
		{name: "all deleted, and one written", scope: all, do: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			writeFile(t, dir, "cart/new.go", "x\n")
		}, refuse: []string{""}},
		{name: "the folder is gone", scope: ledger.Scope{Task: "cart", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
		}, refuse: []string{""}},
		{name: "a file in place of the folder", scope: all, do: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.WriteFile(dir, nil, 0o644))
		}, refuse: []string{""}},
		{name: "all of its scope deleted", scope: cart, do: func(t *testing.T, dir string) { // the task may want that
			must(t, os.RemoveAll(filepath.Join(dir, "cart")))
		}, files: []string{"cart/cart.go", "cart/cart_test.go"}},
		{name: "all moved", scope: ledger.Scope{Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			for _, name := range shopFiles {
				to := filepath.Join(dir, "app", name)
				must(t, os.MkdirAll(filepath.Dir(to), 0o755))
				must(t, os.Rename(filepath.Join(dir, name), to))
			}
		}, files: []string{".gitignore", "README.md", "app/.gitignore", "app/README.md", "app/cart/cart.go", "app/cart/cart_test.go", "app/docs/api.md", "app/go.mod", "app/plan.md",
			"app/web/.gitignore", "app/web/app/page.tsx", "app/web/cart/view.ts", "cart/cart.go", "cart/cart_test.go", "docs/api.md", "go.mod", "web/.gitignore", "web/app/page.tsx", "web/cart/view.ts"},
			dropped: []string{"plan.md"}, lock: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "file and folder swapped" {
				c.lock = true // go.mod was removed
			}
			repo := shop(t)
			before := repoContent(t, repo)
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			taken := session(t, w, base, "", c.scope, func(dir string) { c.do(t, dir) })
			var refused []string
			for _, f := range taken.Refused {
				refused = append(refused, f.File)
				if f.Text == "" || f.Remedy == "" {
					t.Errorf("refused %+v does not say why, or what to do", f)
				}
			}
			if diff := cmp.Diff([][]string{c.files, c.dropped, c.outside, c.refuse}, [][]string{paths(taken.Files), taken.Dropped, taken.Outside, refused}); diff != "" {
				t.Errorf("files, dropped, outside, refused (-want +got):\n%s\n%v", diff, taken.Refused)
			}
			if taken.Lock != c.lock {
				t.Errorf("lock %v, want %v", taken.Lock, c.lock)
			}
			// The folder holds exactly the tree, so that verification sees the
			// files that will be committed.
			entries, err := w.listTree(t.Context(), taken.Tree)
			must(t, err)
			var want []string
			for _, e := range entries {
				want = append(want, e.path)
			}
			var got []string
			for _, p := range files(t, w.Work(only("r1", "")).Dir) {
				if !strings.Contains(p, "node_modules/") && !strings.HasSuffix(p, "a.log") {
					got = append(got, p)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the work folder is not the tree (-tree +folder):\n%s", diff)
			}
			if got := git(t, w.Work(only("r1", "")).Dir, "status", "--porcelain"); got != "" && got != "?? node_modules/" {
				t.Errorf("git status in the work folder says %q", got)
			}
			recorded, err := w.gitOurs(t.Context(), "rev-parse", "refs/nightporter/shop/r1/task-1/a1/s1^{tree}")
			if err != nil || recorded != taken.Tree {
				t.Errorf("recorded tree %s (%v), want %s", recorded, err, taken.Tree)
			}
			if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
				t.Errorf("the user's repository changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestCaptureRefusesDevicesAndSockets(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	var want []string
	taken := session(t, w, base, "", all, func(dir string) {
		short := filepath.Join(t.TempDir(), "s") // the length of a socket's path is limited, so it is created here and moved like a file
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		must(t, err)
		defer unix.Close(fd)
		must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: short}))
		must(t, os.Rename(short, filepath.Join(dir, "cart/socket")))
		want = append(want, "cart/socket  is a socket")
		if os.Geteuid() == 0 {
			must(t, unix.Mknod(filepath.Join(dir, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
			want = append(want, "null  is a device")
		} else {
			t.Log("no device in this test: making one needs root")
		}
	})
	var got []string
	for _, f := range taken.Refused {
		got = append(got, f.File+"  "+f.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(shopFiles, files(t, w.Work(only("r1", "")).Dir)); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
}

// TestCaptureAgainSaysTheSame repeats a capture that a crash cut off after it
// had undone changes: the result is the same, although the folder no longer
// shows them.
func TestCaptureAgainSaysTheSame(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	scope := ledger.Scope{Task: "cart/", Allowed: []string{"**"}}
	first := session(t, w, base, "", scope, func(dir string) {
		writeFile(t, dir, "cart/a.go", "x\n")
		writeFile(t, dir, "README.md", "other\n")
		must(t, os.Symlink("/etc", filepath.Join(dir, "cart/etc")))
	})
	again, err := w.Capture(t.Context(), captureRequest(base, base.Tree, scope))
	must(t, err)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("again (-first +again):\n%s", diff)
	}
	if len(again.Outside) != 1 || len(again.Refused) != 1 {
		t.Errorf("%+v", again)
	}
	// The next session in the folder gets its own result.
	second := session(t, w, base, first.Tree, scope, func(dir string) { writeFile(t, dir, "cart/b.go", "x\n") })
	if diff := cmp.Diff([]string{"cart/b.go"}, paths(second.Files)); diff != "" {
		t.Errorf("second session (-want +got):\n%s", diff)
	}
}

// TestCaptureLeavesWhatTheRestoreKept checks that ignored files of verification
// or setup, which match a rule made by the attempt itself, do not count as the
// next session's work.
func TestCaptureLeavesWhatTheRestoreKept(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	first := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, ".gitignore", "node_modules/\n*.log\n/build\n") })
	writeFile(t, w.Work(only("r1", "")).Dir, "build/out.o", "x\n") // by verification
	second := session(t, w, base, first.Tree, all, func(dir string) {
		if got := readFile(t, dir, "build/out.o"); got != "x\n" {
			t.Errorf("build/out.o is %q after the restore", got)
		}
		writeFile(t, dir, "cart/a.go", "x\n")
	})
	if diff := cmp.Diff([]string{"cart/a.go"}, paths(second.Files)); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

func TestCaptureRefusesRefsThatAreNotItsRuns(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	for _, ref := range []string{"", "refs/heads/main", "refs/nightporter/shop/r2/x"} {
		q := captureRequest(base, base.Tree, all)
		q.Ref = ref
		if _, err := w.Capture(t.Context(), q); err == nil {
			t.Errorf("ref %q was accepted", ref)
		}
	}
}
