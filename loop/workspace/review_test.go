package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// commitAll commits a checkout as it is, and returns the commit in w's
// repository.
func commitAll(t *testing.T, w *Workspace, repo, run string) string {
	t.Helper()
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", run)
	base, err := w.Begin(t.Context(), ledger.Begin{Run: run, Fresh: true})
	must(t, err)
	return base.Head
}

// TestChanges covers every kind of change that git tells apart, on real trees.
func TestChanges(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	writeFile(t, repo, "logo.png", "a\x00b")
	writeFile(t, repo, "run.sh", "#!/bin/sh\nexit 3\n")
	writeFile(t, repo, "link", "a file that becomes a link\n")
	writeFile(t, repo, "old name_test.go", strings.Repeat("a line of a test\n", 30))
	writeFile(t, repo, ".gitattributes", "*.go diff=trap -text\n*.md -diff\n* filter=trap\n")
	from := commitAll(t, w, repo, "r1")
	must(t, os.Remove(filepath.Join(repo, "cart/cart_test.go")))
	must(t, os.Chmod(filepath.Join(repo, "run.sh"), 0o755))
	must(t, os.Remove(filepath.Join(repo, "link")))
	must(t, os.Symlink("README.md", filepath.Join(repo, "link")))
	must(t, os.Rename(filepath.Join(repo, "old name_test.go"), filepath.Join(repo, "z\tnew \xff.txt")))
	writeFile(t, repo, "logo.png", "a\x00c")
	writeFile(t, repo, "README.md", "A shop.\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n")
	writeFile(t, repo, "a_new.go", "package a\r\n")
	to := commitAll(t, w, repo, "r2")
	list, err := w.Changes(t.Context(), from, to, 1<<20)
	must(t, err)
	var got []string
	for _, c := range list {
		head, _, _ := strings.Cut(c.Patch, "\n")
		got = append(got, fmt.Sprintf("%s %q %q %d %d %d %s", c.Status, c.From, c.Path, c.Added, c.Removed, strings.Count(c.Patch, "\n"), head))
	}
	want := []string{
		`modified "" "README.md" 4 0 10 diff --git a/README.md b/README.md`,
		`new "" "a_new.go" 1 0 7 diff --git a/a_new.go b/a_new.go`,
		`deleted "" "cart/cart_test.go" 0 1 7 diff --git a/cart/cart_test.go b/cart/cart_test.go`,
		`changed type "" "link" 1 1 15 diff --git a/link b/link`,
		`modified "" "logo.png" -1 -1 3 diff --git a/logo.png b/logo.png`,
		`changed mode "" "run.sh" 0 0 3 diff --git a/run.sh b/run.sh`,
		`renamed "old name_test.go" "z\tnew ` + "\uFFFD" + `.txt" 0 0 4 diff --git a/old name_test.go "b/z\tnew ` + "\uFFFD" + `.txt"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range list {
		if c.Path == "README.md" && !strings.Contains(c.Patch, "+diff --git a/x b/x\n") || c.Path == "a_new.go" && !strings.HasSuffix(c.Patch, "+package a\r\n") {
			t.Errorf("patch of %s:\n%s", c.Path, c.Patch)
		}
	}
	if list, err := w.Changes(t.Context(), to, to, 1<<20); err != nil || len(list) != 0 {
		t.Errorf("no change: %v, %v", list, err)
	}
	if _, err := w.Changes(t.Context(), from, strings.Repeat("1", 40), 1<<20); err == nil {
		t.Error("changes of a tree that is not there")
	}
}

// TestChangesLimit: the limit cuts off new files first, and no file takes the
// space of all.
func TestChangesLimit(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	line := strings.Repeat("x", 60) + "\n"
	writeFile(t, repo, "b_big.txt", strings.Repeat(line, 4000))
	writeFile(t, repo, "c_big.txt", strings.Repeat(line, 4000))
	from := commitAll(t, w, repo, "r1")
	for n := range 12 {
		writeFile(t, repo, fmt.Sprintf("a_new%02d.go", n), strings.Repeat(fmt.Sprintf("// %d %s", n, line), 4000))
	}
	must(t, os.Remove(filepath.Join(repo, "b_big.txt")))
	writeFile(t, repo, "c_big.txt", strings.Repeat("y"+line, 4000))
	writeFile(t, repo, "minified.js", strings.Repeat("z", 1<<20)+"\nlast\n")
	must(t, os.Remove(filepath.Join(repo, "cart/cart_test.go")))
	writeFile(t, repo, "web/cart/view.ts", "changed\n")
	to := commitAll(t, w, repo, "r2")
	const limit = 256 << 10
	list, err := w.Changes(t.Context(), from, to, limit)
	must(t, err)
	sizes, all := map[string]int{}, 0
	for _, c := range list {
		sizes[c.Path] = len(c.Patch)
		all += len(c.Patch)
		if c.Patch != "" && !strings.HasSuffix(c.Patch, "\n") {
			t.Errorf("the patch of %s ends within a line", c.Path)
		}
	}
	if len(list) != 17 || all > limit || all < limit*3/4 {
		t.Errorf("%d files, %d bytes of %d", len(list), all, limit)
	}
	for path, least := range map[string]int{"cart/cart_test.go": 100, "web/cart/view.ts": 100, "b_big.txt": limit/8 - 100, "c_big.txt": limit/8 - 100} {
		if sizes[path] < least || sizes[path] > limit/8 {
			t.Errorf("%s has %d bytes of patch", path, sizes[path])
		}
	}
	if sizes["a_new11.go"] != 0 {
		t.Error("the last new file has a patch beyond the limit")
	}
	if sizes["minified.js"] > 1000 {
		t.Errorf("a line of 1 MB gave %d bytes", sizes["minified.js"])
	}
}
