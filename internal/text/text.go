// Package text makes foreign text fit into one line of a file or a report.
// Package bot cleans what people read in chats; this package is for those that
// know no chat.
package text

import (
	"strings"
	"unicode"
)

// OneLine makes one line of s: white space, line ends and control characters
// become single spaces, direction marks are taken out, and bytes that are no
// UTF-8 become U+FFFD.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// Markdown makes a part of a line harmless in a Markdown file: no comment in it
// hides what follows, or passes for one of nightporter's own keys.
func Markdown(line string) string {
	line = strings.ReplaceAll(line, "<!--", "&lt;!--")
	return strings.ReplaceAll(line, "-->", "--&gt;") // after the first, because "<!-->" is both
}

// First returns the first n characters of s, the last of them "…" where s has
// more.
func First(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:max(n-1, 0)]) + "…"
}
