package main_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// emulator is the screen of an xterm, as far as nightporter uses it. It makes no
// replies, so it has none of what a program asks a terminal for. All characters take
// one column.
type emulator struct {
	mu          sync.Mutex
	cells       [][]rune
	main        [][]rune // the main screen, while the alternate one is shown
	width       int
	x, y        int // x = width: the next character wraps
	top, bottom int // of the scrolling region, bottom included
	noWrap      bool
	insert      bool // new characters move the rest of the line
	last        rune // last character drawn
	rest        []byte
	redraws     int      // how often the whole screen was erased
	unknown     []string // sequences that it does not understand
}

func newEmulator(width, height int) *emulator {
	e := &emulator{}
	e.Resize(width, height)
	return e
}

// Resize cuts what has no room, as xterm does. What was cut does not come back.
func (e *emulator) Resize(width, height int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	cells := make([][]rune, height)
	for n := range cells {
		cells[n] = blank(width)
		if n < len(e.cells) {
			copy(cells[n], e.cells[n])
		}
	}
	e.cells, e.width = cells, width
	e.x, e.y = min(e.x, width-1), min(e.y, height-1)
	e.top, e.bottom = 0, height-1
}

func blank(width int) []rune { return slices.Repeat([]rune{' '}, width) }

// String returns the lines of the screen, without blanks at their ends.
func (e *emulator) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var lines []string
	for _, line := range e.cells {
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	return strings.Join(lines, "\n")
}

// Unknown returns the sequences that were not understood: what the screen shows may be
// wrong since the first of them.
func (e *emulator) Unknown() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unknown
}

// Redraws returns how often the whole screen was erased.
func (e *emulator) Redraws() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.redraws
}

var (
	// control matches a control sequence: its private mark, parameters and end.
	control = regexp.MustCompile("^\x1b\\[([<-?]?)([0-9;:]*)([ -/]*[@-~])")
	// ignored matches titles and other strings, and sequences of two characters
	// that have no effect on the text.
	ignored = regexp.MustCompile("^\x1b(?:\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[PX^_][^\x1b]*\x1b\\\\|[=>]|[()][0-9A-Z])")
	// begun matches the beginning of a sequence whose end is yet to come.
	begun = regexp.MustCompile("^\x1b(?:\\[[<-?]?[0-9;:]*[ -/]*|\\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[()])?$")
)

// Write draws the output of a program.
func (e *emulator) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	in := append(e.rest, p...)
	for len(in) > 0 && !begun.Match(in) && utf8.FullRune(in) {
		in = in[e.take(in):]
	}
	e.rest = slices.Clone(in)
	return len(p), nil
}

// take draws what in begins with and returns its length.
func (e *emulator) take(in []byte) int {
	if found := control.FindSubmatch(in); found != nil {
		e.control(string(found[1]), string(found[2]), string(found[3]))
		return len(found[0])
	}
	if found := ignored.Find(in); found != nil {
		return len(found)
	}
	if strings.HasPrefix(string(in), "\x1bM") {
		if e.y == e.top {
			e.scroll(e.top, -1)
		} else {
			e.moveTo(e.x, e.y-1)
		}
		return 2
	}
	r, n := utf8.DecodeRune(in)
	switch r {
	case '\r':
		e.x = 0
	case '\n':
		if e.y == e.bottom {
			e.scroll(e.top, 1)
		} else {
			e.moveTo(e.x, e.y+1)
		}
	case '\b':
		e.moveTo(min(e.x, e.width-1)-1, e.y)
	case '\t':
		e.moveTo((e.x/8+1)*8, e.y)
	case '\a':
	default:
		if r < ' ' || r == '\x7f' {
			e.unknown = append(e.unknown, fmt.Sprintf("%q", in[:min(len(in), 8)]))
			return n
		}
		e.draw(r)
	}
	return n
}

func (e *emulator) draw(r rune) {
	if e.x == e.width {
		if e.noWrap {
			e.x--
		} else {
			e.x = 0
			if e.y == e.bottom {
				e.scroll(e.top, 1)
			} else {
				e.y = min(e.y+1, len(e.cells)-1)
			}
		}
	}
	line := e.cells[e.y]
	if e.insert {
		copy(line[e.x+1:], line[e.x:])
	}
	line[e.x], e.last = r, r
	e.x++
}

func (e *emulator) moveTo(x, y int) {
	e.x, e.y = min(max(x, 0), e.width-1), min(max(y, 0), len(e.cells)-1)
}

// scroll moves the lines from top to the bottom of the region up by n, or down.
func (e *emulator) scroll(top, n int) {
	if top < e.top || top > e.bottom {
		return
	}
	for range max(n, -n) {
		if n > 0 {
			copy(e.cells[top:e.bottom], e.cells[top+1:e.bottom+1])
			e.cells[e.bottom] = blank(e.width)
		} else {
			copy(e.cells[top+1:e.bottom+1], e.cells[top:e.bottom])
			e.cells[top] = blank(e.width)
		}
	}
}

// erase erases the cells from one to another of a line.
func (e *emulator) erase(y, from, to int) {
	for x := max(from, 0); x < min(to, e.width); x++ {
		e.cells[y][x] = ' '
	}
}

