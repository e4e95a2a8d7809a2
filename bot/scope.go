package bot

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/width"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxPaths limits the paths that a message names which asks nothing.
const maxPaths = 5

// outsideHead returns the headline of a question about paths out of scope, in
// width columns. A path that is too long loses its beginning: its end says more.
func outsideHead(q ledger.Question, width int) string {
	text := shortID(q.Task) + " writes outside"
	if len(q.Paths) == 0 {
		return text
	}
	more := ""
	if n := len(q.Paths) - 1; n > 0 {
		more = fmt.Sprintf(" +%d", n)
	}
	const least = 6 // columns: a shorter excerpt does not identify a path
	room := width - Width(text+": "+more)
	if room < least { // drop the count: the message lists the other paths
		room, more = room+Width(more), ""
	}
	if room < least {
		return text
	}
	// The part of a name behind a space could look like a command.
	path := Foreign(strings.ReplaceAll(Clean(q.Paths[0]), " ", "_"))
	return text + ": " + cutPath(path, room) + more
}

// cutPath shortens a path to at most most columns and keeps its end.
func cutPath(p string, most int) string {
	if Width(p) <= most {
		return p
	}
	return "…" + width.Last(p, most-1)
}

// paths lists the paths that were written out of scope. It adds them as Pre
// lines, in which a platform makes nothing tappable: an agent chose the names.
func (m *Message) paths(q ledger.Question) {
	if len(q.Paths) == 0 {
		return
	}
	undone := "Undone, and out of its scope:"
	if len(q.RunsItself) > 0 {
		undone = "Undone, and not named by its scope:" // the scope may permit the folder
	}
	m.add(undone)
	for _, p := range q.Paths {
		m.pre(orElse(Clean(p), "…")) // Clean leaves nothing of a name of control characters
	}
	switch {
	case len(q.RunsItself) == 0:
	case len(q.Paths) == 1:
		m.add("It takes effect by itself where this branch is checked out or pushed.")
	default:
		m.add("Takes effect by itself where this branch is checked out or pushed:")
		for _, p := range q.RunsItself {
			m.pre(orElse(Clean(p), "…"))
		}
	}
}

// newFilesCount returns the number of new files that a question is about, as people
// write it: "300,000".
func newFilesCount(q ledger.Question) string {
	n := 0
	for _, f := range q.TooMany {
		n += f.Files
	}
	return thousands(n)
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// newFiles lists the folders with too many new files as Pre lines: an agent chose
// their names.
func (m *Message) newFiles(q ledger.Question) {
	m.add("Not taken over so far:")
	for _, f := range q.TooMany {
		m.pre(orElse(Clean(f.Path), "…") + "/")
		m.add(thousands(f.Files) + " new files")
	}
}

// secrets lists the places of findings as Pre lines: an agent chose the paths.
func (m *Message) secrets(q ledger.Question) {
	for _, f := range q.Secrets {
		place := Clean(f.Path)
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		m.pre(orElse(place, "…"))
		m.add("looks like " + Cut(Clean(f.Rule), quoteWidth))
	}
}
