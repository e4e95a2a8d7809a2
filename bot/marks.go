package bot

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

var (
	// inlineCode matches code within a line of Markdown: one or two backticks, and as
	// many at its end.
	inlineCode = regexp.MustCompile("``([^`]+)``|`([^`]+)`")
	// fence matches the first or last line of a block of code. Markdown takes tildes
	// too, but people draw lines with them.
	fence = regexp.MustCompile("^\\s*```+[\\w+-]*\\s*$")
)

// WithoutMarks returns a text that an agent or a person wrote without the backticks of
// Markdown, which no chat and no terminal renders: `x` becomes x, and the lines that
// fence a block of code go. A backtick without its partner stays: it may be meant.
func WithoutMarks(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if fence.MatchString(line) {
			continue
		}
		out = append(out, inlineCode.ReplaceAllString(line, "$1$2"))
	}
	return strings.Join(out, "\n")
}
