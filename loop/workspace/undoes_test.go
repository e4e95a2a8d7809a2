package workspace

import (
	"slices"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUndoes: what is said before a write is what the capture does after it.
func TestUndoes(t *testing.T) {
	repo := shopWith(t, map[string]string{".gitignore": "*.log\n/build/\n", "web/.gitignore": "/dist/\n"})
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	scope := ledger.Scope{Task: "`cart`, `package.json`", Allowed: []string{"**"}, Never: []string{"plan.md"}}
	written := []string{
		"cart/cart.go", "cart/new.go", "README.md", "web/app/page.tsx", "new.txt", "-x", "ä b.txt", ":(top)x", "*.lo", // in scope, and out of it
		"package-lock.json",                            // with its manifest
		"cart/CLAUDE.md", "cart/.claude/settings.json", // run by themselves
		"build/a.o", "night.log", "web/x.log", "web/dist/page.js", // ignored
		"plan.md", ".ralph/agent/memories.md", // dropped without a word
	}
	captured := session(t, w, base, base.Tree, scope, func(dir string) {
		for _, p := range written {
			writeFile(t, dir, p, "stray\n")
		}
	})
	if len(captured.Outside) != 9 || len(captured.Files) != 3 {
		t.Fatalf("outside %q, files %v", captured.Outside, captured.Files)
	}
	for _, p := range append(written, ".", "../other/x", "/etc/passwd", "cart/../README.md") {
		undone, err := w.Undoes(t.Context(), only("r1", base.Tree), base.Tree, scope, p)
		if want := slices.Contains(captured.Outside, p) || p == "cart/../README.md"; undone != want || err != nil {
			t.Errorf("%s is undone: %v, want %v (%v)", p, undone, want, err)
		}
	}
}
