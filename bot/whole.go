package bot

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// What a person decides on is never shorter in the chat than in the ledger
// (docs/spec 21.8): the question, its options, why a task is blocked, what was tried,
// and what a reviewer or a session said about guidance.

// whole adds text by a person, an agent or a program as a quote that nothing is cut
// from. Its line breaks and indentation stay; a chat folds what is longer than two
// lines. Only the backticks of Markdown go.
func (m *Message) whole(text string) { m.verbatim(WithoutMarks(text)) }

// verbatim is whole for what a program printed.
func (m *Message) verbatim(text string) {
	for _, line := range CleanLines(text) {
		if strings.TrimSpace(line) != "" {
			m.Lines = append(m.Lines, Line{Kind: Quote, Text: line})
		}
	}
}

// labelled adds foreign text behind a label, in one line if it is short: "Tried: by
// line". A longer text is a quote below its label.
func (m *Message) labelled(label, text string) {
	text = WithoutMarks(text)
	switch one := Foreign(text); {
	case one == "":
	case isShort(text, mostSaid):
		m.add(label + ": " + one)
	default:
		m.add(label + ":")
		m.whole(text)
	}
}

// isShort reports whether a text is one line of at most most columns.
func isShort(text string, most int) bool {
	return !strings.ContainsAny(strings.TrimSpace(text), "\r\n") && Width(Clean(text)) <= most
}

// Limits of the quotes and the other lines of a message that Shorten shortened, in
// characters. A platform may show up to four units for each.
const (
	shortLine = 250
	leastLine = 80
	allInFile = "All of it is in the file."
	notAll    = "The rest does not fit here."
)

// Shorten returns a message whose whole text stands elsewhere, or nowhere if inFile is
// false: the first and the last line and the buttons, and of what is between them as
// much as fits. Preformatted lines are left out first, then the ends of quotes, then
// other lines. most is the limit in characters, and fits says whether a message is
// within the platform's own; it must hold for a message that is shortened further if it
// holds for one.
func (m Message) Shorten(inFile bool, most int, fits func(Message) bool) Message {
	kept := slices.DeleteFunc(slices.Clone(m.Lines), func(l Line) bool { return l.Kind == Pre })
	note := notAll
	if inFile {
		note = allInFile
	}
	try := func(lines, quote, line int) Message { return m.shortened(kept, lines, quote, line, note) }
	total := 0
	for _, l := range kept {
		total += utf8.RuneCountInString(l.Text)
	}
	if all := try(len(kept), most, most); total <= most && fits(all) {
		return all
	}
	if fits(try(len(kept), leastLine, shortLine)) {
		quote := sort.Search(most, func(n int) bool { return !fits(try(len(kept), n+1, shortLine)) })
		return try(len(kept), quote, shortLine)
	}
	if lines := sort.Search(len(kept), func(n int) bool { return !fits(try(n+1, leastLine, shortLine)) }); lines > 0 {
		return try(lines, leastLine, shortLine)
	}
	return try(1, leastLine, leastLine)
}

// shortened returns the message with the first of its kept lines and the last one: of
// each quote at most quote characters, of any other line at most line. If something
// is missing then, note says so above the last line.
func (m Message) shortened(kept []Line, lines, quote, line int, note string) Message {
	last := len(kept) - 1
	cut := len(m.Lines) > len(kept) && m.Lines[len(m.Lines)-1].Kind == Plain // a log or a diff ends with what the file is for
	m.Lines = nil
	room := quote
	for n, l := range kept {
		whole := l.Text
		switch {
		case n >= lines && n < last:
			cut = true
			continue
		case l.Kind == Quote:
			l.Text = cutChars(l.Text, room)
			room = max(room-utf8.RuneCountInString(whole)-1, 0)
		default:
			l.Text, room = cutChars(l.Text, line), quote
		}
		cut = cut || l.Text != whole
		if n == last && n > 0 && cut && l.Kind == Plain {
			m.Lines = append(m.Lines, Line{Text: note})
		}
		if l.Text != "" || whole == "" {
			m.Lines = append(m.Lines, l)
		}
		if n == last && cut && (n == 0 || l.Kind != Plain) {
			m.Lines = append(m.Lines, Line{Text: note})
		}
	}
	return m
}

// cutChars shortens a text to at most most characters and ends it with "…", at a space
// if the last quarter has one.
func cutChars(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	if most < 2 {
		return ""
	}
	head := string([]rune(s)[:most-1])
	if at := strings.LastIndexByte(head, ' '); at > len(head)*3/4 {
		head = head[:at]
	}
	return strings.TrimRight(head, " ") + "…"
}
