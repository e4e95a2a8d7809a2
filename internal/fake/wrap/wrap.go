// Package wrap breaks text into lines as a phone shows it, for the transcripts of
// the fake chat servers. It never drops text, except for the spaces at a break.
package wrap

import "strings"

// Width is the width of a message on a phone, in columns.
const Width = 38

// Wrap breaks a line at spaces into lines of at most width characters. A longer
// word is broken anywhere.
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
