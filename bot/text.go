package bot

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/width"
)

// maxRaw limits the bytes of a foreign text that are read. Display cuts texts
// to far less.
const maxRaw = 64 << 10

// escapes matches the terminal sequences that programs print on purpose: CSI
// (colours, cursor) and terminated OSC (titles, links). scrub removes them whole.
// Of any other sequence it removes only the control character: a sequence that is not
// terminated within its line must not hide the readable text after it.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\x1b\\]|\u009d)[^\x07\x1b\u009c\n]*(?:\x07|\x1b\\\\|\u009c)")

// Clean returns a text of a person, an agent or a program as one harmless line. It
// removes control characters, terminal sequences, direction marks and invisible
// characters, collapses white space, and shows invalid bytes as U+FFFD.
func Clean(s string) string { return strings.Join(strings.Fields(scrub(s, " ", false)), " ") }

// CleanLine is Clean for a line that was composed: the joiners of Foreign stay.
func CleanLine(s string) string { return strings.Join(strings.Fields(scrub(s, " ", true)), " ") }

// CleanPre is Clean for text with columns: it keeps leading and inner spaces and
// turns a tab into four. The result is still one line.
func CleanPre(s string) string { return strings.TrimRight(scrub(s, "    ", false), " ") }

// CleanLines splits a text into lines and returns each as CleanPre does.
func CleanLines(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		lines = append(lines, CleanPre(line))
	}
	return lines
}

// maxMarks limits the combining marks on one character. More of them serve only
// to paint over the lines above and below.
const maxMarks = 4

// scrub does the work of Clean and CleanPre. joined keeps a joiner behind a slash.
func scrub(s, tab string, joined bool) string {
	if len(s) > maxRaw {
		s = s[:maxRaw]
	}
	if strings.ContainsAny(s, "\x1b\u009b\u009d") {
		s = escapes.ReplaceAllString(s, "")
	}
	if printable(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for _, r := range s {
		if r >= ' ' && r <= '~' { // most of any text: no table of Unicode has to be read for it
			marks = 0
			b.WriteByte(byte(r))
			continue
		}
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
		case joined && r == joiner && strings.HasSuffix(b.String(), "/"):
			b.WriteRune(r)
		case unicode.Is(unicode.Cf, r): // direction marks, zero width, tags
		case r == utf8.RuneError || !unicode.IsGraphic(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printable reports whether s has only printable ASCII characters, of which scrub
// changes none.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Width returns the number of columns that a cleaned text takes in a terminal.
func Width(s string) int { return width.Of(s) }

// Cut shortens a cleaned text to at most the given number of columns and ends it
// with "…". It cuts between words if that loses less than a quarter. A text that
// fits comes back unchanged.
func Cut(s string, most int) string {
	if Width(s) <= most {
		return s
	}
	if most < 1 {
		return ""
	}
	head, _ := width.Split(s, most-1)
	if at := strings.LastIndexByte(head, ' '); at > len(head)*3/4 {
		head = head[:at]
	}
	return strings.TrimRight(head, " ,;:·") + "…"
}

// Wrap breaks a cleaned text into lines of at most the given number of columns,
// at spaces if possible. It does not wrap to fewer than 8 columns.
func Wrap(s string, most int) []string {
	if most < 8 {
		return []string{s}
	}
	var lines []string
	for Width(s) > most {
		head, rest := width.Split(s, most)
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

// Pad appends spaces to a cleaned text up to the given number of columns, and at
// least gap spaces.
func Pad(s string, columns, gap int) string {
	return s + strings.Repeat(" ", max(columns-Width(s), gap))
}

func orNothing(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func cutWord(s string) (word, rest string) {
	if i := strings.IndexFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func comma(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s
}
