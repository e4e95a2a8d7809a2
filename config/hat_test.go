package config

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestShippedHats compares each shipped hat with docs/spec 4.1, 4.2 and 4.6.
func TestShippedHats(t *testing.T) {
	hats, _ := shipped(t)
	all, none := []string{"**"}, []string(nil)
	docs := []string{"docs/**"}
	for name, want := range map[string]struct {
		emits   string
		payload string
		expect  ledger.Expect
		model   string
		allowed []string // nil = read-only
		denied  []string
		own     bool
	}{
		"planner":        {"plan.complete", "summary", ledger.ExpectNone, "strong", none, none, false},
		"builder":        {"build.complete", "summary files_modified", ledger.ExpectPass, "fast", all, docs, false},
		"builder-strict": {"build.complete", "summary files_modified", ledger.ExpectPass, "fast", []string{"src/**", "lib/**"}, []string{"docs/**", "tests/**", "**/*.spec.*"}, false},
		"reviewer":       {"review.verdict", "summary issues", ledger.ExpectNone, "strong", none, none, false},
		"fixer":          {"fix.complete", "summary files_modified resolved", ledger.ExpectPass, "fast", all, docs, false},
		"verifier":       {"verification.passed verification.failed", "checks", ledger.ExpectNone, "strong", none, none, false},
		"writer":         {"docs.complete", "summary files_modified", ledger.ExpectPass, "light", hats["writer"].WriteAllowed, hats["writer"].WriteDenied, true},
		"refactorer":     {"refactor.complete", "summary files_modified", ledger.ExpectPass, "fast", all, docs, false},
		"reproducer":     {"repro.complete", "command root_cause affected_files strategy", ledger.ExpectRepro, "fast", hats["reproducer"].WriteAllowed, none, true},
		"critic":         {"critique.verdict", "verdict sections", ledger.ExpectNone, "strong", none, none, false},
		"architect":      {"advice.complete", "summary advice", ledger.ExpectNone, "strong", none, none, false},
		"triager":        {"triage.verdict", "reports", ledger.ExpectNone, "light", none, none, false},
		"ideas":          {"ideas.complete", "summary added", ledger.ExpectNone, "strong", none, none, false},
		"drafter":        {"draft.complete", "summary tasks", ledger.ExpectNone, "strong", none, none, false},
		"lead":           {"plan.complete", "summary sections requirements acceptance", ledger.ExpectNone, "strong", none, none, false},
		"tester":         {"verification.passed verification.failed", "checks", ledger.ExpectNone, "strong", none, none, false},
		"arbiter":        {"ruling.upheld ruling.dismissed", "summary rulings", ledger.ExpectNone, "strong", none, none, false},
		"evaluator":      {"evaluation.verdict", "ok findings", ledger.ExpectNone, "strong", none, none, false},
	} {
		h, ok := hats[name]
		delete(hats, name)
		if !ok || h.Name != name || !h.Shipped || strings.Join(h.Emits, " ") != want.emits || strings.Join(h.Payload, " ") != want.payload ||
			h.Expect != want.expect || h.Model != want.model || h.OwnScope != want.own {
			t.Errorf("%s: %+v", name, h)
		}
		if !cmp.Equal(h.WriteAllowed, want.allowed) || !cmp.Equal(h.WriteDenied, want.denied) {
			t.Errorf("%s: scope %q minus %q", name, h.WriteAllowed, h.WriteDenied)
		}
		if h.MaxTokens != 40000 || h.Timeout.D() != time.Hour || h.StallTimeout.D() != 15*time.Minute {
			t.Errorf("%s: limits %d %s %s", name, h.MaxTokens, h.Timeout.D(), h.StallTimeout.D())
		}
		load := []string{".ralph/agent/decisions.md", ".ralph/agent/memories.md"}
		if h.Writes() || name == "planner" || name == "lead" {
			load = append(load, ".ralph/agent/scratchpad.md")
		}
		if strings.HasPrefix(name, "builder") || name == "tester" || name == "arbiter" {
			load = append([]string{".ralph/events/latest-plan.json"}, load...)
		}
		if !cmp.Equal(h.Load, load) {
			t.Errorf("%s: loads %q", name, h.Load)
		}
		for _, f := range Floor() {
			if !slices.Contains(h.Denied, f) {
				t.Errorf("%s does not deny %q", name, f)
			}
		}
	}
	if len(hats) > 0 {
		t.Errorf("shipped, and not in the table: %q", slices.Sorted(maps.Keys(hats)))
	}
}

