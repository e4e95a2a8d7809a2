package workspace

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEachFile reads the files that are asked for, in part, and follows no link.
func TestEachFile(t *testing.T) {
	repo := shopWith(t, map[string]string{"web/long.ts": strings.Repeat("x", 100), "web/empty.ts": "", "web/ümlaut.ts": "ü\n"})
	must(t, os.Symlink("/etc/passwd", filepath.Join(repo, "web", "link.ts")))
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", "link")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	got := map[string]string{}
	err := w.EachFile(t.Context(), base.Commit, 10, func(p string) bool { return strings.HasSuffix(p, ".ts") }, func(p string, text []byte) { got[p] = string(text) })
	must(t, err)
	want := map[string]string{"web/cart/view.ts": "view\n", "web/long.ts": "xxxxxxxxxx", "web/empty.ts": "", "web/ümlaut.ts": "ü\n"}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := w.EachFile(t.Context(), "no-such-commit", 10, func(string) bool { return true }, func(string, []byte) {}); err == nil {
		t.Error("no error for what is no commit")
	}
}
