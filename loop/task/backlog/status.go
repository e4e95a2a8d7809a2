package backlog

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Status is the word of a row's status, or of its spec's.
type Status string

// Words of a status. The first six are those of the tables in use; ManualVerify is
// nightporter's addition, since none of them says that a person has to look.
const (
	Draft        Status = "draft" // not meant to be worked on yet
	Queued       Status = "queued"
	InProgress   Status = "in_progress"
	Blocked      Status = "blocked"
	Resumed      Status = "resumed" // a person dealt with what blocked it: work again
	Done         Status = "done"
	ManualVerify Status = "manual_verify"
)

// Statuses holds the word that is written for each mark.
var Statuses = map[ledger.Mark]string{
	ledger.MarkOpen: string(Queued), ledger.MarkDone: string(Done), ledger.MarkBlocked: string(Blocked),
	ledger.MarkManualVerify: string(ManualVerify), ledger.MarkWorking: string(InProgress),
}

// expectedStatus lists the words for findings.
const expectedStatus = "expected draft, queued, in_progress, blocked, resumed, done or manual_verify"

// mark returns what a status says of a task.
func (s Status) mark() ledger.Mark {
	switch s {
	case Done:
		return ledger.MarkDone
	case Blocked:
		return ledger.MarkBlocked
	case ManualVerify:
		return ledger.MarkManualVerify
	}
	return ledger.MarkOpen
}

// markedAs returns the status that a mark gives to a row. A blocked task that is open
// again is resumed; one that is open already keeps its word.
func (s Status) markedAs(m ledger.Mark) Status {
	switch {
	case m == ledger.MarkOpen && s == Blocked:
		return Resumed
	case m == ledger.MarkOpen && s == Resumed:
		return Resumed
	}
	return Status(Statuses[m])
}

var statusWord = regexp.MustCompile(`(?i)draft|queued|in[ _-]?progress|blocked|resumed|done|manual[ _-]?verify`)

// plainStatus has the words as they are usually written.
var plainStatus = map[string]Status{
	"draft": Draft, "queued": Queued, "in_progress": InProgress, "blocked": Blocked, "resumed": Resumed, "done": Done, "manual_verify": ManualVerify,
}

// findStatus returns the status in a text and where its word stands. The word comes
// first but for emphasis, quotes and pictures; remarks may follow it. ok is false for
// a text that does not begin with one, that has another one as well, or that strikes
// it out or asks.
func findStatus(data []byte, at form.Span) (status Status, word form.Span, ok bool) {
	text := data[at.Start:at.End]
	if plain, known := plainStatus[string(text)]; known { // nearly always
		return plain, at, true
	}
	for _, m := range statusWord.FindAllIndex(text, -1) {
		before, _ := utf8.DecodeLastRune(text[:m[0]])
		after, _ := utf8.DecodeRune(text[m[1]:])
		if m[0] > 0 && isWordRune(before) || m[1] < len(text) && isWordRune(after) {
			continue // "undone"
		}
		found := canonical(string(text[m[0]:m[1]]))
		switch {
		case ok && found != status:
			return "", form.Span{}, false
		case !ok:
			for _, r := range string(text[:m[0]]) {
				if isWordRune(r) && r != '_' {
					return "", form.Span{}, false
				}
			}
			if bytes.Contains(text[:m[0]], []byte("~~")) || bytes.HasPrefix(text[m[1]:], []byte("?")) {
				return "", form.Span{}, false
			}
			status, word, ok = found, form.Span{Start: at.Start + m[0], End: at.Start + m[1]}, true
		}
	}
	return status, word, ok
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// canonical returns the status that a word is, whatever its case.
func canonical(word string) Status {
	switch w := strings.ToLower(word); w[0] {
	case 'i':
		return InProgress
	case 'm':
		return ManualVerify
	default:
		return Status(w)
	}
}

// like returns the status in the case of the word that it replaces.
func (s Status) like(old string) string {
	switch first, _ := utf8.DecodeRuneInString(old); {
	case old == strings.ToUpper(old):
		return strings.ToUpper(string(s))
	case unicode.IsUpper(first):
		return strings.ToUpper(string(s[:1])) + string(s[1:])
	}
	return string(s)
}
