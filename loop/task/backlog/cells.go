package backlog

import (
	"bytes"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/task/form"
)

// cellsOf returns the cells of a line without the white space around them, as
// GitHub's Markdown splits it: a pipe behind a backslash is text, also in a code
// span. A line without a pipe has none.
func cellsOf(data []byte, line form.Span, cells []form.Span) []form.Span {
	cells = cells[:0]
	line = trimSpan(data, line)
	if bytes.IndexByte(data[line.Start:line.End], '|') < 0 {
		return cells
	}
	start := line.Start
	if data[start] == '|' {
		start++
	}
	for i := start; i < line.End; i++ {
		if data[i] == '|' && data[i-1] != '\\' {
			cells = append(cells, trimSpan(data, form.Span{Start: start, End: i}))
			start = i + 1
		}
	}
	if start < line.End {
		cells = append(cells, trimSpan(data, form.Span{Start: start, End: line.End}))
	}
	return cells
}

func trimSpan(data []byte, s form.Span) form.Span {
	for s.Start < s.End && isSpace(data[s.Start]) {
		s.Start++
	}
	for s.End > s.Start && isSpace(data[s.End-1]) {
		s.End--
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// isDelimiter reports whether a line is the row of dashes below a table's header.
func isDelimiter(data []byte, line form.Span) bool {
	line = trimSpan(data, line)
	dashes, pipes := 0, 0
	for _, c := range data[line.Start:line.End] {
		switch c {
		case '-':
			dashes++
		case '|':
			pipes++
		case ':', ' ', '\t':
		default:
			return false
		}
	}
	return dashes > 0 && pipes > 0
}

// cellText returns a cell's text with its escaped pipes resolved.
func cellText(data []byte, s form.Span) string {
	text := string(data[s.Start:s.End])
	if strings.Contains(text, `\|`) {
		text = strings.ReplaceAll(text, `\|`, "|")
	}
	return text
}

// link matches an inline link: its text and its address.
var link = regexp.MustCompile(`\[([^\]\n]*)\]\(\s*<?([^()\s<>]+)>?[^()\n]*\)`)

// linkIn returns the address of the first link in a text.
func linkIn(s string) (address string, ok bool) {
	n := strings.Index(s, "](")
	if n < 0 || strings.IndexByte(s[:n], '[') < 0 {
		return "", false
	}
	address, bracketed := strings.CutPrefix(strings.TrimLeft(s[n+2:], " "), "<")
	end := ") \t"
	if bracketed {
		end = ">"
	}
	if n = strings.IndexAny(address, end); n <= 0 {
		return "", false
	}
	return address[:n], true
}

// plainText returns a text without emphasis and code marks around it, and a link as
// its text.
func plainText(s string) string {
	if strings.Contains(s, "](") {
		s = link.ReplaceAllString(s, "$1")
	}
	s = strings.TrimSpace(s)
	if len(s) < 3 || strings.IndexByte("*_~`", s[0]) < 0 {
		return s
	}
	for _, mark := range []string{"**", "__", "~~", "`", "*", "_"} {
		inner, opened := strings.CutPrefix(s, mark)
		inner, closed := strings.CutSuffix(inner, mark)
		if opened && closed && inner != "" && !strings.Contains(inner, mark) {
			s = strings.TrimSpace(inner)
		}
	}
	return s
}

// isNothing reports whether a cell says that there is nothing.
func isNothing(s string) bool {
	if s = strings.TrimSpace(s); len(s) > len("none") {
		return false
	}
	switch strings.ToLower(s) {
	case "", "-", "--", "–", "—", "n/a", "none", "tbd", "?", "…", "...":
		return true
	}
	return false
}
