package telegram

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// TestDefuseDomains compares defuse with the regular expression that says what a domain
// is, applied until nothing changes, because matches overlap ("a.bb.cc").
func TestDefuseDomains(t *testing.T) {
	domain := regexp.MustCompile(`([\p{L}\p{N}_-])\.([\p{L}\p{N}_-]*\p{L}{2})`)
	one := func(t rapid.TB, s string) {
		want := s
		for range 2 {
			want = domain.ReplaceAllString(want, "$1."+joiner+"$2")
		}
		if got := defuse(s); got != want {
			t.Fatalf("defuse(%q) = %q, want %q", s, got, want)
		}
		if got := namesDomain(s); got != (want != s) {
			t.Fatalf("namesDomain(%q) = %v", s, got)
		}
	}
	for _, s := range []string{"", ".", "a", "README.md", "a.bb.cc.dd", "a.b.cc", "..aa", "x._é1ß.ωω", "\xff.aa", "a.\xffaa", "v1.2", "a.b1c", "end. Next"} {
		one(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		one(t, rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'é', '.', '.', '-', '_', '٣', ' ', '…', '漢'}), 0, 24, -1).Draw(t, "text"))
	})
}
