package ledger

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseScope(t *testing.T) {
	g := func(s string) ScopeItem { return ScopeItem{s, ScopeGlob} }
	p := func(s string) ScopeItem { return ScopeItem{s, ScopePath} }
	w := func(s string) ScopeItem { return ScopeItem{s, ScopeWord} }
	x := func(s string) ScopeItem { return ScopeItem{s, ScopeProse} }
	bad := func(s string) ScopeItem { return ScopeItem{s, ScopeBad} }
	for _, c := range []struct {
		in   string
		want []ScopeItem
	}{
		{"", nil},
		{"none", nil},
		{"None.", nil},
		{" - ", nil},
		{"n/a", nil},
		{"none (docs come later)", nil},
		{"`cloud/functions/payments`", []ScopeItem{p("cloud/functions/payments")}},
		{"`src/a`, `src/b`", []ScopeItem{p("src/a"), p("src/b")}},
		{"`src/a` and `src/b`", []ScopeItem{p("src/a"), p("src/b")}},
		{"`src/a` `src/b`", []ScopeItem{p("src/a"), p("src/b")}},
		{"src/a, src/b; src/c", []ScopeItem{p("src/a"), p("src/b"), p("src/c")}},
		{"src/a and src/b.", []ScopeItem{p("src/a"), p("src/b")}},
		{"- `a/b`\n- `c.go`", []ScopeItem{p("a/b"), p("c.go")}},
		{"* a/b\r\n+ c.go", []ScopeItem{p("a/b"), p("c.go")}},
		{"payment", []ScopeItem{w("payment")}},
		{"auth, payment", []ScopeItem{w("auth"), w("payment")}},
		{"the `auth` package", []ScopeItem{w("auth")}},
		{"src/**/*.go", []ScopeItem{g("src/**/*.go")}},
		{"`src/{a,b}/x.go`, c/?.go", []ScopeItem{g("src/{a,b}/x.go"), g("c/?.go")}},
		{"src/{a,b}/x.go", []ScopeItem{g("src/{a,b}/x.go")}},
		{"src/{a, src/b", []ScopeItem{g("src/{a"), p("src/b")}},
		{"./src/a", []ScopeItem{p("src/a")}},
		{"./gradlew", []ScopeItem{p("gradlew")}}, // no name of a folder somewhere
		{"`./a file`", []ScopeItem{p("a file")}},
		{"src//a/./b", []ScopeItem{p("src/a/b")}},
		{"src/a/", []ScopeItem{g("src/a/**")}},
		{"internal/...", []ScopeItem{g("internal/**")}},
		{"./...", []ScopeItem{g("**")}},
		{".", []ScopeItem{g("**")}},
		{"Makefile, Dockerfile, README", []ScopeItem{p("Makefile"), p("Dockerfile"), p("README")}},
		{".gitignore, go.mod, package.json", []ScopeItem{p(".gitignore"), p("go.mod"), p("package.json")}},
		{"src/auth (only the login, nothing else)", []ScopeItem{p("src/auth")}},
		{"`src/auth` (login), `src/user`(profile)", []ScopeItem{p("src/auth"), p("src/user")}},
		{"app/(shop)/page.tsx", []ScopeItem{p("app/(shop)/page.tsx")}},
		{"app/(shop)", []ScopeItem{p("app/(shop)")}},
		{"`app/[id]/page.tsx`", []ScopeItem{g("app/[id]/page.tsx")}},
		{"`my docs/a b.txt`", []ScopeItem{p("my docs/a b.txt")}},
		{"whatever it takes in the checkout", []ScopeItem{x("whatever it takes in the checkout")}},
		{"search and replace", []ScopeItem{x("search and replace")}},
		{"`src/a` but not its tests", []ScopeItem{p("src/a"), x("but not its tests")}},
		{"https://example.org/x", []ScopeItem{x("https://example.org/x")}},
		{"src\\win\\a", []ScopeItem{x("src\\win\\a")}},
		{"/etc/passwd", []ScopeItem{bad("/etc/passwd")}},
		{"..", []ScopeItem{bad("..")}},
		{"../other", []ScopeItem{bad("../other")}},
		{"src/../../other", []ScopeItem{bad("src/../../other")}},
		{"~/x", []ScopeItem{bad("~/x")}},
		{`C:\x`, []ScopeItem{bad(`C:\x`)}},
		{"!docs/**", []ScopeItem{bad("!docs/**")}},
		{".git/config", []ScopeItem{bad(".git/config")}},
		{"sub/.GIT/hooks", []ScopeItem{bad("sub/.GIT/hooks")}},
		{"src/a, src/a", []ScopeItem{p("src/a")}},
		{"`src/a", []ScopeItem{x("`src/a")}},
		{"v1.2", []ScopeItem{w("v1.2")}},
		{"...", []ScopeItem{x("...")}},
		{",,;\n,", nil},
	} {
		if d := cmp.Diff(c.want, ParseScope(c.in)); d != "" {
			t.Errorf("ParseScope(%q): (-want +got)\n%s", c.in, d)
		}
	}
}

// TestParseScopeLong checks that the cost of hostile text is linear in its
// length.
func TestParseScopeLong(t *testing.T) {
	for _, s := range []string{"(", "`", "{a", "a(b) ", "() ", "a,", "a and "} {
		ParseScope(strings.Repeat(s, 1<<20/len(s)))
	}
}

func FuzzParseScope(f *testing.F) {
	for _, s := range []string{"`a`, b/c (d), {e,f}", "(", "`", "[,]", "./..", "a/.../b", "- - x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, i := range ParseScope(s) {
			if i.Text == "" {
				t.Errorf("%q: an empty item of kind %s", s, i.Kind)
			}
			if i.Kind == ScopePath || i.Kind == ScopeGlob || i.Kind == ScopeWord {
				if strings.HasPrefix(i.Text, "/") || i.Text == ".." || strings.HasPrefix(i.Text, "../") || strings.Contains(i.Text, "/../") || strings.HasSuffix(i.Text, "/..") {
					t.Errorf("%q: %q leaves the repository", s, i.Text)
				}
			}
		}
	})
}
