// Package width measures text in columns of a terminal. It is the one place
// that knows how wide a character is, and leaves that to the library by which
// the live screen's framework lays out its own lines, so that both agree.
//
// The unit is what a person takes for one character (a grapheme cluster): a
// letter with its combining marks, a flag of two letters, a family joined from
// four people. A text is never parted within one. Escape sequences take no
// column, but texts are expected to have none: bot.Clean takes them out.
package width

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Of returns the number of columns that s takes.
func Of(s string) int {
	for n := range len(s) {
		if s[n] < ' ' || s[n] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Split parts s after as many characters as fit into n columns. head and rest
// together are s.
func Split(s string, n int) (head, rest string) {
	if n <= 0 {
		return "", s
	}
	head = ansi.Truncate(s, n, "")
	return head, s[len(head):]
}

// Last returns as many of the last characters of s as fit into n columns.
func Last(s string, n int) string {
	for over := Of(s) - max(n, 0); over > 0; over++ { // a wide character may cover both sides of the cut
		if _, rest := Split(s, over); Of(rest) <= max(n, 0) {
			return rest
		}
	}
	return s
}

// Wrap breaks s at spaces into lines of at most n columns, and a word that is wider
// than that within itself. A hyphen is no place to break: it may begin a flag.
func Wrap(s string, n int) []string {
	lines, line, columns := []string{}, "", 0
	for i, word := range strings.Split(s, " ") {
		wide := Of(word)
		if i > 0 && columns+1+wide <= n {
			line, columns = line+" "+word, columns+1+wide
			continue
		}
		if i > 0 {
			lines = append(lines, line)
		}
		for line, columns = word, wide; columns > max(n, 2); columns = Of(line) { // no character is wider than two columns
			head, rest := Split(line, max(n, 2))
			lines, line = append(lines, head), rest
		}
	}
	return append(lines, line)
}
