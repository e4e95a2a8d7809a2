package bot

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRaw is how much of one foreign text is looked at. Whatever is longer is
// cut for display anyhow, long before that.
const maxRaw = 64 << 10

// escapes are the terminal sequences that programs print on purpose: CSI
// (colours, cursor) and terminated OSC (titles, links). They go as a whole;
// of any other sequence only the control character goes, so that nothing that
// could be read is hidden by an unterminated one.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\x1b\\]|\u009d)[^\x07\x1b\u009c]*(?:\x07|\x1b\\\\|\u009c)")

// Clean makes one harmless line of what a person, an agent or a program said:
// no control characters, terminal sequences, direction marks or invisible
// characters, white space collapsed, invalid bytes shown as U+FFFD.
func Clean(s string) string { return strings.Join(strings.Fields(scrub(s, " ")), " ") }

// CleanPre is Clean for text whose columns count: spaces stay, a tab becomes
// four. It is still one line.
func CleanPre(s string) string { return strings.TrimRight(scrub(s, "    "), " ") }

// CleanLines splits text into lines and makes each harmless, keeping its
// spaces.
func CleanLines(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		lines = append(lines, CleanPre(line))
	}
	return lines
}

// maxMarks is how many combining marks may sit on one character: more only
// ever serve to paint over the lines above and below.
const maxMarks = 4

func scrub(s, tab string) string {
	if len(s) > maxRaw {
		s = s[:maxRaw]
	}
	if strings.ContainsAny(s, "\x1b\u009b\u009d") {
		s = escapes.ReplaceAllString(s, "")
	}
	var b strings.Builder
	marks := 0
	for _, r := range s {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			// Variation selectors can turn a sign into a coloured emoji.
			if marks++; marks > maxMarks || (r >= 0xfe00 && r <= 0xfe0f) {
				continue
			}
			b.WriteRune(r)
			continue
		}
		marks = 0
		switch {
		case r == '\t':
			b.WriteString(tab)
		case unicode.IsSpace(r), unicode.In(r, unicode.Zl, unicode.Zp, unicode.Zs), unicode.IsControl(r):
			b.WriteByte(' ')
		case unicode.Is(unicode.Cf, r): // direction marks, zero width, tags
		case r == utf8.RuneError || !unicode.IsGraphic(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// wide lists what takes two columns in a terminal.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1}, {0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1}, {0xfe30, 0xfe4f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1faff, 1}, {0x20000, 0x3fffd, 1},
	},
}

func runeWidth(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// Width is how many columns a cleaned text takes in a terminal.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// Cut shortens a cleaned text to at most width columns, at a word where one
// ends near enough, and ends it with "…". A text that fits comes back as it is.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	head, _ := split(s, width-1)
	if at := strings.LastIndexByte(head, ' '); at > len(head)*3/4 {
		head = head[:at]
	}
	return strings.TrimRight(head, " ,;:·") + "…"
}

// split parts a text after at most width columns.
func split(s string, width int) (head, rest string) {
	n := 0
	for i, r := range s {
		if n += runeWidth(r); n > width {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// Wrap breaks a cleaned text into lines of at most width columns, at spaces
// where it can. Width 0 means one line.
func Wrap(s string, width int) []string {
	if width < 8 {
		return []string{s}
	}
	var lines []string
	for Width(s) > width {
		head, rest := split(s, width)
		if rest[0] != ' ' {
			if at := strings.LastIndexByte(head, ' '); at > 0 {
				head, rest = s[:at], s[at:]
			}
		}
		lines = append(lines, strings.TrimRight(head, " "))
		s = strings.TrimLeft(rest, " ")
	}
	return append(lines, s)
}

// Pad fills a cleaned text up to width columns; one that is longer gets gap
// spaces behind it all the same.
func Pad(s string, width, gap int) string {
	return s + strings.Repeat(" ", max(width-Width(s), gap))
}
