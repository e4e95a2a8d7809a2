package patch

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/width"
)

// maxLine limits the characters of a line that are shown.
const maxLine = 2000

// cell is one character as it is shown, with its combining marks.
type cell struct {
	text    string
	columns int
	class   Class
	changed bool
	odd     bool // text names a character that would not be seen as itself
}

// names of control characters that people know by name.
var controlNames = map[rune]string{0: "NUL", 7: "BEL", 8: "BS", 10: "LF", 12: "FF", 13: "CR", 27: "ESC", 0x7f: "DEL", 0xfeff: "BOM"}

// name returns a character that is not shown as itself: "‹U+202E›".
func name(r rune) string {
	if s, ok := controlNames[r]; ok {
		return "‹" + s + "›"
	}
	return fmt.Sprintf("‹U+%04X›", r)
}

// isOdd reports whether a character shows nothing, looks like another space, moves
// its neighbours, or has no look that is agreed on. Text with such a character
// can read other than it runs.
func isOdd(r rune) bool {
	switch r {
	case ' ', utf8.RuneError:
		return false
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800: // letters and a sign without ink
		return true
	case 0x034f, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180f: // marks without ink
		return true
	}
	return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Co) || !unicode.IsGraphic(r) ||
		r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef // variation selectors
}

// maxMarks limits the combining marks on a character. More of them only paint over
// the lines above and below.
const maxMarks = 3

// cells returns a line as it is shown. A tab advances to the next multiple of tab
// columns. tokens and changed refer to the bytes of s. Spaces at the end of a
// changed line are shown as "·".
func cells(s string, tab int, tokens []token, changed [][2]int, trailing bool) []cell {
	out := make([]cell, 0, min(len(s), maxLine))
	column, marks, left := 0, 0, 0
	end := len(s)
	if trailing {
		end = len(strings.TrimRight(s, " \t"))
	}
	for at, r := range s {
		if len(out) >= maxLine {
			left++
			continue
		}
		for len(tokens) > 0 && at >= tokens[0].end {
			tokens = tokens[1:]
		}
		for len(changed) > 0 && at >= changed[0][1] {
			changed = changed[1:]
		}
		c := cell{text: string(r), columns: 1, changed: len(changed) > 0 && at >= changed[0][0]}
		if len(tokens) > 0 {
			c.class = tokens[0].class
		}
		odd := isOdd(r)
		if unicode.In(r, unicode.Mn, unicode.Me) && !odd {
			if marks++; marks <= maxMarks && len(out) > 0 && !out[len(out)-1].odd {
				out[len(out)-1].text += string(r)
				continue
			}
			odd = true
		} else {
			marks = 0
		}
		switch {
		case r == '\t' && at >= end:
			c.text, c.columns = "→"+strings.Repeat(" ", tab-1-column%tab), tab-column%tab
		case r == '\t':
			c.columns = tab - column%tab
			c.text = strings.Repeat(" ", c.columns)
		case r == ' ' && at >= end:
			c.text = "·"
		case odd:
			c.text, c.odd = name(r), true
			c.columns = utf8.RuneCountInString(c.text)
		case r > 0x2ff:
			c.columns = max(width.Of(c.text), 1)
		}
		column += c.columns
		out = append(out, c)
	}
	if left > 0 {
		text := fmt.Sprintf("… %d more characters", left)
		out = append(out, cell{text: text, columns: utf8.RuneCountInString(text), class: Comment})
	}
	return out
}

// Visible returns a text as one line in which every character can be seen.
func Visible(s string) string {
	var b strings.Builder
	for _, c := range cells(s, 4, nil, nil, false) {
		b.WriteString(c.text)
	}
	return b.String()
}

// VisibleLines returns the lines of a patch as git prints it, in which every character
// can be seen. They are as long as they are.
func VisibleLines(text string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		var b strings.Builder
		for _, r := range line {
			switch {
			case r == '\t':
				b.WriteString("    ")
			case isOdd(r):
				b.WriteString(name(r))
			default:
				b.WriteRune(r)
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}
