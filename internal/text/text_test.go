package text_test

import (
	"testing"

	"github.com/nightporter/nightporter/internal/text"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		" a \t b\r\nc\u2028d\x00e ": "a b c d e",
		"\x1b[31mred\u202edeR":      "[31mreddeR",
		"bad \xff\xfe byte":         "bad \uFFFD byte",
		"日本語 עברית":                 "日本語 עברית",
	} {
		if got := text.OneLine(in); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"a <!-- key --> b": "a &lt;!-- key --&gt; b", "<!-->": "&lt;!--&gt;"} {
		if got := text.Markdown(in); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", in, got, want)
		}
	}
	for n, want := range map[int]string{0: "…", 3: "日本…", 4: "日本語四", 9: "日本語四"} {
		if got := text.First("日本語四", n); got != want {
			t.Errorf("First(%d) = %q, want %q", n, got, want)
		}
	}
}
