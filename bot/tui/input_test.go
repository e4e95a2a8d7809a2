package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
)

// TestInputView: for any text and cursor position, the line fits, is clean and
// shows its cursor.
func TestInputView(t *testing.T) {
	const text = "漢字漢字漢字漢字 עברית a\u0301e\u0301 \u202eevil\u202c 👍👍 plain words that go on and on"
	for width := 6; width <= 60; width += 3 {
		i := newInput(text)
		for at := range len([]rune(text)) + 1 {
			i.SetCursor(at)
			line := i.view(width)
			if bot.Width(line) > width || strings.Count(line, "_") != 1 || strings.ContainsAny(line, "\u202e\u202c\x1b") {
				t.Errorf("cursor %d, width %d: %d columns: %q", at, width, bot.Width(line), line)
			}
		}
	}
}

// TestInputPaste: pasted line ends and tabs are sent unchanged, and shown as
// spaces.
func TestInputPaste(t *testing.T) {
	i := newInput("a")
	i.update(tea.PasteMsg{Content: "\tb\r\nc\rd\ne\x1b[2J"})
	if got := i.text(); got != "a\tb\nc\nd\ne[2J" {
		t.Errorf("text %q", got)
	}
	if got := i.view(40); got != "a b c d e[2J_" {
		t.Errorf("shown as %q", got)
	}
}
