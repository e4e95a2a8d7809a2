package forge

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMark(t *testing.T) {
	for _, body := range []string{"", "Done.", "a --> b", "<!-- nightporter:0 --> quoted", strings.Repeat("é", MaxBody)} {
		for _, key := range []string{"", "k", "-->", "a\nb"} {
			marked := Mark(body, key)
			if !HasMark(marked, key) || HasMark(marked, key+"x") || HasMark(marked+"\n> quoted, and more", key) || !utf8.ValidString(marked) || len(marked) > MaxBody+100 {
				t.Errorf("body %.20q, key %q: %.60q", body, key, marked)
			}
			if got := Unmark(strings.ReplaceAll(marked, "\n", "\r\n") + "\r\n"); got != Clip(body, MaxBody) {
				t.Errorf("body %.20q, key %q: without the marker %.40q", body, key, got)
			}
		}
		if Unmark(body) != body {
			t.Errorf("%.20q became %.20q", body, Unmark(body))
		}
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"}, {"first\nsecond\nthird", "third"}, {"0123456789abcdef", "6789abcdef"}, {"ééééééééé", "ééééé"}, {"a\xffb", "a�b"},
	} {
		if got := Tail(c.text, 10); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
