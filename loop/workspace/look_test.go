package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLook compares Look with Begin, and checks that it writes nothing.
func TestLook(t *testing.T) {
	repo := shop(t)
	before := repoContent(t, repo)
	w := workspace(t, repo)
	got, err := w.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Join(w.o.State, "repos")); err != nil || len(entries) > 0 {
		t.Errorf("Look made %v, %v in our folder", entries, err)
	}
	base := begin(t, w, "r1")
	want := ledger.Base{Head: base.Head, HeadName: base.HeadName, Author: base.Author, Notes: base.Notes}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("unlike Begin (-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, repoContent(t, repo)); d != "" {
		t.Errorf("Look changed the user's repository (-before +after):\n%s", d)
	}
	git(t, repo, "switch", "-q", "--detach")
	got, err = w.Look(t.Context())
	if err != nil || got.HeadName != "detached" || len(got.Notes) != 1 || !strings.Contains(got.Notes[0].Text, "HEAD is detached") {
		t.Errorf("%+v, %v", got, err)
	}

	_, err = workspace(t, filepath.Join(repo, "cart")).Look(t.Context())
	var in *ledger.InputError
	if !errors.As(err, &in) || !strings.Contains(err.Error(), "is a folder inside the repository") {
		t.Errorf("a folder inside: %v", err)
	}
}

// TestTreeIsAskedForOnce checks that the tree of a full hash costs one process,
// and that of a name, which moves, one each time.
func TestTreeIsAskedForOnce(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	ref := w.hiddenRef("r1", "base")
	for _, treeish := range []string{base.Commit, base.Tree, ref} {
		if got, err := w.tree(t.Context(), treeish); err != nil || got != base.Tree {
			t.Fatalf("tree of %s: %s, %v, want %s", treeish, got, err, base.Tree)
		}
	}
	w.program = "/bin/false"
	for _, treeish := range []string{base.Commit, base.Tree} {
		if got, err := w.tree(t.Context(), treeish); err != nil || got != base.Tree {
			t.Errorf("asked again for %s: %s, %v", treeish, got, err)
		}
	}
	if got, err := w.tree(t.Context(), ref); err == nil {
		t.Errorf("%s is remembered as %s", ref, got)
	}
}
