package bot

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/width"
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

// Width returns the number of columns that a cleaned text takes in a terminal.
func Width(s string) int { return width.Of(s) }

// Cut shortens a cleaned text to at most most columns, at a word where one
// ends near enough, and ends it with "…". A text that fits comes back as it is.
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

// Wrap breaks a cleaned text into lines of at most most columns, at spaces
// where it can. Below 8 columns it does not wrap.
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

// Pad fills a cleaned text with spaces to the given number of columns, and
// with gap spaces at least.
func Pad(s string, columns, gap int) string {
	return s + strings.Repeat(" ", max(columns-Width(s), gap))
}
