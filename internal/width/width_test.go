package width_test

import (
	"testing"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/width"
)

func TestOf(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "plain": 5, "漢字": 4, "ｆｕｌｌ": 8, "한글": 4,
		"e\u0301": 1, "e\u0301\u0301\u0301\u0301": 1, // one letter and its marks
		"👍": 2, "👍🏽": 2, "👩‍👩‍👧": 2, "🇩🇪": 2, // one sign each, of several runes
		"שלום": 4, "مرحبا": 5, "שָׁלוֹם": 4, // right to left, with and without points
		"✓✗●○◐‖…→│─": 10,
	} {
		if got := width.Of(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		s          string
		n          int
		head, last string
	}{
		{"plain", 3, "pla", "ain"},
		{"plain", 0, "", ""},
		{"plain", 9, "plain", "plain"},
		{"漢字漢", 3, "漢", "漢"}, // half a character is none
		{"ae\u0301b", 2, "ae\u0301", "e\u0301b"},
		{"a👩‍👩‍👧b", 2, "a", "b"},
		{"a👩‍👩‍👧b", 3, "a👩‍👩‍👧", "👩‍👩‍👧b"},
	} {
		if head, rest := width.Split(c.s, c.n); head != c.head || head+rest != c.s {
			t.Errorf("Split(%q, %d) = %q, %q", c.s, c.n, head, rest)
		}
		if last := width.Last(c.s, c.n); last != c.last {
			t.Errorf("Last(%q, %d) = %q, want %q", c.s, c.n, last, c.last)
		}
	}
}

// FuzzSplit: no part is wider than asked for, and nothing is lost.
func FuzzSplit(f *testing.F) {
	f.Add("漢字 e\u0301 👩‍👩‍👧 שָׁלוֹם", 7)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if !utf8.ValidString(s) || n > 1000 {
			return
		}
		for _, r := range s {
			if r < ' ' || r >= 0x7f && r < 0xa0 { // no cleaned text has these
				return
			}
		}
		head, rest := width.Split(s, n)
		if head+rest != s || width.Of(head) > max(n, 0) {
			t.Errorf("Split(%q, %d) = %q, %q", s, n, head, rest)
		}
		if last := width.Last(s, n); width.Of(last) > max(n, 0) {
			t.Errorf("Last(%q, %d) = %q of %d columns", s, n, last, width.Of(last))
		}
	})
}
