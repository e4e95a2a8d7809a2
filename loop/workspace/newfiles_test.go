package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// fill makes n small files in a folder, 100 in each folder below it.
func fill(t testing.TB, dir string, n int) {
	t.Helper()
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("p%d", i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.js", i)), fmt.Appendf(nil, "// %s\nmodule.exports = %d\n", filepath.Base(dir), i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// objects returns the number of objects in our repository.
func objects(t *testing.T, w *Workspace) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(git(t, w.gitDir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// TestCaptureLeavesOutTooManyNewFiles checks that new files above the bound are
// counted and left out, that nothing of them is stored, that the rest is captured,
// and what the answers of a person do.
func TestCaptureLeavesOutTooManyNewFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		scope   ledger.Scope
		max     int
		take    []string
		leave   []string
		do      func(t *testing.T, dir string)
		files   []string // that are captured; those that fill made are left out
		filled  int      // files that fill made and that are captured
		tooMany []ledger.NewFiles
		stored  int // objects at most
		there   []string
	}{
		{name: "a forgotten ignore rule", scope: all, max: 50, do: func(t *testing.T, dir string) {
			fill(t, filepath.Join(dir, "node_modules2"), 300)
			writeFile(t, dir, "cart/new.go", "package cart\n")
		}, files: []string{"cart/new.go"}, tooMany: []ledger.NewFiles{{Path: "node_modules2", Files: 300}}, stored: 6, there: []string{"node_modules2/p0/f0.js"}},
		{name: "in a new package", scope: all, max: 50, do: func(t *testing.T, dir string) {
			fill(t, filepath.Join(dir, "shop2/venv/lib"), 300)
			writeFile(t, dir, "shop2/main.py", "print()\n")
		}, files: []string{"shop2/main.py"}, tooMany: []ledger.NewFiles{{Path: "shop2/venv", Files: 300}}, stored: 6},
		{name: "the largest alone", scope: all, max: 150, do: func(t *testing.T, dir string) {
			fill(t, filepath.Join(dir, "small"), 100)
			fill(t, filepath.Join(dir, "web/large"), 200)
		}, filled: 100, tooMany: []ledger.NewFiles{{Path: "web/large", Files: 200}}, stored: 120},
		{name: "in a folder that was there", scope: all, max: 50, do: func(t *testing.T, dir string) {
			for i := range 60 {
				writeFile(t, dir, fmt.Sprintf("cart/x%d.go", i), "package cart\n")
			}
			writeFile(t, dir, "cart/cart.go", "package cart // changed\n")
		}, files: []string{"cart/cart.go"}, tooMany: []ledger.NewFiles{{Path: "cart", Files: 60}}, stored: 6},
		{name: "as many as allowed", scope: all, max: 300, do: func(t *testing.T, dir string) { fill(t, filepath.Join(dir, "gen"), 300) }, filled: 300, stored: 400},
		{name: "any number", scope: all, max: -1, do: func(t *testing.T, dir string) { fill(t, filepath.Join(dir, "gen"), 300) }, filled: 300, stored: 400},
		{name: "taken by a person", scope: all, max: 50, take: []string{"gen"}, do: func(t *testing.T, dir string) { fill(t, filepath.Join(dir, "gen"), 300) }, filled: 300, stored: 400},
		{name: "left out by a person, and few now", scope: all, max: 50, leave: []string{"gen"}, do: func(t *testing.T, dir string) {
			fill(t, filepath.Join(dir, "gen"), 10)
			writeFile(t, dir, "cart/new.go", "package cart\n")
		}, files: []string{"cart/new.go"}, stored: 6, there: []string{"gen/p0/f0.js"}},
		{name: "left out by a person, and many again", scope: all, max: 50, leave: []string{"cart"}, do: func(t *testing.T, dir string) {
			for i := range 60 {
				writeFile(t, dir, fmt.Sprintf("cart/x%d.go", i), "package cart\n")
			}
		}, stored: 6},
		{name: "out of scope", scope: ledger.Scope{Task: "`cart`", Allowed: []string{"**"}}, max: 50, do: func(t *testing.T, dir string) {
			fill(t, filepath.Join(dir, "gen"), 300)
			writeFile(t, dir, "cart/new.go", "package cart\n")
		}, files: []string{"cart/new.go"}, stored: 6},
		{name: "a folder that is renamed", scope: all, max: 3, do: func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "web"), filepath.Join(dir, "site")))
		}, files: []string{"site/.gitignore", "site/app/page.tsx", "site/cart/view.ts", "web/.gitignore", "web/app/page.tsx", "web/cart/view.ts"}, stored: 10},
		{name: "moved out of scope among many", scope: ledger.Scope{Task: "`cart`", Allowed: []string{"**"}}, do: func(t *testing.T, dir string) {
			fill(t, filepath.Join(dir, "gen"), maxMoves+1)
			must(t, os.Rename(filepath.Join(dir, "cart/cart.go"), filepath.Join(dir, "gen/cart.go")))
		}, stored: 10, there: []string{"cart/cart.go"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workspace(t, shopWith(t, map[string]string{"cart/cart.go": "package cart\n\n// Total sums up.\nfunc Total() int { return 1 }\n"}))
			base := begin(t, w, "r1")
			must(t, w.Restore(t.Context(), only("r1", base.Tree)))
			before := objects(t, w)
			c.do(t, w.Work(only("r1", "")).Dir)
			q := captureRequest(base, base.Tree, c.scope)
			q.MaxNew, q.TakeAll, q.LeaveOut = c.max, c.take, c.leave
			for range 2 { // the same again, as after a crash
				taken, err := w.Capture(t.Context(), q)
				must(t, err)
				var got []string
				filled := 0
				for _, p := range paths(taken.Files) {
					if strings.HasSuffix(p, ".js") {
						filled++
					} else {
						got = append(got, p)
					}
				}
				if diff := cmp.Diff(c.files, got); diff != "" || filled != c.filled {
					t.Errorf("captured %d files of fill, want %d; others (-want +got):\n%s", filled, c.filled, diff)
				}
				if diff := cmp.Diff(c.tooMany, taken.TooMany); diff != "" {
					t.Errorf("too many (-want +got):\n%s", diff)
				}
				if n := objects(t, w) - before; n > c.stored {
					t.Errorf("%d objects were stored, want at most %d", n, c.stored)
				}
				for _, p := range c.there {
					if readFile(t, w.Work(only("r1", "")).Dir, p) == "(none)" {
						t.Errorf("%s is gone", p)
					}
				}
			}
		})
	}
}

