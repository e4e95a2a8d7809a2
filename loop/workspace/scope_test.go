package workspace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestResolveScope(t *testing.T) {
	repo := shop(t)
	writeFile(t, repo, "web/app/[id]/page.tsx", "x\n")
	writeFile(t, repo, "café/menu.md", "x\n")
	writeFile(t, repo, "Twin/a.md", "x\n")
	writeFile(t, repo, "twin/a.md", "x\n")
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", "more")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	for _, c := range []struct {
		name        string
		scope       ledger.Scope
		globs       []string
		warns       string // part of the warnings
		fails       string // part of the error
		permits     []string
		permitsNone []string
	}{
		{name: "the hat's", scope: all, globs: []string{"**"}, permits: []string{"new.go", ".hidden", "a/b/c"}, permitsNone: []string{"docs/x.md"}},
		{name: "the project's before the hat's", scope: ledger.Scope{Layout: []string{"cart", "web/"}, Allowed: []string{"**"}},
			globs: []string{"cart", "cart/**", "web/**"}, permits: []string{"cart/x", "web/x/y"}, permitsNone: []string{"README.md", "cartoon/x"}},
		{name: "the task's before the project's", scope: ledger.Scope{Task: "`web/cart`", Layout: []string{"cart"}, Allowed: []string{"**"}},
			globs: []string{"web/cart/**"}, permits: []string{"web/cart/x"}, permitsNone: []string{"cart/x"}},
		{name: "a word", scope: ledger.Scope{Task: "app", Allowed: []string{"**"}}, globs: []string{"web/app/**"}},
		{name: "a word that is a folder at the top", scope: ledger.Scope{Task: "cart", Allowed: []string{"**"}}, globs: []string{"cart/**"}, permitsNone: []string{"web/cart/view.ts"}},
		{name: "a glob", scope: ledger.Scope{Task: "**/*.tsx", Allowed: []string{"**"}}, globs: []string{"**/*.tsx"}, permits: []string{"web/app/page.tsx", "x.tsx"}, permitsNone: []string{"x.ts"}},
		{name: "a glob of folders", scope: ledger.Scope{Task: "web/*", Allowed: []string{"**"}}, globs: []string{"web/*"}, permitsNone: []string{"web/app/page.tsx"}},
		{name: "a glob of folders only", scope: ledger.Scope{Task: "web/a*", Allowed: []string{"**"}}, globs: []string{"web/a*", "web/app/**"}, permits: []string{"web/app/page.tsx"}},
		{name: "a glob that is a name", scope: ledger.Scope{Task: "`web/app/[id]/page.tsx`", Allowed: []string{"**"}}, globs: []string{`web/app/\[id]/page.tsx`}, permits: []string{"web/app/[id]/page.tsx"}, permitsNone: []string{"web/app/i/page.tsx"}},
		{name: "a glob for later", scope: ledger.Scope{Task: "api/*.go", Allowed: []string{"**"}}, globs: []string{"api/*.go"}, warns: "matches nothing yet", permits: []string{"api/x.go"}},
		{name: "a new path", scope: ledger.Scope{Task: "pay/pay.go", Allowed: []string{"**"}}, globs: []string{"pay/pay.go", "pay/pay.go/**"}, permits: []string{"pay/pay.go"}, permitsNone: []string{"pay/x.go"}},
		{name: "prose beside a path", scope: ledger.Scope{Task: "cart/cart.go, whatever the tests need", Allowed: []string{"**"}}, globs: []string{"cart/cart.go"}, warns: "is prose"},
		{name: "prose only", scope: ledger.Scope{Task: "the checkout flow and so on", Allowed: []string{"**"}}, globs: []string{"**"}, warns: "is prose"},
		{name: "a word for nothing", scope: ledger.Scope{Task: "payment", Allowed: []string{"**"}}, warns: "names no folder", fails: `scope "payment" names nothing`},
		{name: "out of the repository", scope: ledger.Scope{Task: "../other/x.go", Allowed: []string{"**"}}, fails: "leaves the repository"},
		{name: "an invalid glob", scope: ledger.Scope{Task: "src/[a", Allowed: []string{"**"}}, fails: "not a valid glob"},
		{name: "an invalid glob of the project", scope: ledger.Scope{Layout: []string{"src/{a"}, Allowed: []string{"**"}}, fails: "not a valid glob"},
		{name: "read-only", scope: ledger.Scope{}, fails: "leaves nothing to write"},
		{name: "the source only", scope: ledger.Scope{Task: "plan.md", Allowed: []string{"**"}}, fails: "leaves nothing to write"},
		{name: "denied whole", scope: ledger.Scope{Allowed: []string{"docs/**"}, Denied: []string{"docs/**"}}, fails: "leaves nothing to write"},
		{name: "denied by a hat of the user's", scope: ledger.Scope{Task: "docs/api.md", Allowed: []string{"**"}, Denied: []string{"docs/**"}}, fails: "leaves nothing to write"},
		{name: "denied by a shipped hat, named by the task", scope: ledger.Scope{Task: "docs/api.md", Allowed: []string{"**"}, Denied: []string{"docs/**"}, Shipped: true}, globs: []string{"docs/api.md"}, permits: []string{"docs/api.md"}, permitsNone: []string{"docs/x.md"}},
		// The scope of a part never exceeds the scope of its task.
		{name: "a new file that is a bare word", scope: ledger.Scope{Task: "./gradlew", Allowed: []string{"**"}}, globs: []string{"gradlew", "gradlew/**"}, permits: []string{"gradlew"}, permitsNone: []string{"src/gradlew"}},
		{name: "a part of a folder", scope: ledger.Scope{Task: "`web/app`, `cart/cart.go`", Within: "`web`, `cart`", Allowed: []string{"**"}},
			globs: []string{"web/app/**", "cart/cart.go"}, permits: []string{"web/app/new.tsx", "cart/cart.go"}, permitsNone: []string{"web/cart/view.ts", "cart/cart_test.go"}},
		{name: "a part wider than its task", scope: ledger.Scope{Task: "`web`", Within: "`web/app`", Allowed: []string{"**"}},
			globs: []string{"web/**"}, permits: []string{"web/app/page.tsx"}, permitsNone: []string{"web/cart/view.ts", "cart/cart.go"}},
		{name: "a part of two globs", scope: ledger.Scope{Task: "**/*_test.go", Within: "`cart`", Allowed: []string{"**"}},
			globs: []string{"**/*_test.go"}, permits: []string{"cart/cart_test.go", "cart/x/y_test.go"}, permitsNone: []string{"cart/cart.go", "x_test.go"}},
		{name: "a part of two globs for later", scope: ledger.Scope{Task: "**/*.sql", Within: "`db/migrations`", Allowed: []string{"**"}},
			globs: []string{"**/*.sql"}, warns: "matches nothing yet", permits: []string{"db/migrations/1.sql"}, permitsNone: []string{"x.sql", "db/migrations/1.go"}},
		{name: "a part half outside", scope: ledger.Scope{Task: "`cart`, `web`", Within: "`cart`", Allowed: []string{"**"}},
			globs: []string{"cart/**"}, warns: `scope "web" of a part is outside its task's scope`, permits: []string{"cart/cart.go"}, permitsNone: []string{"web/app/page.tsx"}},
		{name: "a part outside", scope: ledger.Scope{Task: "`web`", Within: "`cart`", Allowed: []string{"**"}}, fails: "scope \"`web`\" of a part names nothing inside its task's scope \"`cart`\""},
		{name: "a part of other files", scope: ledger.Scope{Task: "**/*.sql", Within: "`cart/*.go`", Allowed: []string{"**"}}, warns: "matches nothing yet", fails: "names nothing inside"},
		{name: "a part with nothing but the source inside", scope: ledger.Scope{Task: "plan.md, cart", Within: "plan.md, web", Allowed: []string{"**"}}, fails: "names nothing inside"},
		{name: "a part without a scope", scope: ledger.Scope{Within: "`cart`", Layout: []string{"web"}, Allowed: []string{"**"}},
			globs: []string{"cart/**"}, permits: []string{"cart/x"}, permitsNone: []string{"web/x"}},
		{name: "a part of a task without a scope", scope: ledger.Scope{Task: "`cart`, `web/app`", Within: "none", Layout: []string{"web"}, Allowed: []string{"**"}},
			globs: []string{"web/app/**"}, warns: "outside what the project and the hat allow", permits: []string{"web/app/x"}, permitsNone: []string{"cart/x", "web/x"}},
		{name: "a part leaves the repository", scope: ledger.Scope{Task: "../x", Within: "`cart`", Allowed: []string{"**"}}, fails: "leaves the repository"},
		{name: "a part lifts what its task lifts", scope: ledger.Scope{Task: "docs/api.md", Within: "docs, cart", Allowed: []string{"**"}, Denied: []string{"docs/**"}, Shipped: true},
			globs: []string{"docs/api.md"}, permits: []string{"docs/api.md"}, permitsNone: []string{"docs/x.md"}},
		{name: "a part lifts nothing by itself", scope: ledger.Scope{Task: "docs/api.md, cart", Within: "none", Allowed: []string{"**"}, Denied: []string{"docs/**"}, Shipped: true},
			globs: []string{"docs/api.md", "cart/**"}, permits: []string{"cart/x"}, permitsNone: []string{"docs/api.md"}},
		{name: "companions of a part", scope: ledger.Scope{Task: "go.mod", Within: "go.mod, cart", Allowed: []string{"**"}}, globs: []string{"go.mod"}, permits: []string{"go.mod", "go.sum"}},
		{name: "companions by the task's manifest only", scope: ledger.Scope{Task: "cart, go.sum", Within: "cart, go.mod", Allowed: []string{"**"}},
			globs: []string{"cart/**"}, permits: []string{"go.sum"}, permitsNone: []string{"go.mod"}},

		// Paths that a person allowed.
		{name: "allowed beside the task's", scope: ledger.Scope{Task: "cart", Also: []string{"web/app/page.tsx", "infra/new.tf"}, Allowed: []string{"**"}},
			globs: []string{"cart/**", "web/app/page.tsx", "infra/new.tf"}, permits: []string{"cart/x", "web/app/page.tsx", "infra/new.tf"}, permitsNone: []string{"web/app/x", "infra/x.tf"}},
		{name: "allowed although denied", scope: ledger.Scope{Allowed: []string{"cart/**"}, Denied: []string{"docs/**"}, Also: []string{"docs/api.md"}},
			globs: []string{"cart/**", "docs/api.md"}, permits: []string{"docs/api.md"}, permitsNone: []string{"docs/x.md"}},
		{name: "allowed is all there is", scope: ledger.Scope{Allowed: []string{"docs/**"}, Denied: []string{"docs/**"}, Also: []string{"docs/api.md"}},
			globs: []string{"docs/**", "docs/api.md"}, permits: []string{"docs/api.md"}},
		{name: "allowed folder", scope: ledger.Scope{Task: "cart", Also: []string{"web", "infra/"}, Allowed: []string{"**"}},
			globs: []string{"cart/**", "web", "web/**", "infra", "infra/**"}, permits: []string{"web/x/y", "infra/x"}, permitsNone: []string{"website"}},
		{name: "allowed is no glob", scope: ledger.Scope{Task: "cart", Also: []string{"**", "web/*", "{a,b}"}, Allowed: []string{"**"}},
			globs: []string{"cart/**", `\*\*`, `web/\*`, `\{a,b}`}, permits: []string{"**", "web/*", "{a,b}"}, permitsNone: []string{"x", "web/x", "a"}},
		{name: "allowed out of the repository", scope: ledger.Scope{Task: "cart", Also: []string{"../x"}, Allowed: []string{"**"}}, globs: []string{"cart/**"}, warns: `allowed path "../x" is not a path inside`},
		{name: "allowed past a part", scope: ledger.Scope{Task: "cart/cart.go", Within: "cart", Also: []string{"go.mod"}, Allowed: []string{"**"}},
			globs: []string{"cart/cart.go", "go.mod"}, permits: []string{"go.mod", "go.sum"}, permitsNone: []string{"README.md"}},
		{name: "allowed but the floor", scope: ledger.Scope{Allowed: []string{"docs/**"}, Denied: []string{"docs/**"}, Also: []string{"plan.md", ".ralph/agent/x.md", ".Nightporter/hats/x.toml", "log.md"}, Never: []string{"log.md"}}, fails: "leaves nothing to write"},

		// Hats whose own scope applies besides the task's.
		{name: "a writer", scope: ledger.Scope{Task: "cart/README.md", Layout: []string{"web"}, Allowed: []string{"docs/**"}, Adds: true},
			globs: []string{"cart/README.md", "cart/README.md/**", "docs/**"}, warns: "", permits: []string{"docs/new.md", "cart/README.md"}, permitsNone: []string{"web/x", "cart/cart.go"}},
		{name: "a writer for a task without a scope", scope: ledger.Scope{Layout: []string{"web"}, Allowed: []string{"docs/**"}, Adds: true}, globs: []string{"docs/**"}, permits: []string{"docs/x"}, permitsNone: []string{"web/x"}},
		{name: "a writer's denials", scope: ledger.Scope{Task: "docs/api.md", Allowed: []string{"docs/**"}, Denied: []string{"docs/api*"}, Shipped: true, Adds: true},
			globs: []string{"docs/api.md", "docs/**"}, permits: []string{"docs/api.md", "docs/x"}, permitsNone: []string{"docs/api2.md"}},
		{name: "a writer of a part", scope: ledger.Scope{Task: "cart, web", Within: "cart", Allowed: []string{"docs/**"}, Adds: true},
			globs: []string{"cart/**", "docs/**"}, warns: "of a part is outside", permits: []string{"docs/x", "cart/x"}, permitsNone: []string{"web/x"}},
		{name: "a writer of a part outside", scope: ledger.Scope{Task: "web", Within: "cart", Allowed: []string{"docs/**"}, Adds: true},
			globs: []string{"docs/**"}, warns: "of a part is outside", permits: []string{"docs/x"}, permitsNone: []string{"cart/x", "web/x"}},

		// Spelling.
		{name: "other case of a folder", scope: ledger.Scope{Task: "Web/APP", Allowed: []string{"**"}}, globs: []string{"web/app/**"}, warns: `scope "Web/APP" is taken for web/app: that is how this repository writes it`},
		{name: "other case of a file", scope: ledger.Scope{Task: "readme.md", Allowed: []string{"**"}}, globs: []string{"README.md"}, warns: "is taken for README.md"},
		{name: "other case above a new file", scope: ledger.Scope{Task: "CART/new.go", Allowed: []string{"**"}}, globs: []string{"cart/new.go", "cart/new.go/**"}, warns: "is taken for cart/new.go"},
		{name: "other case of a glob", scope: ledger.Scope{Task: "Cart/*.go", Allowed: []string{"**"}}, globs: []string{"cart/*.go"}, warns: "is taken for cart/*.go"},
		{name: "other case of a word", scope: ledger.Scope{Task: "APP", Allowed: []string{"**"}}, globs: []string{"web/app/**"}, warns: "is taken for app"},
		{name: "accents stored otherwise", scope: ledger.Scope{Task: "cafe\u0301/menu.md", Allowed: []string{"**"}}, globs: []string{"café/menu.md"}, warns: "is taken for café/menu.md"},
		{name: "other case of two", scope: ledger.Scope{Task: "TWIN/a.md", Allowed: []string{"**"}}, fails: `scope "TWIN/a.md" can be any of Twin, twin`},
		{name: "exact case of two", scope: ledger.Scope{Task: "Twin/a.md", Allowed: []string{"**"}}, globs: []string{"Twin/a.md"}},
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
			if text := (&ledger.InputError{Diagnostics: warnings}).Error(); (c.warns == "") != (len(warnings) == 0) || !strings.Contains(text, c.warns) {
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
	r := &scope{areas: []area{{{"crates/a/**", "web/**", "src/**", "app/go.mod"}}}, deny: []string{"web/denied/**"},
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
