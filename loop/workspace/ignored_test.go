package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCaptureLeavesOutWhatTheResultIgnores lets one session write ignore rules
// and files, and checks what is captured and what stays in the folder beside it.
func TestCaptureLeavesOutWhatTheResultIgnores(t *testing.T) {
	cart := ledger.Scope{Task: "`cart`", Allowed: []string{"**"}}
	for _, c := range []struct {
		name           string
		scope          ledger.Scope
		do             func(t *testing.T, dir string)
		files, outside []string
		stays          []string // in the folder, not in the tree
	}{
		{name: "installed packages", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "/vendored/\n")
			writeFile(t, dir, "vendored/a/index.js", "x\n")
			writeFile(t, dir, "vendored/a/.gitignore", "!*\n")
			writeFile(t, dir, "main.js", "x\n")
		}, files: []string{".gitignore", "main.js"}, stays: []string{"vendored/a/.gitignore", "vendored/a/index.js"}},
		{name: "a source file is hidden", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "node_modules/\n*.log\nhidden.go\n")
			writeFile(t, dir, "cart/hidden.go", "package cart\n")
			writeFile(t, dir, "cart/seen.go", "package cart\n")
		}, files: []string{".gitignore", "cart/seen.go"}, stays: []string{"cart/hidden.go"}},
		{name: "a tracked file stays tracked", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "cart/\n*.md\n")
			writeFile(t, dir, "cart/cart.go", "package cart // 2\n")
			writeFile(t, dir, "cart/new.go", "package cart\n")
			must(t, os.Remove(filepath.Join(dir, "README.md")))
		}, files: []string{".gitignore", "README.md", "cart/cart.go"}, stays: []string{"cart/new.go"}},
		{name: "a folder that ignores itself", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "venv/.gitignore", "*\n")
			writeFile(t, dir, "venv/lib/x.py", "x\n")
			writeFile(t, dir, "app.py", "x\n")
		}, files: []string{"app.py"}, stays: []string{"venv/.gitignore", "venv/lib/x.py"}},
		{name: "a deeper rule takes one back", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "*.gen\n")
			writeFile(t, dir, "cart/.gitignore", "!keep.gen\n")
			writeFile(t, dir, "cart/a.gen", "x\n")
			writeFile(t, dir, "cart/keep.gen", "x\n")
		}, files: []string{".gitignore", "cart/.gitignore", "cart/keep.gen"}, stays: []string{"cart/a.gen"}},
		{name: "rules out of scope ignore nothing", scope: cart, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "*.go\n")
			writeFile(t, dir, "cart/new.go", "package cart\n")
			writeFile(t, dir, "web/.gitignore", "*\n")
			writeFile(t, dir, "web/new.ts", "x\n")
		}, files: []string{"cart/new.go"}, outside: []string{".gitignore", "web/.gitignore", "web/new.ts"}},
		{name: "what a person allowed", scope: ledger.Scope{Task: "cart", Allowed: []string{"**"}, Also: []string{".gitignore", "pkg/", "pkg/a.js"}}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "pkg/\n")
			writeFile(t, dir, "pkg/a.js", "x\n")
		}, files: []string{".gitignore"}, stays: []string{"pkg/a.js"}},
		{name: "the start's rules hold", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "!*.log\n")
			writeFile(t, dir, "x.log", "x\n")
		}, files: []string{".gitignore"}, stays: []string{"x.log"}},
		{name: "not by .git/info/exclude", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, ".git/info/exclude", "*\n")
			writeFile(t, dir, "new.go", "x\n")
		}, files: []string{"new.go"}},
		{name: "not by a link", scope: all, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "rules", "*.go\n")
			mustLink(t, "../rules", filepath.Join(dir, "cart/.gitignore"))
			writeFile(t, dir, "cart/new.go", "x\n")
		}, files: []string{"cart/.gitignore", "cart/new.go", "rules"}},
		{name: "named by the scope", scope: ledger.Scope{Task: "web, web/node_modules/mine/index.js, app.log", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "web/node_modules/mine/index.js", "x\n")
			writeFile(t, dir, "web/node_modules/mine/other.js", "x\n")
			writeFile(t, dir, "web/node_modules/yours/index.js", "x\n")
			writeFile(t, dir, "app.log", "x\n")
			writeFile(t, dir, "web/b.log", "x\n")
		}, files: []string{"app.log", "web/node_modules/mine/index.js"}, stays: []string{"web/b.log", "web/node_modules/mine/other.js", "web/node_modules/yours/index.js"}},
		{name: "named as a folder", scope: ledger.Scope{Task: "`web/node_modules/`", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "web/node_modules/a/index.js", "x\n")
		}, files: []string{"web/node_modules/a/index.js"}},
		{name: "not named by a glob", scope: ledger.Scope{Task: "`**`", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			writeFile(t, dir, "node_modules/a/index.js", "x\n")
		}, stays: []string{"node_modules/a/index.js"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workspace(t, shop(t))
			base := begin(t, w, "r1")
			taken := session(t, w, base, "", c.scope, func(dir string) { c.do(t, dir) })
			if diff := cmp.Diff([][]string{c.files, c.outside, nil}, [][]string{paths(taken.Files), taken.Outside, taken.Dropped}); diff != "" {
				t.Errorf("files, outside, dropped (-want +got):\n%s", diff)
			}
			entries, err := w.listTree(t.Context(), taken.Tree)
			must(t, err)
			want := slices.Clone(c.stays)
			for _, e := range entries {
				want = append(want, e.path)
			}
			slices.Sort(want)
			got := files(t, w.Work(only("r1", "")).Dir)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the folder is not the tree and %v (-want +got):\n%s", c.stays, diff)
			}
			// The same capture, after a crash, leaves the same folder.
			again, err := w.Capture(t.Context(), captureRequest(base, base.Tree, c.scope))
			must(t, err)
			if diff := cmp.Diff(taken, again); diff != "" {
				t.Errorf("again (-first +again):\n%s", diff)
			}
			left := files(t, w.Work(only("r1", "")).Dir)
			slices.Sort(left)
			if diff := cmp.Diff(got, left); diff != "" {
				t.Errorf("the folder after a repetition (-first +again):\n%s", diff)
			}
		})
	}
}

