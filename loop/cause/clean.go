package cause

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
)

// MaxLine limits the length of a line in characters.
const MaxLine = 200

// Limits of what is read. Beyond them lies nothing that a person would call a
// line of a test's output.
const (
	maxOutput = 1 << 20 // bytes, from the end
	maxRead   = 4 << 10 // bytes of one line
)

// escapes matches terminal sequences: CSI (colours, cursor) and terminated OSC
// (titles, links).
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\x1b\\]|\u009d)[^\x07\x1b\u009c\n]*(?:\x07|\x1b\\\\|\u009c)|\x1b[()][0-9A-B]")

// split returns the lines of an output without control characters. It keeps the
// indentation, by which runners nest.
func split(output string) []string {
	if over := len(output) - maxOutput; over > 0 {
		output = output[over:]
	}
	var lines []string
	for line := range strings.SplitSeq(strings.ToValidUTF8(output, "\uFFFD"), "\n") {
		lines = append(lines, clean(line))
	}
	return lines
}

// clean returns one line as a terminal would show it at the end: of parts
// between carriage returns the last one with text, which a progress bar wrote
// over the others.
func clean(line string) string {
	line = strings.TrimRight(line, "\r \t")
	if n := strings.LastIndexByte(line, '\r'); n >= 0 {
		line = line[n+1:]
	}
	if len(line) > maxRead {
		line = strings.ToValidUTF8(line[:maxRead], "")
	}
	if strings.ContainsAny(line, "\x1b\u009b\u009d") {
		line = escapes.ReplaceAllString(line, "")
	}
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Co), r >= 0xfe00 && r <= 0xfe0f:
			return -1
		}
		return r
	}, line)
	return strings.TrimRight(line, " \t")
}

// short collapses white space and cuts the line to MaxLine characters.
func short(line string) string {
	line = strings.Join(strings.Fields(line), " ")
	if utf8.RuneCountInString(line) <= MaxLine {
		return line
	}
	return strings.TrimRight(string([]rune(line)[:MaxLine-1]), " ") + "…"
}
