package workspace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
)

func TestResolveScope(t *testing.T) {
	repo := shop(t)
	put(t, repo, "web/app/[id]/page.tsx", "x\n")
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", "more")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	for _, c := range []struct {
		name        string
		scope       loop.Scope
		globs       []string
		warns       string // part of the findings
		fails       string // part of the error
		permits     []string
		permitsNone []string
	}{
		{name: "the hat's", scope: all, globs: []string{"**"}, permits: []string{"new.go", ".hidden", "a/b/c"}, permitsNone: []string{"docs/x.md"}},
		{name: "the project's before the hat's", scope: loop.Scope{Layout: []string{"cart", "web/"}, Allowed: []string{"**"}},
			globs: []string{"cart", "cart/**", "web/**"}, permits: []string{"cart/x", "web/x/y"}, permitsNone: []string{"README.md", "cartoon/x"}},
		{name: "the task's before the project's", scope: loop.Scope{Task: "`web/cart`", Layout: []string{"cart"}, Allowed: []string{"**"}},
			globs: []string{"web/cart/**"}, permits: []string{"web/cart/x"}, permitsNone: []string{"cart/x"}},
		{name: "a word", scope: loop.Scope{Task: "app", Allowed: []string{"**"}}, globs: []string{"web/app/**"}},
		{name: "a word that is a folder at the top", scope: loop.Scope{Task: "cart", Allowed: []string{"**"}}, globs: []string{"cart/**"}, permitsNone: []string{"web/cart/view.ts"}},
		{name: "a glob", scope: loop.Scope{Task: "**/*.tsx", Allowed: []string{"**"}}, globs: []string{"**/*.tsx"}, permits: []string{"web/app/page.tsx", "x.tsx"}, permitsNone: []string{"x.ts"}},
		{name: "a glob of folders", scope: loop.Scope{Task: "web/*", Allowed: []string{"**"}}, globs: []string{"web/*"}, permitsNone: []string{"web/app/page.tsx"}},
		{name: "a glob of folders only", scope: loop.Scope{Task: "web/a*", Allowed: []string{"**"}}, globs: []string{"web/a*", "web/app/**"}, permits: []string{"web/app/page.tsx"}},
		{name: "a glob that is a name", scope: loop.Scope{Task: "`web/app/[id]/page.tsx`", Allowed: []string{"**"}}, globs: []string{`web/app/\[id]/page.tsx`}, permits: []string{"web/app/[id]/page.tsx"}, permitsNone: []string{"web/app/i/page.tsx"}},
		{name: "a glob for later", scope: loop.Scope{Task: "api/*.go", Allowed: []string{"**"}}, globs: []string{"api/*.go"}, warns: "matches nothing yet", permits: []string{"api/x.go"}},
		{name: "a new path", scope: loop.Scope{Task: "pay/pay.go", Allowed: []string{"**"}}, globs: []string{"pay/pay.go", "pay/pay.go/**"}, permits: []string{"pay/pay.go"}, permitsNone: []string{"pay/x.go"}},
		{name: "prose beside a path", scope: loop.Scope{Task: "cart/cart.go, whatever the tests need", Allowed: []string{"**"}}, globs: []string{"cart/cart.go"}, warns: "is prose"},
		{name: "prose only", scope: loop.Scope{Task: "the checkout flow and so on", Allowed: []string{"**"}}, globs: []string{"**"}, warns: "is prose"},
		{name: "a word for nothing", scope: loop.Scope{Task: "payment", Allowed: []string{"**"}}, warns: "names no folder", fails: `scope "payment" names nothing`},
		{name: "out of the repository", scope: loop.Scope{Task: "../other/x.go", Allowed: []string{"**"}}, fails: "leaves the repository"},
		{name: "an invalid glob", scope: loop.Scope{Task: "src/[a", Allowed: []string{"**"}}, fails: "not a valid glob"},
		{name: "an invalid glob of the project", scope: loop.Scope{Layout: []string{"src/{a"}, Allowed: []string{"**"}}, fails: "not a valid glob"},
		{name: "read-only", scope: loop.Scope{}, fails: "leaves nothing to write"},
		{name: "the source only", scope: loop.Scope{Task: "plan.md", Allowed: []string{"**"}}, fails: "leaves nothing to write"},
		{name: "denied whole", scope: loop.Scope{Allowed: []string{"docs/**"}, Denied: []string{"docs/**"}}, fails: "leaves nothing to write"},
		{name: "denied by a hat of the user's", scope: loop.Scope{Task: "docs/api.md", Allowed: []string{"**"}, Denied: []string{"docs/**"}}, fails: "leaves nothing to write"},
		{name: "denied by a shipped hat, named by the task", scope: loop.Scope{Task: "docs/api.md", Allowed: []string{"**"}, Denied: []string{"docs/**"}, Shipped: true}, globs: []string{"docs/api.md"}, permits: []string{"docs/api.md"}, permitsNone: []string{"docs/x.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings, err := w.ResolveScope(t.Context(), base.Tree, c.scope)
			if c.fails != "" {
				if found := findingsOf(t, err); !strings.Contains(found, c.fails) {
					t.Errorf("findings %q lack %q", found, c.fails)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.globs, got); diff != "" {
				t.Errorf("globs (-want +got):\n%s", diff)
			}
			if text := (&loop.InputError{Findings: warnings}).Error(); (c.warns == "") != (len(warnings) == 0) || !strings.Contains(text, c.warns) {
				t.Errorf("warnings %q, want %q", text, c.warns)
			}
			if c.fails != "" {
				return
			}
			r, _, err := w.resolve(t.Context(), base.Tree, c.scope)
			must(t, err)
			for _, p := range c.permits {
				if !r.permits(p) {
					t.Errorf("%s is not permitted", p)
				}
			}
			for _, p := range c.permitsNone {
				if r.permits(p) {
					t.Errorf("%s is permitted", p)
				}
			}
		})
	}
}

