package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/width"
)

// input is the line editor.
type input struct{ textinput.Model }

// textinput.Model holds one line without tabs. Private-use characters represent
// pasted line ends and tabs until the line is sent.
var (
	encode = strings.NewReplacer("\r\n", "\ue000", "\r", "\ue000", "\n", "\ue000", "\t", "\ue001")
	decode = strings.NewReplacer("\ue000", "\n", "\ue001", "\t")
)

func newInput(text string) input {
	m := textinput.New()
	m.KeyMap.Paste = key.NewBinding() // its own paste would run a program; terminals paste by themselves
	m.Focus()
	m.SetValue(encode.Replace(text))
	m.CursorEnd()
	return input{m}
}

// text returns the typed and pasted text.
func (i input) text() string { return decode.Replace(i.Value()) }

// update handles a key or a paste.
func (i *input) update(msg tea.Msg) {
	if p, is := msg.(tea.PasteMsg); is {
		msg = tea.PasteMsg{Content: encode.Replace(p.Content)}
	}
	i.Model, _ = i.Update(msg) // the returned commands only blink the cursor
}

// view renders the line for a screen of this many columns, with control
// characters removed and "_" as the cursor, which is always visible. The view
// of textinput.Model would print foreign text unchanged.
func (i input) view(columns int) string {
	r := []rune(i.Value())
	// Only the characters near the cursor are rendered: a pasted log may have
	// thousands.
	near := 4 * max(columns, 0)
	at := i.Position()
	head, tail := cleanPart(r[max(at-near, 0):at]), cleanPart(r[at:min(at+near, len(r))])
	if room := columns - 2; width.Of(head) > room {
		head = "…" + width.Last(head, room-1)
	}
	line, _ := width.Split(head+"_"+tail, columns)
	return line
}

// cleanPart cleans a part of a line like bot.Clean, but keeps the spaces at its
// ends.
func cleanPart(r []rune) string {
	text := strings.NewReplacer("\ue000", " ", "\ue001", " ").Replace(string(r))
	return strings.TrimSuffix(bot.CleanPre(text+"|"), "|")
}
