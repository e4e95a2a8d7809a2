package bot

import (
	"errors"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// joiner is U+2060, an invisible word joiner. No chat finds a command across it.
const joiner = '\u2060'

var ownCommand = regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_]*$`)

// Foreign is Clean for words of a person, an agent or a program that stand in a line of
// nightporter's own. A platform offers the commands of such a line, so a joiner divides
// each command in the words: nobody stops a run by a finger on what an agent wrote.
// Lines of kind Quote and Pre need none: a platform finds no command in them.
func Foreign(s string) string {
	s = Clean(s)
	if !strings.Contains(s, "/") {
		return s
	}
	all := strings.Split(s, " ")
	for i, word := range all {
		if head, core, tail, ours := CommandIn(word); ours {
			all[i] = head + "/" + string(joiner) + core[1:] + tail
		}
	}
	return strings.Join(all, " ")
}

// AsWritten removes the joiners of Foreign, where a text is no longer searched for
// commands: a person may copy it.
func AsWritten(s string) string { return strings.ReplaceAll(s, string(joiner), "") }

// CommandIn separates a word from the punctuation around it, and reports whether it is
// a command of nightporter.
func CommandIn(word string) (head, core, tail string, ours bool) {
	core = strings.TrimLeft(word, `("'[`)
	head = word[:len(word)-len(core)]
	core = strings.TrimRight(core, `.,:;!?)]"'`)
	tail = word[len(head)+len(core):]
	if !ownCommand.MatchString(core) {
		return head, core, tail, false
	}
	_, err := Parse(core)
	var unknown *UnknownError
	return head, core, tail, !errors.As(err, &unknown)
}
