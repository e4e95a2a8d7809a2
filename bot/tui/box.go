package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
)

// lineEditor is one line that is being typed. The zero value is an empty one.
type lineEditor struct {
	text []rune
	at   int // of the cursor
}

func newBox(text string) lineEditor { return lineEditor{[]rune(text), len([]rune(text))} }

func (b lineEditor) String() string { return string(b.text) }

// insert puts text in at the cursor. What was pasted keeps its line breaks.
func (b *lineEditor) insert(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	r := []rune(text)
	b.text = slices.Insert(slices.Clone(b.text), b.at, r...)
	b.at += len(r)
}

// cut takes what lies between two places out.
func (b *lineEditor) cut(from, to int) {
	b.text = slices.Delete(slices.Clone(b.text), from, to)
	b.at = from
}

// key does what a key does in a line. It reports whether it did anything.
func (b *lineEditor) key(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		b.at = max(b.at-1, 0)
	case "right", "ctrl+f":
		b.at = min(b.at+1, len(b.text))
	case "home", "ctrl+a":
		b.at = 0
	case "end", "ctrl+e":
		b.at = len(b.text)
	case "backspace", "ctrl+h":
		if b.at > 0 {
			b.cut(b.at-1, b.at)
		}
	case "delete", "ctrl+d":
		if b.at < len(b.text) {
			b.cut(b.at, b.at+1)
		}
	case "ctrl+u":
		b.cut(0, b.at)
	case "ctrl+k":
		b.cut(b.at, len(b.text))
	case "ctrl+w":
		from := b.at
		for from > 0 && b.text[from-1] == ' ' {
			from--
		}
		for from > 0 && b.text[from-1] != ' ' {
			from--
		}
		b.cut(from, b.at)
	default:
		if k.Text == "" {
			return false
		}
		b.insert(k.Text)
	}
	return true
}

// shown is the line for a screen: its cursor is a "_", and always in sight.
func (b lineEditor) shown(width int) string {
	clean := func(r []rune) string { // as Clean, but the spaces at its ends stay
		return strings.ReplaceAll(bot.CleanPre(strings.ReplaceAll(string(r), "\n", " ")+"|"), "\t", " ")
	}
	// Only what stands near the cursor: a log that was pasted has thousands.
	near := 4 * max(width, 0)
	head := strings.TrimSuffix(clean(b.text[max(b.at-near, 0):b.at]), "|")
	tail := strings.TrimSuffix(clean(b.text[b.at:min(b.at+near, len(b.text))]), "|")
	for bot.Width(head) > width-2 && head != "" {
		r := []rune(head)
		head = "…" + string(r[min(2, len(r)):])
		if len(r) <= 2 {
			break
		}
	}
	line := head + "_" + tail
	for bot.Width(line) > width {
		r := []rune(line)
		line = string(r[:len(r)-1])
	}
	return line
}
