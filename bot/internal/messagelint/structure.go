package messagelint

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// Structure returns what programs read of a message: its key, what it is about,
// the kinds of its lines, and its buttons without their labels. Two messages that
// differ only in sentences have the same structure.
func Structure(m bot.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s project=%s about=%s refused=%v", m.Key, m.Project, m.About, m.Refused)
	kinds := []bot.LineKind{}
	for _, l := range m.Lines {
		if !l.Rest { // a first line that was too wide goes on in the second one
			kinds = append(kinds, l.Kind)
		}
	}
	fmt.Fprintf(&b, " lines=%q", kinds)
	for _, button := range m.Buttons {
		fmt.Fprintf(&b, " [%s %q]", button.Command, button.Placeholder)
	}
	return b.String()
}
