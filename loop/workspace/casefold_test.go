package workspace

import "testing"

func TestFoldName(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"README.md", "readme.MD", true}, {"src/Auth", "SRC/auth", true}, {"a", "b", false}, {"a/b", "a_b", false},
		{"caf\u00e9", "cafe\u0301", true}, {"CAF\u00c9", "cafe\u0301", true}, {"caf\u00e9", "cafe", false}, {"caf\u00e9", "cafe\u0300", false},
		{"Vi\u1ec7t", "Vie\u0323\u0302t", true}, {"\u1ea4", "a\u0302\u0301", true}, {"\u0419", "\u0438\u0306", true}, {"\u304c", "\u304b\u3099", true},
		{"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af", true}, {"\uac00", "\u1100\u1161", true}, {"\u212a", "k", true}, {"\u03c3", "\u03c2", true},
		{"bad\xff", "bad\xff", true},
	} {
		if got := foldName(c.a) == foldName(c.b); got != c.same {
			t.Errorf("%q and %q: the same is %v, want %v", c.a, c.b, got, c.same)
		}
	}
}
