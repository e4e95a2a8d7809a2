package glob

import (
	"strings"
	"testing"
	"time"
)

func TestIntersect(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"**", "**", true}, {"a", "a", true}, {"a", "b", false}, {"a/**", "a/b", true}, {"a/**", "b/**", false}, {"a/**", "a", true},
		{"**/*.go", "src/auth/**", true}, {"**/*.go", "src/*.ts", false}, {"**/x/**/y", "a/**/b/y", true}, {"*/b", "a/*", true}, {"*", "a/b", false},
		{"a*c", "*bc", true}, {"a*", "*b*", true}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"[a-c]x", "bx", true}, {"[a-c]x", "dx", false},
		{"[!a]x", "ax", false}, {"[!a]x", "[ab]x", true}, {"[ab]", "[cd]", false}, {`\*`, "a", false}, {`\*`, "*", true}, {`a\*b`, "a*b", true},
		{"src/{a,b}/x", "src/b/*", true}, {"src/{a,b}/x", "src/c/*", false}, {"{a,b/{c,d}}/e", "b/d/**", true}, {"x{,y}", "x", true},
		{"**/a/**", "**/b/**", true}, {"a/**/b", "a/b", true}, {"a/b", "a/b/c", false}, {"é*", "?x", true}, {"*.snap", "x.*", true},
	} {
		for _, p := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			got, ok := Intersect(p[0], p[1])
			if ok != c.want {
				t.Errorf("meet(%q, %q) = %q, %v; want %v", p[0], p[1], got, ok, c.want)
			}
			if ok && (!Match(c.a, got) || !Match(c.b, got)) {
				t.Errorf("meet(%q, %q) = %q, which one of them does not match", p[0], p[1], got)
			}
		}
	}
}

// TestIntersectEndsSoon limits the time for hostile globs: a session writes the
// plan that contains them.
func TestIntersectEndsSoon(t *testing.T) {
	began := time.Now()
	for _, p := range [][2]string{
		{strings.Repeat("**/", 40) + "x", strings.Repeat("**/a/", 20) + "y"}, {strings.Repeat("a*", 100), strings.Repeat("*b", 100) + "c"},
		{strings.Repeat("{a,b}", 40), strings.Repeat("{c,d}", 40)}, {strings.Repeat("{", 1000), strings.Repeat("*", 1<<20)}, {"[", "a"}, {`\`, "a"},
	} {
		Intersect(p[0], p[1])
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzMeet(f *testing.F) {
	f.Add("a/**", "a/b*")
	f.Add("{a,b}/[x-z]?", `a/\y*`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 30 || len(b) > 30 {
			return
		}
		if p, ok := Intersect(a, b); ok && (!Match(a, p) || !Match(b, p)) {
			t.Errorf("meet(%q, %q) = %q, which one of them does not match", a, b, p)
		}
		if Match(a, "x/y") && Match(b, "x/y") && !strings.ContainsAny(a+b, `\[{`) {
			if _, ok := Intersect(a, b); !ok {
				t.Errorf("meet(%q, %q) finds nothing, and x/y is there", a, b)
			}
		}
	})
}
