package prompt

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// artefactText names what the task takes from others, what it has to leave for others,
// and what its source proves it by. It is empty for most tasks.
func (b *builder) artefactText() string {
	t := b.task.Task
	var lines []string
	for _, input := range t.Inputs {
		lines = append(lines, "Uses "+b.inputText(input)+".")
	}
	for _, o := range t.Outputs {
		switch {
		case o.Path != "":
			lines = append(lines, fmt.Sprintf("Has to leave `%s` (%s), for other tasks.", o.Path, o.Name))
		default:
			lines = append(lines, fmt.Sprintf("Has to say %s in its summary, for other tasks.", o.Name))
		}
	}
	if t.Evaluation != "" {
		lines = append(lines, fmt.Sprintf("Is proved by `%s`, which has to pass at its end.", t.Evaluation))
	}
	if t.Verifier && b.hat.Writes() {
		lines = append(lines, "Is done when a verifier, who tries the result against each acceptance criterion, says so.")
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n\nThe task:\n- " + strings.Join(lines, "\n- ")
}

// inputText names an input, "TASK/NAME", by the file that the other task leaves.
func (b *builder) inputText(input string) string {
	at := strings.LastIndexByte(input, '/')
	if at < 0 {
		return "`" + input + "`"
	}
	other, ok := b.project.Find(input[:at])
	if !ok {
		return "`" + input + "`"
	}
	text := fmt.Sprintf("%s of %s", input[at+1:], other.Task.ID)
	for _, o := range other.Task.Outputs {
		if o.Name == input[at+1:] && o.Path != "" {
			text = fmt.Sprintf("`%s`, the %s", o.Path, text)
		}
	}
	if other.Status != ledger.Done {
		text += " (not done yet: it may be missing)"
	}
	return text
}
