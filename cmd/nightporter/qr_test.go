package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"rsc.io/qr"
)

// TestQR: the drawing has exactly the modules of the link's code, and there is
// no drawing if it would not fit.
func TestQR(t *testing.T) {
	const link = "https://t.me/mira_porter_bot?start=K7QX-M2PD"
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	text := qrCode(link, 80, false)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if want := (code.Size + 1 + 2*quietZone) / 2; len(lines) < want {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), want, text)
	}
	// white reports whether a module is drawn bright.
	white := func(x, y int) bool {
		row := []rune(lines[(y+quietZone)/2])
		switch row[2+x+quietZone] {
		case '█':
			return true
		case '▀':
			return (y+quietZone)%2 == 0
		case '▄':
			return (y+quietZone)%2 == 1
		}
		return false
	}
	for y := range code.Size {
		for x := range code.Size {
			if white(x, y) == code.Black(x, y) {
				t.Fatalf("module %d,%d is wrong:\n%s", x, y, text)
			}
		}
	}
	for _, edge := range []int{-1, code.Size} {
		for i := -1; i <= code.Size; i++ {
			if !white(i, edge) || !white(edge, i) {
				t.Fatalf("no quiet zone at %d,%d:\n%s", i, edge, text)
			}
		}
	}
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(line))
	}
	if width > 40 {
		t.Errorf("%d columns; a link of a usual length has to fit 40", width)
	}
	if got := qrCode(link, width, false); got != text {
		t.Error("not drawn where it just fits")
	}
	for _, columns := range []int{width - 1, 10, 0} { // 0 means no terminal
		if got := qrCode(link, columns, false); got != "" {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
	if strings.Contains(text, "\x1b") || !strings.Contains(qrCode(link, 80, true), "\x1b[97;40m") {
		t.Error("colour where it is not wanted, or none")
	}
}
