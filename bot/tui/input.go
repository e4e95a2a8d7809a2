package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/width"
)

// input is the line that is being typed.
type input struct{ textinput.Model }

// A text input holds one line without tabs. What was pasted keeps its own:
// private characters stand for them until the line is sent.
var (
	encode = strings.NewReplacer("\r\n", "\ue000", "\r", "\ue000", "\n", "\ue000", "\t", "\ue001")
	decode = strings.NewReplacer("\ue000", "\n", "\ue001", "\t")
)

func newInput(text string) input {
	m := textinput.New()
	m.KeyMap.Paste = key.NewBinding() // it would run a program; terminals paste by themselves
	m.Focus()
	m.SetValue(encode.Replace(text))
	m.CursorEnd()
	return input{m}
}

// text returns what was typed and pasted.
func (i input) text() string { return decode.Replace(i.Value()) }

// update takes a key or a paste.
func (i *input) update(msg tea.Msg) {
	if p, is := msg.(tea.PasteMsg); is {
		msg = tea.PasteMsg{Content: encode.Replace(p.Content)}
	}
	i.Model, _ = i.Update(msg) // its commands only make a cursor blink
}

// view returns the line as a screen of this many columns shows it: harmless,
// and with "_" as its cursor, which is always in sight. The text input has a
// view of its own, which shows foreign text as it is.
func (i input) view(columns int) string {
	r := []rune(i.Value())
	// Only the characters near the cursor: a log that was pasted has thousands.
	near := 4 * max(columns, 0)
	at := i.Position()
	head, tail := cleanPart(r[max(at-near, 0):at]), cleanPart(r[at:min(at+near, len(r))])
	if room := columns - 2; width.Of(head) > room {
		head = "…" + width.Last(head, room-1)
	}
	line, _ := width.Split(head+"_"+tail, columns)
	return line
}

// cleanPart is bot.Clean for a part of a line: the spaces at its ends stay.
func cleanPart(r []rune) string {
	text := strings.NewReplacer("\ue000", " ", "\ue001", " ").Replace(string(r))
	return strings.TrimSuffix(bot.CleanPre(text+"|"), "|")
}
