package workspace

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

var (
	tomorrow  = time.Now().Add(24 * time.Hour)
	yesterday = time.Now().Add(-24 * time.Hour)
)

func TestMerge(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	writeFile(t, repo, "README.md", "theirs\n")
	git(t, repo, "commit", "-qam", "theirs")
	next, err := w.Begin(t.Context(), ledger.Begin{Run: "r2"})
	must(t, err)
	clean := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/a.go", "x\n") })
	got, err := w.Merge(t.Context(), ledger.MergeTree{Run: "r1", Base: base.Commit, Tree: clean.Tree, Onto: next.Head})
	must(t, err)
	files, err := w.changed(t.Context(), next.Head, got.Tree)
	must(t, err)
	if diff := cmp.Diff([]string{"cart/a.go"}, paths(files)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	clash := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "README.md", "ours\n") })
	got, err = w.Merge(t.Context(), ledger.MergeTree{Run: "r1", Base: base.Commit, Tree: clash.Tree, Onto: next.Head})
	must(t, err)
	if diff := cmp.Diff(ledger.Merged{Conflicts: []string{"README.md"}}, got); diff != "" {
		t.Errorf("conflict (-want +got):\n%s", diff)
	}
	if _, err := w.Merge(t.Context(), ledger.MergeTree{Run: "r1", Base: base.Commit, Tree: clash.Tree, Onto: strings.Repeat("1", 40)}); err == nil {
		t.Error("a merge onto nothing went well")
	}
}

// TestMergeOntoTree lays a change on a tree that no branch has: the change of
// another attempt on the same commit.
func TestMergeOntoTree(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	one := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/a.go", "a\n") })
	two := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/b.go", "b\n") })
	clash := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/a.go", "another\n") })
	m := ledger.MergeTree{Run: "r1", Base: base.Commit, Tree: two.Tree, Onto: base.Commit, OntoTree: one.Tree}
	got, err := w.Merge(t.Context(), m)
	must(t, err)
	files, err := w.changed(t.Context(), base.Commit, got.Tree)
	must(t, err)
	if diff := cmp.Diff([]string{"cart/a.go", "cart/b.go"}, paths(files)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if again, err := w.Merge(t.Context(), m); err != nil || again.Tree != got.Tree {
		t.Errorf("again: %s, %v, want %s", again.Tree, err, got.Tree)
	}
	m.Tree = clash.Tree
	got, err = w.Merge(t.Context(), m)
	must(t, err)
	if diff := cmp.Diff(ledger.Merged{Conflicts: []string{"cart/a.go"}}, got); diff != "" {
		t.Errorf("conflict (-want +got):\n%s", diff)
	}
	m.Tree, m.OntoTree = one.Tree, strings.Repeat("1", 40)
	if _, err := w.Merge(t.Context(), m); err == nil {
		t.Error("a merge onto no tree went well")
	}
}

func TestFiles(t *testing.T) {
	repo := shop(t)
	writeFile(t, repo, "CLAUDE.md", "Be kind.\n")
	writeFile(t, repo, "bin.dat", "a\x00b")
	writeFile(t, repo, ".gitattributes", "*.go diff=trap\n")
	mustLink(t, "CLAUDE.md", filepath.Join(repo, "AGENTS.md"))
	mustLink(t, "/etc/passwd", filepath.Join(repo, "out.md"))
	mustLink(t, "loop.md", filepath.Join(repo, "loop.md"))
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-qm", "more")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	for file, want := range map[string]string{"CLAUDE.md": "Be kind.\n", "AGENTS.md": "Be kind.\n", "./cart/cart.go": "package cart\n",
		"cart": "(nil)", "gone": "(nil)", "out.md": "(nil)", "loop.md": "(nil)", "../x": "(nil)", "/etc/passwd": "(nil)", "*.md": "(nil)"} {
		data, err := w.Read(t.Context(), base.Commit, file)
		got := string(data)
		if data == nil {
			got = "(nil)"
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", file, got, err, want)
		}
	}
	if _, err := w.Read(t.Context(), strings.Repeat("1", 40), "x"); err == nil {
		t.Error("reading from no tree went well")
	}
	taken := session(t, w, base, "", all, func(dir string) {
		writeFile(t, dir, "cart/cart.go", "package cart\n"+strings.Repeat("// ümlaut\n", 200))
		writeFile(t, dir, "bin.dat", "b\x00a")
		writeFile(t, dir, "latin.txt", "\xe4\n")
	})
	want := []ledger.FileChange{{Path: "bin.dat", Added: -1, Removed: -1}, {Path: "cart/cart.go", Added: 200}, {Path: "latin.txt", Added: 1}}
	if diff := cmp.Diff(want, taken.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	whole, err := w.Diff(t.Context(), base.Commit, taken.Tree, 0)
	must(t, err)
	if !strings.Contains(whole, "+// ümlaut") || !strings.Contains(whole, "+\uFFFD") || strings.Contains(whole, "cut at") {
		t.Errorf("diff:\n%s", whole)
	}
	cut, err := w.Diff(t.Context(), base.Commit, taken.Tree, 1000)
	must(t, err)
	if body, ok := strings.CutSuffix(cut, "[diff cut at 1000 bytes]\n"); !ok || len(body) > 1000 || !strings.HasPrefix(whole, body) || !strings.HasSuffix(body, "\n") {
		t.Errorf("cut diff:\n%s", cut)
	}
	if none, err := w.Diff(t.Context(), base.Tree, base.Tree, 1000); err != nil || none != "" {
		t.Errorf("no diff: %q, %v", none, err)
	}
}
