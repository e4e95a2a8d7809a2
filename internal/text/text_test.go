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

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"a\r\nb\rc\u2028d\u0085e\tf\n":      "a\nb\nc\nd\ne\tf\n",
		"\x1b[31mred\x1b[0m \x1b]0;t\x07x":  "red x",
		"\x00a\x01\u200bb\u202ec\ufeff\x7f": "abc",
		"👨\u200d👩\u200d👧 می\u200cخواهم": "👨\u200d👩\u200d👧 می\u200cخواهم",
		"a\u200db \u200d":  "ab ",
		"bad \xff":         "bad \uFFFD",
		"日本語\u3000\u00a0x": "日本語\u3000\u00a0x",
	} {
		if got := text.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}