// TestCaptureForgetsWhatALaterRuleIgnores lets a second session ignore what the
// first of its attempt left as work: it leaves the result and stays in the
// folder. Files of the attempt's start stay tracked.
func TestCaptureForgetsWhatALaterRuleIgnores(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	first := session(t, w, base, "", all, func(dir string) {
		writeFile(t, dir, "pkg/a.js", "x\n")
		writeFile(t, dir, "main.js", "x\n")
	})
	second := session(t, w, base, first.Tree, all, func(dir string) { writeFile(t, dir, ".gitignore", "pkg/\n*.md\n") })
	if diff := cmp.Diff([]string{".gitignore", "pkg/a.js"}, paths(second.Files)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if got := git(t, w.Work(only("r1", "")).Dir, "ls-files", "pkg", "README.md"); got != "README.md" {
		t.Errorf("tracked: %q", got)
	}
	if got := readFile(t, w.Work(only("r1", "")).Dir, "pkg/a.js"); got != "x\n" {
		t.Errorf("pkg/a.js is %q for verification", got)
	}
	third := session(t, w, base, second.Tree, all, func(dir string) {
		if got := readFile(t, dir, "pkg/a.js"); got != "x\n" {
			t.Errorf("pkg/a.js is %q for the next session", got)
		}
		writeFile(t, dir, "pkg/b.js", "x\n")
	})
	if len(third.Files) > 0 {
		t.Errorf("the third session's files: %v", third.Files)
	}
}

// TestRestoreKeepsAFolderThatIgnoresItself checks that an environment whose own
// ignore file hides it is there for every later session of the run, whether or
// not a capture came in between.
func TestRestoreKeepsAFolderThatIgnoresItself(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	first := session(t, w, base, "", all, func(dir string) {
		writeFile(t, dir, "venv/.gitignore", "*\n")
		writeFile(t, dir, "venv/lib/x.py", "x\n")
		writeFile(t, dir, "app.py", "x\n")
	})
	for n := range 3 {
		must(t, w.Restore(t.Context(), only("r1", first.Tree)))
		if got := readFile(t, w.Work(only("r1", "")).Dir, "venv/lib/x.py"); got != "x\n" {
			t.Fatalf("after restore %d venv/lib/x.py is %q", n+1, got)
		}
	}
	second := session(t, w, base, first.Tree, all, func(dir string) { writeFile(t, dir, "app.py", "y\n") })
	if diff := cmp.Diff([]string{"app.py"}, paths(second.Files)); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}
