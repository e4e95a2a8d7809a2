package request

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/text"
)

// Answer is what the author of a comment is told: once, what became of it, and before
// that at most once why nobody works on it now. A reply for each step in between
// would be read by nobody.
type Answer struct {
	Author string // login
	Words  string // of the comment
	InLine bool   // the reply stands in the thread of the comment
	Cut    int    // characters of the comment that were left out

	Verdict Verdict
	Commit  string // with VerdictDone; "" = nothing had to be changed
	Why     string // a session's or our own words; may be ""
}

// Verdict says what became of a comment.
type Verdict string

// Verdicts.
const (
	VerdictWaits    Verdict = "waits"    // and Why says for what
	VerdictDone     Verdict = "done"     // a session says so
	VerdictDoubted  Verdict = "doubted"  // a session says that it is done, and a reviewer that it is not
	VerdictNot      Verdict = "not done" // Why says why
	VerdictUnspoken Verdict = "unspoken" // a session had it, and did not say what it did
)

// Final reports whether no other answer follows.
func (a Answer) Final() bool { return a.Verdict != VerdictWaits }

// quoted is how many characters of a comment its answer repeats.
const quoted = 100

// Body renders the answer as Markdown. It mentions nobody but the author.
func (a Answer) Body() string {
	s := a.sentence()
	if a.Cut > 0 {
		s += fmt.Sprintf(" The comment was too long: its last %d characters were left out.", a.Cut)
	}
	if a.InLine {
		return s
	}
	first, _, _ := strings.Cut(a.Words, "\n")
	if isLogin(a.Author) {
		s = "@" + a.Author + " " + s
	}
	return "> " + plain(text.First(first, quoted)) + "\n\n" + s
}

// sentence says what became of the comment.
func (a Answer) sentence() string {
	in := ""
	if a.Commit != "" {
		in = " in " + short(a.Commit)
	}
	why := strings.TrimRight(plain(a.Why), ".")
	switch a.Verdict {
	case VerdictWaits:
		return "Not begun yet" + after(": ", why) + "."
	case VerdictDone:
		return "Done" + in + after(": ", why) + "."
	case VerdictDoubted:
		return "Said to be done" + in + ", and a reviewer disagrees" + after(": ", why) + "."
	case VerdictUnspoken:
		if in == "" {
			return "The session that had it did not say what it did."
		}
		return "The session that had it did not say what it did; its change is" + in + "."
	}
	return "Not done" + after(": ", why) + "."
}

// after returns words behind a separator, "" for no words.
func after(separator, words string) string {
	if words == "" {
		return ""
	}
	return separator + words
}

// isLogin reports whether forges could take a text for the name of one account.
func isLogin(s string) bool {
	const most = 40 // characters; GitHub's have 39 at most
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r))
	})
}
