// Package text makes foreign text fit into one line of a file or a report.
// Package bot cleans what people read in chats; this package is for those that
// know no chat.
package text

import (
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
)

// terminalSequence matches the sequences by which a program colours text, moves
// the cursor or sets a title.
var terminalSequence = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\x1b\\]|\u009d)[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)")

// lineEnds makes \n of everything that some program shows as the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// Visible removes from a text of several lines what nobody sees: control
// characters, terminal sequences, direction marks, invisible characters. Tabs
// and line ends stay, the latter as \n. So do joiners behind a character that is
// not ASCII, because emoji and some scripts are written with them.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsAny(s, "\x1b\u009b\u009d") {
		s = terminalSequence.ReplaceAllString(s, "")
	}
	last := rune(0)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', unicode.IsGraphic(r): // also all of Zs
		case (r == '\u200c' || r == '\u200d') && last > unicode.MaxASCII:
		default:
			return -1
		}
		last = r
		return r
	}, lineEnds.Replace(s))
}

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
