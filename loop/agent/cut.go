package agent

import "strings"

// lineStart returns at most most bytes of a line from its start, and lineEnd from its
// end. Neither has a part of the word at the cut: half of a secret has not the form by
// which secrets are found and taken out.
func lineStart(line string, most int) string {
	if len(line) <= most {
		return line
	}
	if line = strings.TrimRightFunc(line[:most], ofWord); line == "" {
		return "…" // a single word
	}
	return line
}

func lineEnd(line string, most int) string {
	if len(line) <= most {
		return line
	}
	return strings.TrimLeftFunc(line[len(line)-most:], ofWord)
}

// ofWord reports whether a secret can contain a character.
func ofWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+/=.~%", r)
}
