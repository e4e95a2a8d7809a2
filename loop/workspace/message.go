package workspace

import (
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// message returns the text of a task's commit: subject, body and footers, each
// a paragraph of its own or more.
//
// Title and body are words of people and agents. Neither can put in a footer:
// the last paragraph has our lines alone, and a line of the body that a program
// could take for a footer, or for the end of the message, is indented. What looks
// like a secret is removed.
func message(c ledger.CommitTask) string {
	parts := []string{secret.Redact(strings.Join(strings.Fields(printable(c.Subject)), " "))}
	for _, p := range []string{bodyText(secret.Redact(printable(c.Body))), footerText(c.Footers)} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// printable returns a text without what nobody sees, and with plain spaces alone:
// what a reader's program shows as a line is one here as well.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.ReplaceAll(text.Visible(s), "\t", "    "))
}

// offsetLine matches a line that is indented in a body:
//
//   - what git reads as a footer, by its usual separators and others that can be
//     configured ("Word-Word: value"), and what it writes among footers itself;
//   - what ends a message for git interpret-trailers, git am and git commit: a
//     line that begins with "---" or "diff -", and the scissors.
var offsetLine = regexp.MustCompile(`^[A-Za-z0-9-]+ *[:=#]|^\(cherry picked from|^---|^diff -|>8|8<`)

// bodyText returns an agent's summary as the body of a commit.
func bodyText(s string) string {
	lines := strings.Split(strings.TrimSpace(printable(s)), "\n")
	for n, line := range lines {
		line = strings.TrimRight(line, " ")
		if offsetLine.MatchString(line) {
			line = "    " + line
		}
		lines[n] = line
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// footerLine is the form of a footer.
var footerLine = regexp.MustCompile(`^[A-Za-z0-9-]+: .*\S`)

// footerText returns footers as one paragraph. It keeps no line of another form
// and no second head of the ledger, which only a value with a line end could
// have brought in.
func footerText(s string) string {
	var lines []string
	head := false
	for line := range strings.SplitSeq(printable(s), "\n") {
		line = strings.TrimSpace(line)
		isHead := strings.HasPrefix(line, HeadFooter+":")
		if footerLine.MatchString(line) && !(isHead && head) {
			lines = append(lines, line)
			head = head || isHead
		}
	}
	return strings.Join(lines, "\n")
}