// TestPrompts checks the form of the shipped prompts: they are short, fit a
// terminal's width, and repeat nothing of the prompt's last part.
func TestPrompts(t *testing.T) {
	hats, _ := shipped(t)
	for name, h := range hats {
		t.Logf("%-15s %d bytes", name, len(h.Prompt))
		if n := len(h.Prompt); n < 1500 || n > 3000 {
			t.Errorf("%s: prompt of %d bytes", name, n)
		}
		if strings.Contains(h.Prompt, "hat emit") {
			t.Errorf("%s: how to end is the prompt builder's to say", name)
		}
		for n, line := range strings.Split(h.Prompt, "\n") {
			if utf8.RuneCountInString(line) > 81 {
				t.Errorf("%s: line %d is wider than 81: %s", name, n+1, line)
			}
			if strings.HasSuffix(line, " ") || strings.Contains(line, "!") {
				t.Errorf("%s: line %d: %q", name, n+1, line)
			}
		}
		says := func(words string) bool { return strings.Contains(strings.Join(strings.Fields(h.Prompt), " "), words) }
		switch {
		case name == "triager": // it reads text by strangers, and keeps nothing of it
			if says("hat memory") {
				t.Errorf("%s is told to keep something", name)
			}
		case !says("hat memory add --kind"):
			t.Errorf("%s is not told how to keep something", name)
		case h.Writes() && !says("Your word is not taken for it"):
			t.Errorf("%s is not told that its claims are checked", name)
		case h.Writes() && !says("what else you touch is undone") && !says("Whatever else you touch is undone"):
			t.Errorf("%s is not told what its scope means", name)
		case !h.Writes() && !says("nothing that you write is kept"):
			t.Errorf("%s is not told that it only reads", name)
		}
	}
}

// TestOwnScopes checks where writer and reproducer may write when a task names
// no scope.
func TestOwnScopes(t *testing.T) {
	hats, _ := shipped(t)
	for name, paths := range map[string]map[string]bool{
		"writer": {
			"docs/a/b.html": true, "README.md": true, "pkg/api/README": true, "CHANGELOG.md": true, "CHANGELOG": true, "guide.rst": true,
			"src/a.go": false, "docs.go": false, "AGENTS.md": false, "web/CLAUDE.md": false, ".agents/plans/next.md": false, "package.json": false,
		},
		"reproducer": {
			"cart/cart_test.go": true, "cart/testdata/in.json": true, "src/cart.test.ts": true, "src/__tests__/cart.tsx": true, "web/cart.spec.js": true,
			"tests/test_cart.py": true, "cart/test_cart.py": true, "conftest.py": true, "tests/cart.rs": true, "src/test/java/a/CartTest.java": true,
			"spec/cart_spec.rb": true, "test/cart_test.exs": true, "Tests/CartTests/CartTests.swift": true, "Shop.Tests/CartTests.cs": true,
			"cart/cart.go": false, "src/latest.py": false, "src/contest.rs": false, "src/testing.ts": false, "docs/test.md": false, "go.mod": false,
		},
	} {
		h := hats[name]
		for p, want := range paths {
			got := false
			for _, g := range h.WriteAllowed {
				got = got || doublestar.MatchUnvalidated(g, p)
			}
			for _, g := range h.WriteDenied {
				got = got && !doublestar.MatchUnvalidated(g, p)
			}
			if got != want {
				t.Errorf("%s may write %s: %v", name, p, got)
			}
		}
	}
}

func TestHatFilesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, file string)
		want string
	}{
		"too large": {func(t *testing.T, file string) { write(t, file, strings.Repeat("# large\n", 1<<17)) }, "larger than 256 kB"},
		"FIFO": {func(t *testing.T, file string) {
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
		"folder":      {func(t *testing.T, file string) { write(t, file+"/x", "") }, "not a regular file"},
		"dead link":   {func(t *testing.T, file string) { symlink(t, "nowhere", file) }, "file is missing"},
		"no line end": {func(t *testing.T, file string) { write(t, file, "[hat]\nname = \"x") }, "x.toml:2:9  not TOML"},
		"not UTF-8":   {func(t *testing.T, file string) { write(t, file, "[hat]\nname = \"\xff\"\n") }, "invalid UTF-8"},
		"unknown key": {func(t *testing.T, file string) { write(t, file, "[hat]\nname = \"x\"\nrol = \"r\"\n") }, "     3 | rol = \"r\"\n       | ^^^ meant \"role\"?"},
		"empty":       {func(t *testing.T, file string) { write(t, file, "") }, "a hat needs a name"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := setupSite(t)
			c.make(t, dir+"/hats/x.toml")
			cfg := &Config{File: dir + "/nightporter.toml", dir: "."}
			_, err := Hats(cfg, nil)
			var bad *Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "hats/x.toml") {
				t.Errorf("Hats: %v; want %q", err, c.want)
			}
			// The same hat in a trusted repository.
			if err := os.RemoveAll(dir + "/hats"); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(dir+"/blog/.nightporter/hats", 0o755); err != nil {
				t.Fatal(err)
			}
			c.make(t, dir+"/blog/.nightporter/hats/x.toml")
			_, err = Hats(cfg, &Project{Repo: dir + "/blog", TrustRepo: true})
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "blog/.nightporter/hats/x.toml") {
				t.Errorf("Hats of the repository: %v; want %q", err, c.want)
			}
		})
	}
}
