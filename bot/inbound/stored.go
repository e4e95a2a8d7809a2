package inbound

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
)

var (
	// trailingCapitals matches the placeholder in a command: "q5 guide WORDS", "q4
	// fail WHAT YOU SAW".
	trailingCapitals = regexp.MustCompile(`^.*?((?: [A-Z]{2,})+)$`)
	// askingLabel matches the labels of buttons that needed text in releases without
	// bot.Button.Placeholder: "Guide…", "Fail #8…". Other labels end with "…" because
	// they were cut.
	askingLabel = regexp.MustCompile(`^(?:Fail|Guide|Overrule|Redo|Reject|Resend)(?: .*)?…$`)
)

// completeStored sets the fields of a sent message that earlier releases did not
// store. They told the same by the message's texts alone.
func completeStored(m *bot.Message) {
	for n, b := range m.Buttons {
		if b.Placeholder == "" && askingLabel.MatchString(b.Label) {
			m.Buttons[n].Placeholder = placeholderOf(b.Command)
		}
	}
	for n, l := range m.Lines {
		if l.Text == "Not done yet." {
			m.Lines[n].Pending = true
		}
	}
}

// placeholderOf returns the words in capitals at the end of a command, "" if there
// are none. A person may have typed them; only a stored button tells for sure.
func placeholderOf(command string) string {
	if m := trailingCapitals.FindStringSubmatch(command); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}
