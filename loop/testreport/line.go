package testreport

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLine is the length of a line in bytes, from which on it is cut. Lines of
// JSON and XML are the longest that formats read.
const maxLine = 256 << 10

// cleaner splits output into lines as the formats read them.
type cleaner struct {
	dirs []string // with "/" at the end, the longest first
}

func newCleaner(dirs []string) cleaner {
	var c cleaner
	for _, d := range dirs {
		if d = strings.TrimRight(d, "/"); d != "" && strings.HasPrefix(d, "/") {
			c.dirs = append(c.dirs, d+"/")
		}
	}
	slices.SortFunc(c.dirs, func(a, b string) int { return len(b) - len(a) })
	return c
}

// lines yields the lines without colours and trailing space, as valid UTF-8, and
// with paths relative to the command's folders. A carriage return ends a line
// too: what a progress bar writes over is read like everything else, so that
// nothing can be hidden beneath it.
func (c cleaner) lines(output string) iter.Seq[string] {
	return func(yield func(string) bool) {
		empty := false
		for len(output) > 0 {
			n := strings.IndexAny(output, "\r\n")
			line := output
			if n >= 0 {
				end := n + 1
				if strings.HasPrefix(output[n:], "\r\n") {
					end++
				}
				line, output = output[:n], output[end:]
			} else {
				output = ""
			}
			line = c.clean(line)
			if line == "" && empty {
				continue // several empty lines are one
			}
			empty = line == ""
			if !yield(line) {
				return
			}
		}
	}
}

func (c cleaner) clean(line string) string {
	if len(line) > maxLine {
		line = line[:maxLine]
	}
	if strings.IndexFunc(line, isControl) >= 0 {
		line = stripControls(line)
	}
	if !utf8.ValidString(line) {
		line = strings.ToValidUTF8(line, "�")
	}
	for _, d := range c.dirs {
		if strings.Contains(line, d) {
			line = strings.ReplaceAll(strings.ReplaceAll(line, "file://"+d, ""), d, "")
		}
	}
	return strings.TrimRight(line, " \t")
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == 0x9b }

// stripControls removes escape sequences (ECMA-48) and control characters.
func stripControls(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := strings.IndexFunc(s, isControl)
		if n < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:n])
		s = afterControl(s[n:])
	}
	return b.String()
}

// afterControl returns what follows the control character or escape sequence at
// the start of s.
func afterControl(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	if s[0] != 0x1b || len(s) < 2 {
		return s[size:]
	}
	switch s[1] {
	case '[': // CSI: parameters, then one final byte
		for n := 2; n < len(s); n++ {
			if s[n] >= 0x40 && s[n] <= 0x7e {
				return s[n+1:]
			}
			if s[n] < 0x20 || s[n] > 0x3f {
				return s[n:] // not a sequence after all
			}
		}
		return ""
	case ']': // OSC: a title or link, up to BEL or ST
		for n := 2; n < len(s); n++ {
			if s[n] == 0x07 {
				return s[n+1:]
			}
			if s[n] == 0x1b {
				return strings.TrimPrefix(s[n+1:], `\`)
			}
		}
		return s[2:] // never ended: the text is kept
	}
	if strings.IndexByte("()*+#%", s[1]) >= 0 && len(s) > 2 && s[2] < utf8.RuneSelf { // a character set
		return s[3:]
	}
	_, size = utf8.DecodeRuneInString(s[1:])
	return s[1+size:]
}

// indent returns the number of leading spaces, a tab counting as one.
func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
