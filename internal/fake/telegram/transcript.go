package telegram

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/nightporter/nightporter/internal/fake/wrap"
)

// Transcript returns a chat as a person sees it now, 38 columns wide: edits and
// deletions applied, quotes behind "┃", buttons in brackets, notices of presses at
// the end.
func (s *Server) Transcript(chat int64) string {
	c := s.Chat(chat)
	var b strings.Builder
	for _, m := range c.Messages {
		b.WriteString("── " + m.From.Name + " " + m.Date.In(s.o.Location).Format("15:04"))
		for _, mark := range []struct {
			on   bool
			text string
		}{{m.ReplyTo != 0, "reply"}, {m.Silent, "silent"}, {m.Edits > 0, "edited"}, {m.Pinned, "pinned"}, {m.ForceReply, "asks for words"}} {
			if mark.on {
				b.WriteString(" · " + mark.text)
			}
		}
		b.WriteString("\n")
		if m.File != nil {
			b.WriteString("[" + m.File.kind() + " " + m.File.Name + "]\n")
		}
		for _, line := range m.Lines() {
			b.WriteString(line + "\n")
		}
		for _, row := range m.Buttons {
			labels := make([]string, len(row))
			for i, button := range row {
				labels[i] = "[" + button.Text + "]"
			}
			b.WriteString(strings.Join(labels, " ") + "\n")
		}
		b.WriteString("\n")
	}
	for _, n := range c.Notices {
		if n.Text != "" {
			b.WriteString("(" + n.Label + ": " + n.Text + ")\n")
		}
	}
	return b.String()
}

func (f File) kind() string {
	if f.Photo {
		return "photo"
	}
	return "file"
}

// Lines returns the lines of a message, at most 38 columns wide, quotes behind "┃".
func (m Message) Lines() []string {
	if m.Text == "" {
		return nil
	}
	var out []string
	at := 0
	for text := range strings.SplitSeq(m.Text, "\n") {
		frame, pre := "", false
		for _, e := range m.Entities {
			if e.Offset <= at && at < e.Offset+e.Length {
				switch e.Type {
				case "blockquote", "expandable_blockquote":
					frame = "┃ "
				case "pre":
					pre = true
				}
			}
		}
		shown := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return r
		}, text)
		if pre {
			out = append(out, shown)
		} else {
			for _, part := range wrap.Wrap(shown, wrap.Width-len([]rune(frame))) {
				out = append(out, frame+part)
			}
		}
		at += len(utf16.Encode([]rune(text))) + 1
	}
	return out
}
