package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHolding: a tree has a path also as a folder, and as a link to anywhere.
func TestHolding(t *testing.T) {
	repo := shop(t)
	writeFile(t, repo, ".gemini/settings.json", "{}\n")
	must(t, os.Symlink("cart", filepath.Join(repo, ".pi")))
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", "more")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	got, err := w.Holding(t.Context(), base.Tree, []string{".gemini", ".pi", ".qwen", "car", "plan.md", "cart/cart.go"})
	if d := cmp.Diff([]string{".gemini", ".pi", "plan.md", "cart/cart.go"}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if got, err := w.Holding(t.Context(), base.Tree, nil); got != nil || err != nil {
		t.Error(got, err)
	}
}
