package main

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/mdp/qrterminal/v3"
)

// quietZone is the white border around a QR code, in modules. Two are enough
// for phones; the standard's four would not fit a terminal of 40 columns.
const quietZone = 2

// qrCode renders a link as a QR code of half blocks, two modules a character;
// "" if it is wider than columns. With color it sets black and white itself: a
// terminal with a light background would show an inverted code, which some
// phones cannot read.
func qrCode(link string, columns int, color bool) string {
	var b bytes.Buffer
	qrterminal.GenerateWithConfig(link, qrterminal.Config{Level: qrterminal.L, Writer: &b, HalfBlocks: true, QuietZone: quietZone})
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(b.String(), "\n"), "\n") {
		if utf8.RuneCountInString(line)+2 > columns {
			return ""
		}
		if color { // bright white on black
			line = "\x1b[97;40m" + line + "\x1b[0m"
		}
		out.WriteString("  " + line + "\n")
	}
	return out.String()
}