// TestCaptureStores checks that the contents of very many files go into one pack,
// and of few into no pack.
func TestCaptureStores(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	packs := func() int {
		found, err := filepath.Glob(filepath.Join(w.gitDir, "objects/pack/*.pack"))
		must(t, err)
		return len(found)
	}
	before := packs()
	session(t, w, base, "", all, func(dir string) { fill(t, filepath.Join(dir, "gen"), maxLoose/2) })
	if packs() != before {
		t.Error("few files made a pack")
	}
	taken := session(t, w, base, "", all, func(dir string) {
		fill(t, filepath.Join(dir, "gen"), 3*maxLoose)
		writeFile(t, dir, ".gitattributes", "*.txt text eol=lf\n")
		writeFile(t, dir, "gen/a.txt", "one\r\ntwo\r\n")
	})
	if packs() != before+1 || len(taken.Files) != 3*maxLoose+2 {
		t.Errorf("%d packs for %d files, want one", packs()-before, len(taken.Files))
	}
	if text, err := w.Read(t.Context(), taken.Tree, "gen/a.txt"); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("a file with converted line ends holds %q, %v", text, err)
	}
}

// TestCaptureStops checks that the capture of very many files ends soon after its
// context, at whatever point, and works afterwards.
func TestCaptureStops(t *testing.T) {
	const n, within = 3_000, 2 * time.Second
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	fill(t, filepath.Join(w.Work(only("r1", "")).Dir, "gen"), n)
	q := captureRequest(base, base.Tree, all)
	q.MaxNew = -1
	stop := errors.New("stopped")
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 150 * time.Millisecond, 500 * time.Millisecond} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var asked time.Time
		timer := time.AfterFunc(after, func() { asked = time.Now(); cancel(stop) })
		_, err := w.Capture(ctx, q)
		if timer.Stop() {
			break // it was faster
		}
		if took := time.Since(asked); !errors.Is(err, stop) || took > within {
			t.Errorf("stopped after %s: took %s more, want at most %s: %v", after, took, within, err)
		}
	}
	taken, err := w.Capture(t.Context(), q)
	must(t, err)
	if len(taken.Files) != n {
		t.Errorf("captured %d files, want %d", len(taken.Files), n)
	}
}
