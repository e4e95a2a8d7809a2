package bot

import (
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

var (
	// inlineCode matches code within a line of Markdown: one or two backticks, and as
	// many at its end.
	inlineCode = regexp.MustCompile("``([^`]+)``|`([^`]+)`")
	// fence matches the first or last line of a block of code, with what stands behind
	// the backticks. Markdown takes tildes too, but people draw lines with them.
	fence = regexp.MustCompile("^\\s*```+([\\w+-]*)\\s*$")
	// language matches what names the language of a block and no word of a person.
	language = regexp.MustCompile(`(?i)^(?:go|golang|jsx?|tsx?|javascript|typescript|sh|bash|shell|console|py|python|json|ya?ml|toml|diff|te?xt|html|css|sql|rust|java|kotlin|cpp|c\+\+|csharp|ruby|php|swift|xml|markdown|md)$`)
)

// WithoutMarks returns a text that an agent or a person wrote without the backticks of
// Markdown, which no chat and no terminal renders: `x` becomes x, and the lines that
// fence a block of code go. A backtick without its partner stays: it may be meant.
func WithoutMarks(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	text = escapes.ReplaceAllString(text, "") // before a mark goes that one of them ends with
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if f := fence.FindStringSubmatch(line); f != nil {
			if f[1] != "" && !language.MatchString(f[1]) {
				out = append(out, f[1])
			}
			continue
		}
		out = append(out, inlineCode.ReplaceAllString(line, "$1$2"))
	}
	return strings.Join(out, "\n")
}