// control executes a control sequence (ECMA-48).
func (e *emulator) control(private, parameters, end string) {
	values := strings.Split(parameters, ";")
	number := func(at, otherwise int) int {
		if at < len(values) {
			if n, err := strconv.Atoi(values[at]); err == nil && n > 0 {
				return n
			}
		}
		return otherwise
	}
	if private != "" {
		e.mode(private+parameters, end)
		return
	}
	n, x := number(0, 1), min(e.x, e.width-1)
	switch end {
	case "m": // colours
	case "A":
		e.moveTo(x, e.y-n)
	case "B", "e":
		e.moveTo(x, e.y+n)
	case "C", "a":
		e.moveTo(x+n, e.y)
	case "D":
		e.moveTo(x-n, e.y)
	case "G", "`":
		e.moveTo(n-1, e.y)
	case "H", "f":
		e.moveTo(number(1, 1)-1, n-1)
	case "d":
		e.moveTo(x, n-1)
	case "I":
		e.moveTo((x/8+n)*8, e.y)
	case "Z":
		e.moveTo(((x+7)/8-n)*8, e.y)
	case "J", "K":
		from, to := x, e.width
		switch number(0, 0) {
		case 1:
			from, to = 0, x+1
		case 2:
			from = 0
		}
		e.erase(e.y, from, to)
		for y := range e.cells {
			if end == "J" && (y > e.y && number(0, 0) != 1 || y < e.y && number(0, 0) > 0) {
				e.erase(y, 0, e.width)
			}
		}
		if end == "J" && number(0, 0) == 2 {
			e.redraws++
		}
	case "L":
		e.scroll(e.y, -n)
	case "M":
		e.scroll(e.y, n)
	case "S":
		e.scroll(e.top, n)
	case "T":
		e.scroll(e.top, -n)
	case "P":
		line := e.cells[e.y]
		e.erase(e.y, x+copy(line[x:], line[min(x+n, e.width):]), e.width)
	case "X":
		e.erase(e.y, x, x+n)
	case "@":
		line := e.cells[e.y]
		copy(line[min(x+n, e.width):], line[x:])
		e.erase(e.y, x, x+n)
	case "b":
		for range n {
			e.draw(e.last)
		}
	case "r":
		e.top, e.bottom = n-1, min(number(1, len(e.cells)), len(e.cells))-1
		e.moveTo(0, 0)
	case "h", "l":
		e.mode(parameters, end)
	default:
		e.unknown = append(e.unknown, fmt.Sprintf("%q", parameters+end))
	}
}

// mode sets or resets a mode. Modes of the keyboard and the cursor are ignored.
func (e *emulator) mode(name, end string) {
	on := end == "h"
	if !on && end != "l" {
		return // a request, or a setting of the keyboard
	}
	switch name {
	case "4":
		e.insert = on
	case "?7":
		e.noWrap = !on
	case "?1049":
		if on == (e.main != nil) {
			return
		}
		height := len(e.cells)
		if on {
			e.main, e.cells = e.cells, nil
		} else {
			e.main, e.cells = nil, e.main
		}
		for len(e.cells) < height {
			e.cells = append(e.cells, nil)
		}
		for y, line := range e.cells {
			e.cells[y] = append(line, blank(max(e.width-len(line), 0))...)[:e.width]
		}
		e.cells = e.cells[:height]
	}
}

// TestEmulator draws what screens are drawn with.
func TestEmulator(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ab\r\ncd", "ab|cd|"},
		{"abcdefg", "abcde|fg|"},
		{"abcde\b\bX", "abXde||"}, // a character in the last column does not wrap yet, and the cursor stays in it
		{"\x1b[?7labcdefg\x1b[?7h", "abcdg||"},
		{"a\r\nb\r\nc\r\nd", "b|c|d"},
		{"\x1b[2;3Hx\x1b[Ay\x1b[2Dz\x1b[4Gq\x1b[3dw", "  zq|  x|    w"},
		{"abcde\x1b[1;3H\x1b[K", "ab||"},
		{"abcde\x1b[1;3H\x1b[1K", "   de||"},
		{"ab\r\ncd\r\nef\x1b[2;2H\x1b[J", "ab|c|"},
		{"ab\r\ncd\x1b[H\x1b[2Jx", "x||"},
		{"abcde\x1b[1;2H\x1b[2P", "ade||"},
		{"abcde\x1b[1;2H\x1b[2@", "a  bc||"},
		{"abcde\x1b[1;2H\x1b[2X", "a  de||"},
		{"abc\x1b[H\x1b[4hx\x1b[4ly", "xybc||"},
		{"a\r\nb\r\nc\x1b[2;3r\x1b[2;1H\x1b[L", "a||b"},
		{"a\r\nb\r\nc\x1b[1;2r\x1b[S", "b||c"},
		{"a\r\nb\r\nc\x1b[H\x1bM", "|a|b"},
		{"x\x1b[3b", "xxxx||"},
		{"main\x1b[?1049h\x1b[Halt\x1b[?1049l", "main||"},
		{"\x1b]0;title\x07\x1b[>4;2m\x1b[?2026$p\x1b[1;31m─\x1b[m", "─||"},
	} {
		e := newEmulator(5, 3)
		for _, b := range []byte(c.in) { // split wherever it can be
			_, _ = e.Write([]byte{b})
		}
		if got := strings.ReplaceAll(e.String(), "\n", "|"); got != c.want || len(e.Unknown()) > 0 {
			t.Errorf("%q: %q, want %q, unknown %v", c.in, got, c.want, e.Unknown())
		}
	}
	for _, in := range []string{"\x1b[9z", "\x05", "\x1b#8"} {
		e := newEmulator(5, 3)
		if _, _ = e.Write([]byte(in)); len(e.Unknown()) == 0 {
			t.Errorf("%q is taken for known", in)
		}
	}
	e := newEmulator(5, 3)
	_, _ = e.Write([]byte("abcde"))
	e.Resize(3, 3)
	e.Resize(5, 2)
	if got := e.String(); got != "abc\n" {
		t.Errorf("%q", got)
	}
}