func TestCompanions(t *testing.T) {
	r := &scope{allow: []string{"crates/a/**", "web/**", "src/**", "app/go.mod"}, deny: []string{"web/denied/**"},
		files: []string{"Cargo.toml", "crates/a/Cargo.toml", "web/package.json", "other/package.json", "src/lib.rs"}}
	for p, want := range map[string]bool{
		"Cargo.lock": true, "package-lock.json": true, "web/yarn.lock": true, "web/denied/yarn.lock": false, "other/package-lock.json": false,
		"go.sum": false, "app/go.sum": true, "src/snapshots/lib__x.snap": true, "snapshots/x.snap": false, "Gemfile.lock": false,
	} {
		if got := r.permits(p); got != want {
			t.Errorf("%s: %v, want %v", p, got, want)
		}
	}
}

func TestLeavesRepo(t *testing.T) {
	for _, c := range []struct {
		from, target string
		want         bool
	}{
		{"a", "b", false}, {"a/b", "../c", false}, {"a/b", "../../c", true}, {"a", "/etc", true}, {"a", "..", true}, {"a/b", "..", false},
		{"a/b", "c/../../d", true}, {"a", "./b//c", false}, {"a", "", true}, {"a/b", "../.git/config", true}, {"a", "x/.GIT", true}, {"a/b/c", "../../d", false},
	} {
		if got := leavesRepo(c.from, c.target); got != c.want {
			t.Errorf("%s → %s: %v, want %v", c.from, c.target, got, c.want)
		}
	}
}

func TestDotGit(t *testing.T) {
	for name, want := range map[string]bool{".git": true, ".GIT": true, ".git.": true, ".git ": true, "git~1": true, ".g\u200cit": true, //nolint:gocritic // a blank at the end is what it is about
		".git:stream": true, ".gitignore": false, "git": false, ".github": false, "x.git": false} {
		if got := dotGit(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
