package ledger

import (
	"slices"
	"strings"
)

// FailureExcerpt is what programs said in an attempt that went wrong: enough for a person to
// see the cause in the message that asks about it. Each text is foreign, without what
// looks like a secret.
type FailureExcerpt struct {
	Run    string `json:"run,omitempty"`    // command that failed in the last verification; "" = none did
	Exit   int    `json:"exit,omitempty"`   // its exit code; 0 = unknown
	Output string `json:"output,omitempty"` // its last lines

	Event   string `json:"event,omitempty"`   // type of the last event that was refused and that no accepted one followed
	Refused string `json:"refused,omitempty"` // why

	Hat  string `json:"hat,omitempty"`  // hat of the session that said Said
	Said string `json:"said,omitempty"` // last words of a session that ended without an event
}

// IsZero reports whether nothing is known.
func (e FailureExcerpt) IsZero() bool { return e == FailureExcerpt{} }

// Bounds of an excerpt. It stands in a question, of which snapshots keep many.
const (
	excerptLines = 3
	excerptLine  = 300 // characters of one line
)

// LastLines returns the last lines of a text that are not blank: as many of them, and
// of each as much, as a FailureExcerpt holds.
func LastLines(text string) string {
	lines := slices.DeleteFunc(strings.Split(strings.ToValidUTF8(text, ""), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	lines = lines[max(len(lines)-excerptLines, 0):]
	for n, l := range lines {
		if r := []rune(strings.TrimRight(l, " \t\r")); len(r) > excerptLine {
			lines[n] = string(r[:excerptLine-1]) + "…"
		} else {
			lines[n] = string(r)
		}
	}
	return strings.Join(lines, "\n")
}

// Words returns what an agent's session said last, in lines for people, "" if its
// output shows nothing. An agent of an earlier release has no Said, and the lines of its
// output that are JSON objects are events, not words.
func (e Exit) Words() string {
	if e.Said != "" {
		return e.Said
	}
	var words []string
	for line := range strings.Lines(e.Tail) {
		if !strings.HasPrefix(strings.TrimSpace(line), "{") {
			words = append(words, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(words, "\n")
}
