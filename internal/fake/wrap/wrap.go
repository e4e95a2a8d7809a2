// Package bubble sets text as a phone shows it, for the transcripts of the far
// ends.
package wrap

import "strings"

// Width is how many columns a phone's bubble has.
const Width = 38

// Wrap cuts a line at spaces into lines of at most so many characters; a word
// that is longer is cut where it has to be.
func Wrap(s string, width int) []string {
	var out []string
	line := []rune(s)
	for len(line) > width {
		at := width
		for at > 0 && line[at] != ' ' {
			at--
		}
		if at == 0 {
			at = width
		}
		out = append(out, strings.TrimRight(string(line[:at]), " "))
		line = []rune(strings.TrimLeft(string(line[at:]), " "))
	}
	return append(out, string(line))
}
