package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestJudge(t *testing.T) {
	cart := ledger.Scope{Task: "`cart`", Allowed: []string{"**"}, Denied: []string{"docs/**"}, Shipped: true}
	move := func(t *testing.T, dir, from, to string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o755))
		must(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
	for _, c := range []struct {
		name            string
		scope           ledger.Scope
		set             func(t *testing.T, repo string) // adds to the repository
		do              func(t *testing.T, dir string)
		files           []string
		outside, refuse []string
		dropped         []string
		holds           map[string]string // expected content of the folder, as described by seen
	}{
		// Renames: the halves are classified independently, and no file is
		// lost.
		{name: "rename inside", scope: cart, do: func(t *testing.T, dir string) {
			move(t, dir, "cart/cart.go", "cart/x/basket.go")
		}, files: []string{"cart/cart.go", "cart/x/basket.go"}, holds: map[string]string{"cart/cart.go": "none", "cart/x/basket.go": "file package cart\n"}},
		{name: "move out with a change", scope: cart, set: func(t *testing.T, repo string) { writeFile(t, repo, "cart/notes.md", "Notes\nof\nmine\n") }, do: func(t *testing.T, dir string) {
			move(t, dir, "cart/notes.md", "web/other.md")
			writeFile(t, dir, "web/other.md", "Notes\nof\nmine\nnow\n")
		}, outside: []string{"cart/notes.md", "web/other.md"}, holds: map[string]string{"cart/notes.md": "file Notes\nof\nmine\n"}},
		{name: "removal beside something new out of scope", scope: cart, do: func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "cart/cart.go")))
			writeFile(t, dir, "web/other.md", "nothing like it\n")
		}, files: []string{"cart/cart.go"}, outside: []string{"web/other.md"}},
		{name: "move out", scope: cart, set: func(t *testing.T, repo string) { writeFile(t, repo, "cart/notes.md", "Notes\n") }, do: func(t *testing.T, dir string) {
			move(t, dir, "cart/notes.md", "web/notes.md")
		}, outside: []string{"cart/notes.md", "web/notes.md"}, holds: map[string]string{"cart/notes.md": "file Notes\n", "web/notes.md": "none"}},
		{name: "move out of nothing but empty files", scope: cart, set: func(t *testing.T, repo string) { writeFile(t, repo, "cart/__init__.py", "") }, do: func(t *testing.T, dir string) {
			move(t, dir, "cart/__init__.py", "web/__init__.py")
		}, files: []string{"cart/__init__.py"}, outside: []string{"web/__init__.py"}},
		{name: "move out of scope for ever", scope: cart, set: func(t *testing.T, repo string) { writeFile(t, repo, "cart/notes.md", "Notes\n") }, do: func(t *testing.T, dir string) {
			move(t, dir, "cart/notes.md", ".ralph/agent/notes.md")
		}, outside: []string{"cart/notes.md"}, dropped: []string{".ralph/agent/notes.md"}, holds: map[string]string{"cart/notes.md": "file Notes\n", ".ralph": "none"}},
		{name: "move in", scope: cart, do: func(t *testing.T, dir string) {
			move(t, dir, "web/app/page.tsx", "cart/page.tsx")
		}, files: []string{"cart/page.tsx"}, outside: []string{"web/app/page.tsx"}, holds: map[string]string{"web/app/page.tsx": "file page\n", "cart/page.tsx": "file page\n"}},
		{name: "moves that depend on each other", scope: cart, set: func(t *testing.T, repo string) {
			writeFile(t, repo, "cart/sub/notes.md", "Notes\n")
			writeFile(t, repo, "cart/other.md", "Other\n")
		}, do: func(t *testing.T, dir string) {
			move(t, dir, "cart/sub/notes.md", "web/notes.md")
			must(t, os.Remove(filepath.Join(dir, "cart/sub")))
			move(t, dir, "cart/other.md", "cart/sub") // cart/sub cannot become a file: cart/sub/notes.md is restored
		}, outside: []string{"cart/other.md", "cart/sub", "cart/sub/notes.md", "web/notes.md"},
			holds: map[string]string{"cart/sub/notes.md": "file Notes\n", "cart/other.md": "file Other\n"}},

		// Modes.
		{name: "made a program", scope: cart, do: func(t *testing.T, dir string) {
			must(t, os.Chmod(filepath.Join(dir, "cart/cart.go"), 0o755))
			must(t, os.Chmod(filepath.Join(dir, "README.md"), 0o755))
			writeFile(t, dir, "cart/new.sh", "x\n")
			must(t, os.Chmod(filepath.Join(dir, "cart/new.sh"), 0o700))
		}, files: []string{"cart/cart.go", "cart/new.sh"}, outside: []string{"README.md"},
			holds: map[string]string{"cart/cart.go": "program package cart\n", "README.md": "file A shop.\n", "cart/new.sh": "program x\n"}},
		{name: "made no program", scope: cart, set: func(t *testing.T, repo string) {
			for _, p := range []string{"cart/run.sh", "web/run.sh"} {
				writeFile(t, repo, p, "x\n")
				must(t, os.Chmod(filepath.Join(repo, p), 0o755))
			}
		}, do: func(t *testing.T, dir string) {
			must(t, os.Chmod(filepath.Join(dir, "cart/run.sh"), 0o644))
			must(t, os.Chmod(filepath.Join(dir, "web/run.sh"), 0o644))
		}, files: []string{"cart/run.sh"}, outside: []string{"web/run.sh"}, holds: map[string]string{"cart/run.sh": "file x\n", "web/run.sh": "program x\n"}},

		// Links.
		{name: "file replaced by a link", scope: cart, do: func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "cart/cart.go")))
			mustLink(t, "../README.md", filepath.Join(dir, "cart/cart.go"))
		}, files: []string{"cart/cart.go"}, holds: map[string]string{"cart/cart.go": "link ../README.md", "README.md": "file A shop.\n"}},
		{name: "file out of scope replaced by a link", scope: cart, do: func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "README.md")))
			mustLink(t, "cart/cart.go", filepath.Join(dir, "README.md"))
		}, outside: []string{"README.md"}, holds: map[string]string{"cart/cart.go": "file package cart\n", "README.md": "file A shop.\n"}},
		{name: "folder out of scope replaced by a link", scope: cart, do: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "web")))
			mustLink(t, "cart", filepath.Join(dir, "web"))
			writeFile(t, dir, "cart/app/page.tsx", "other\n") // web/app/page.tsx is now reached through this link
		}, files: []string{"cart/app/page.tsx"}, outside: []string{"web", "web/.gitignore", "web/app/page.tsx", "web/cart/view.ts"},
			holds: map[string]string{"cart/app/page.tsx": "file other\n", "web/app/page.tsx": "file page\n"}},
		{name: "folder in scope replaced by a link out of it", scope: cart, do: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "cart")))
			mustLink(t, "web/cart", filepath.Join(dir, "cart"))
			writeFile(t, dir, "cart/view.ts", "other\n") // written through the link: classified by the path that the link leads to
		}, files: []string{"cart", "cart/cart.go", "cart/cart_test.go"}, outside: []string{"web/cart/view.ts"},
			holds: map[string]string{"cart": "link web/cart", "web/cart/view.ts": "file view\n"}},
		{name: "folder replaced by a link that leaves", scope: cart, do: func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "cart")))
			mustLink(t, "/tmp", filepath.Join(dir, "cart"))
		}, files: []string{"cart/cart.go", "cart/cart_test.go"}, refuse: []string{"cart  is a symbolic link that leaves the repository: /tmp"}, holds: map[string]string{"cart": "none"}},
		{name: "link replaced by a file", scope: cart, set: func(t *testing.T, repo string) {
			mustLink(t, "../README.md", filepath.Join(repo, "cart/link"))
			mustLink(t, "../README.md", filepath.Join(repo, "web/link"))
		}, do: func(t *testing.T, dir string) {
			for _, p := range []string{"cart/link", "web/link"} {
				must(t, os.Remove(filepath.Join(dir, p)))
				writeFile(t, dir, p, "x\n")
			}
		}, files: []string{"cart/link"}, outside: []string{"web/link"}, holds: map[string]string{"cart/link": "file x\n", "web/link": "link ../README.md", "README.md": "file A shop.\n"}},
		{name: "written through a link", scope: cart, set: func(t *testing.T, repo string) { mustLink(t, "../README.md", filepath.Join(repo, "cart/link")) }, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "cart/link", "other\n")
		}, outside: []string{"README.md"}, holds: map[string]string{"cart/link": "link ../README.md", "README.md": "file A shop.\n"}},
		{name: "link that left already", scope: cart, set: func(t *testing.T, repo string) {
			mustLink(t, "/etc/hosts", filepath.Join(repo, "cart/old"))
			mustLink(t, "/etc/hosts", filepath.Join(repo, "cart/gone"))
			mustLink(t, "/etc/hosts", filepath.Join(repo, "cart/other"))
		}, do: func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "cart/gone")))
			must(t, os.Remove(filepath.Join(dir, "cart/other")))
			mustLink(t, "/etc/passwd", filepath.Join(dir, "cart/other"))
		}, files: []string{"cart/gone"}, refuse: []string{"cart/other  is a symbolic link that leaves the repository: /etc/passwd"}, holds: map[string]string{"cart/old": "link /etc/hosts", "cart/other": "link /etc/hosts"}},

		// Names that some file systems treat as one.
		{name: "case of a file", scope: all, do: func(t *testing.T, dir string) { writeFile(t, dir, "cart/Cart.go", "x\n") },
			refuse: []string{"cart/Cart.go  has the name of cart/cart.go but for its case: one of the two is lost on other systems"}},
		{name: "case of a folder", scope: all, do: func(t *testing.T, dir string) { writeFile(t, dir, "CART/new/x.go", "x\n") },
			refuse: []string{"CART/new/x.go  is in folder CART, which has the name of cart but for its case: one of the two is lost on other systems"}},
		{name: "case of a folder for a file", scope: all, do: func(t *testing.T, dir string) { writeFile(t, dir, "Cart", "x\n") },
			refuse: []string{"Cart  has the name of cart but for its case: one of the two is lost on other systems"}},
		{name: "accents", scope: all, set: func(t *testing.T, repo string) { writeFile(t, repo, "café.md", "x\n") }, do: func(t *testing.T, dir string) { writeFile(t, dir, "cafe\u0301.md", "y\n") },
			refuse: []string{"cafe\u0301.md  has the name of café.md but for how its accents are stored: one of the two is lost on other systems"}},
		{name: "both in the tree already", scope: all, set: func(t *testing.T, repo string) {
			writeFile(t, repo, "Readme.md", "x\n")
			writeFile(t, repo, "CART/x.go", "x\n")
		}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "Readme.md", "1\n")
			writeFile(t, dir, "README.md", "2\n")
			writeFile(t, dir, "CART/y.go", "x\n")
			writeFile(t, dir, "cart/y.go", "x\n")
		}, files: []string{"CART/y.go", "README.md", "Readme.md"}, refuse: []string{"cart/y.go  has the name of CART/y.go but for its case: one of the two is lost on other systems"}},
		{name: "folder renamed by its case", scope: all, do: func(t *testing.T, dir string) { move(t, dir, "cart", "Cart") },
			files: []string{"Cart/cart.go", "Cart/cart_test.go", "cart/cart.go", "cart/cart_test.go"}},
		{name: "renamed by its case where the old one stays", scope: ledger.Scope{Task: "R*.md", Allowed: []string{"**"}, Never: []string{"README.md"}}, do: func(t *testing.T, dir string) {
			move(t, dir, "README.md", "Readme.md")
		}, dropped: []string{"README.md"}, refuse: []string{"Readme.md  has the name of README.md but for its case: one of the two is lost on other systems"}, holds: map[string]string{"README.md": "file A shop.\n"}},
		{name: "out of scope by its case", scope: cart, do: func(t *testing.T, dir string) { writeFile(t, dir, "Cart/x.go", "x\n") }, outside: []string{"Cart/x.go"}},
		{name: "ours in another case", scope: all, do: func(t *testing.T, dir string) { writeFile(t, dir, ".Nightporter/hats/builder.toml", "x\n") }, dropped: []string{".Nightporter/hats/builder.toml"}},

		// Parts of tasks, and paths that a person allowed.
		{name: "a part", scope: ledger.Scope{Task: "web", Within: "web/app, cart", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "web/app/page.tsx", "1\n")
			writeFile(t, dir, "web/cart/view.ts", "1\n")
			writeFile(t, dir, "cart/cart.go", "1\n")
		}, files: []string{"web/app/page.tsx"}, outside: []string{"cart/cart.go", "web/cart/view.ts"}},
		{name: "allowed", scope: ledger.Scope{Task: "cart", Also: []string{"docs/api.md", "plan.md", "**"}, Allowed: []string{"**"}, Denied: []string{"docs/**"}}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "cart/cart.go", "1\n")
			writeFile(t, dir, "docs/api.md", "1\n")
			writeFile(t, dir, "docs/x.md", "1\n")
			writeFile(t, dir, "plan.md", "1\n")
		}, files: []string{"cart/cart.go", "docs/api.md"}, outside: []string{"docs/x.md"}, dropped: []string{"plan.md"}},
		{name: "a writer", scope: ledger.Scope{Task: "cart/cart.go", Allowed: []string{"docs/**"}, Adds: true}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "cart/cart.go", "1\n")
			writeFile(t, dir, "docs/api.md", "1\n")
			writeFile(t, dir, "README.md", "1\n")
		}, files: []string{"cart/cart.go", "docs/api.md"}, outside: []string{"README.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := shop(t)
			if c.set != nil {
				c.set(t, repo)
				git(t, repo, "add", "-A")
				git(t, repo, "commit", "-q", "-m", "more")
			}
			before := repoContent(t, repo)
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			taken := session(t, w, base, "", c.scope, func(dir string) { c.do(t, dir) })
			var refused []string
			for _, f := range taken.Refused {
				refused = append(refused, f.File+"  "+f.Text)
			}
			want := [][]string{c.files, c.dropped, c.outside, c.refuse}
			if diff := cmp.Diff(want, [][]string{paths(taken.Files), taken.Dropped, taken.Outside, refused}); diff != "" {
				t.Errorf("files, dropped, outside, refused (-want +got):\n%s", diff)
			}
			for p, want := range c.holds {
				if got := describePath(t, w.Work(only("r1", "")).Dir, p); got != want {
					t.Errorf("%s is %q, want %q", p, got, want)
				}
			}
			// The folder and the HEAD of its .git equal the tree, by content
			// and mode.
			if got := git(t, w.Work(only("r1", "")).Dir, "-c", "core.quotePath=false", "status", "--porcelain"); got != "" {
				t.Errorf("git status in the work folder says %q", got)
			}
			if got := git(t, w.Work(only("r1", "")).Dir, "rev-parse", "HEAD^{tree}"); got != taken.Tree {
				t.Errorf("HEAD's tree is %s, want %s", got, taken.Tree)
			}
			if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
				t.Errorf("the user's repository changed (-before +after):\n%s", diff)
			}
		})
	}
}

// describePath describes a path: none, a file or program with its content, a
// link with its target.
func describePath(t *testing.T, dir, p string) string {
	t.Helper()
	file := filepath.Join(dir, p)
	info, err := os.Lstat(file)
	if err != nil {
		return "none"
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(file)
		must(t, err)
		return "link " + target
	}
	kind := "file"
	if info.Mode().Perm()&0o100 != 0 {
		kind = "program"
	}
	return fmt.Sprintf("%s %s", kind, readFile(t, dir, p))
}
