package bot

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// ExcerptPart is a part of what programs said of a failure: a line that says which
// program, and its own words.
type ExcerptPart struct{ Head, Text string }

// ExcerptParts returns what programs said in the attempt that ended for the given
// reason, nil for nothing. What the reason says already is left out.
func ExcerptParts(reason string, x *ledger.FailureExcerpt) (parts []ExcerptPart) {
	if x == nil {
		return nil
	}
	add := func(head, text string) {
		if text = strings.TrimSpace(text); text != "" && !strings.Contains(Clean(reason), Clean(text)) {
			parts = append(parts, ExcerptPart{head, text})
		}
	}
	if x.Run != "" {
		add(SignFailed+" "+CommandName(x.Run)+exitText(x.Exit), x.Output)
	}
	add("hat refused its report", x.Refused)
	if rest, same := strings.CutSuffix(Clean(x.Said), Clean(x.Refused)); !same || strings.TrimSpace(rest) != "hat: refused:" { // which is what hat printed last
		add(hatsWords(x.Hat), x.Said)
	}
	return parts
}

// exitText returns ", exit 2" for the exit code of a failed command, "" for none.
func exitText(code int) string {
	if code <= 0 {
		return ""
	}
	return fmt.Sprintf(", exit %d", code)
}

// hatsWords introduces the last words of a session.
func hatsWords(hat string) string {
	if hat = Clean(hat); hat == "" {
		return "Its last words"
	}
	return "The " + Cut(hat, 16) + "'s last words"
}

// excerpt adds what programs said in the attempt that ended for the given reason.
func (m *Message) excerpt(reason string, x *ledger.FailureExcerpt) {
	for _, p := range ExcerptParts(reason, x) {
		m.add(p.Head + ":")
		m.verbatim(p.Text)
	}
}

// whyButton adds the button that shows why a task failed. Its label names the task
// where a message has others.
func (m *Message) whyButton(task string, named bool) {
	label := "Why"
	if named {
		label += " " + shortID(task)
	}
	m.button(label, "/why "+idArg(task))
}
