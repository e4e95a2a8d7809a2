package chattest

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// Screen returns a message in the columns of a phone: its lines, the labels of its
// buttons, and the commands to type instead of them.
func Screen(m bot.Message) string {
	var b strings.Builder
	for _, l := range m.Lines {
		switch l.Kind {
		case bot.Quote:
			for _, part := range bot.Wrap(l.Text, 36) {
				b.WriteString("┃ " + part + "\n")
			}
		case bot.Pre:
			b.WriteString(l.Text + "\n")
		default:
			b.WriteString(strings.Join(bot.Wrap(l.Text, 38), "\n") + "\n")
		}
	}
	if len(m.Buttons) == 0 {
		return b.String()
	}
	var labels []string
	for _, x := range m.Buttons {
		labels = append(labels, "["+x.Label+"]")
	}
	b.WriteString(strings.Join(labels, " ") + "\n› " + m.Twins() + "\n")
	return b.String()
}

// Headline returns a status without the lines below its first, which the golden
// files of package bot hold. Other messages stay as they are.
func Headline(m bot.Message) bot.Message {
	if strings.HasPrefix(m.Key, "status.") && m.Key != "status.all" {
		m.Lines = m.Lines[:1]
	}
	return m
}
