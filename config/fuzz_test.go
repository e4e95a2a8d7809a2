package config

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nightporter/nightporter/loop/ledger"
)

// seed adds every shipped file of a kind and the invalid ones of other tests to
// the corpus.
func seed(f *testing.F, kind string) {
	f.Helper()
	entries, err := presets.ReadDir(path.Join("presets", kind))
	if err != nil || len(entries) == 0 {
		f.Fatal(err)
	}
	for _, e := range entries {
		data, err := presets.ReadFile(path.Join("presets", kind, e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	cases, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatal(err)
	}
	for _, name := range cases {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(data).Files {
			if strings.HasPrefix(file.Name, kind+"/") {
				f.Add(file.Data)
			}
		}
	}
}

// FuzzHat: every accepted hat can be used by a session.
func FuzzHat(f *testing.F) {
	seed(f, hatFolder)
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, _ := parseDocument("hat.toml", data)
		if doc == nil {
			return
		}
		name, parsed, problems := readHat(doc)
		if len(problems) > 0 {
			return
		}
		h := parsed.hat
		if name == "" || h.Name != name || !nameForm.MatchString(name) || name == ledger.Converged {
			t.Errorf("name %q, %q", name, h.Name)
		}
		if h.Prompt == "" || len(h.Emits) == 0 || h.MaxTokens < 1000 || h.Timeout <= 0 || h.StallTimeout <= 0 || h.MaxCostUSD < 0 {
			t.Errorf("%+v", h)
		}
		for _, e := range h.Emits {
			if e == ledger.EventQuestion || e == ledger.EventBlocked || !h.MayEmit(e) {
				t.Errorf("emits %q", e)
			}
		}
		for _, floor := range Floor() {
			if !slices.Contains(h.Denied, floor) {
				t.Errorf("does not deny %q", floor)
			}
		}
		if h.Expect == "" || h.Expect != ledger.ExpectNone && !h.Writes() || h.OwnScope && !h.Writes() {
			t.Errorf("expects %q, own scope %v, writes %q", h.Expect, h.OwnScope, h.WriteAllowed)
		}
		for _, g := range slices.Concat(h.WriteAllowed, h.WriteDenied) {
			if !doublestar.ValidatePattern(g) || path.IsAbs(g) || slices.Contains(strings.Split(g, "/"), "..") {
				t.Errorf("glob %q", g)
			}
		}
		for _, l := range h.Load {
			if l == "" || !filepath.IsLocal(l) {
				t.Errorf("loads %q", l)
			}
		}
	})
}

// FuzzPattern: in every accepted pattern, each reachable hat has a route for
// each of its events, on both sides of the threshold and whatever came before.
// Every pattern can be drawn.
func FuzzPattern(f *testing.F) {
	seed(f, patternFolder)
	hats, err := Hats(Empty(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, _ := parseDocument("pattern.toml", data)
		if doc == nil {
			return
		}
		_, file, problems := readPattern(doc)
		checkWidth(t, Draw(file.pattern, hats)) // an invalid one, too
		if len(problems) > 0 || len(file.check(catalogue{hats: hats})) > 0 {
			return
		}
		p := file.pattern
		always := func(string) int { return 100 }
		for _, name := range hatsInOrder(p) {
			h, ok := hats[name]
			if !ok {
				t.Fatalf("comes to %q, which is no hat", name)
			}
			for _, event := range h.Emits {
				for _, above := range []bool{true, false} {
					for _, been := range []func(string) int{never, always} {
						if p.Next(name, event, above, been) == "" {
							t.Errorf("no way from %s by %s, above %v, been %v", name, event, above, been(""))
						}
					}
				}
			}
			if !reach(p, name)[ledger.Converged] {
				t.Errorf("no way from %s to %s", name, ledger.Converged)
			}
		}
		if page := RoutesTable(hats, map[string]ledger.Pattern{p.Name: p}); strings.Contains(page, "| nowhere |") {
			t.Errorf("drawn wrongly:\n%s", page)
		}
	})
}
