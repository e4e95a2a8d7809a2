package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ConflictText is what somebody is told whose answer came too late, in one line
// (docs/spec 23.11): who was first and, where they wanted something else, the
// command that overrules it. actor is who is told, by id, and choice the verb
// that they pressed.
func ConflictText(s loop.Answered, actor, choice string, now time.Time) string {
	text := conflictLine(s, actor, now) + ". " + unchanged
	if over := overrule(s, choice, "", now); over != "" {
		text += " To overrule: " + over
	}
	return text
}

// Conflict is ConflictText as the answer to a line that was typed, in which
// words can stand behind the verb, or instead of it.
func Conflict(s loop.Answered, actor, choice, words string, now time.Time) Message {
	m := refusal("press.second", SignFailed+" "+conflictLine(s, actor, now))
	m.add(unchanged)
	if over := overrule(s, choice, words, now); over != "" {
		label := "Overrule"
		if strings.HasSuffix(over, wordsWanted) {
			label += "…"
		}
		m.exact(label, over)
	}
	return m
}

// conflictLine is "Mira was first: Retry, 07:31" to others, and "q5 is settled:
// Retry, Mira 07:31" to Mira herself, and where nobody answered in time.
func conflictLine(s loop.Answered, actor string, now time.Time) string {
	subject := ledger.Question{Kind: s.Subject.Kind}
	at, what := Clock(s.At, now), upper(Cut(Clean(s.Choice), 14))
	switch {
	case what == "":
		what = "answered"
	case subject.OwnWords() && len(s.Choice) == 1:
		what = strings.ToUpper(s.Choice)
	}
	by := Cut(Clean(s.By), 12)
	if s.By == "console" {
		by = theHost
	}
	switch {
	case s.By == "":
		return s.ID + " is settled: " + Cut(Clean(s.Text), 40) + ", " + at
	case s.Actor == actor:
		return s.ID + " is settled: " + what + ", " + by + " " + at
	}
	return upper(by) + " was first: " + what + ", " + at
}

// unchanged is what an answer that came too late did.
const unchanged = "Nothing changed."

// wordsWanted stands in a twin for what its reader types.
const wordsWanted = " WORDS"

// overrule is the command that brings about what an answer that came too late
// wanted, "" where it wanted the same, or nothing brings it about any more.
func overrule(s loop.Answered, choice, words string, now time.Time) string {
	own := strings.TrimSpace(choice + " " + words)
	choice, words = strings.ToLower(strings.TrimSpace(choice)), strings.TrimSpace(words)
	if s.By == "" || choice == "" && words == "" || choice == strings.ToLower(s.Choice) && words == "" {
		return ""
	}
	w, known := wordings[s.Subject.Kind]
	if !known {
		return ""
	}
	v, is := w.verbs[choice]
	switch {
	case is && v.overrule != nil:
		return v.overrule(s, words, now)
	case is || w.own == nil:
		return ""
	case len(choice) == 1 && words == "": // one of its options, which the question's message has
		return guideAgain(s, "")
	}
	return guideAgain(s, own)
}

// ids are tasks as a command takes them, "" where they are too many to be typed.
func ids(tasks []string) string {
	const most = 6
	if len(tasks) > most {
		return ""
	}
	var out []string
	for _, id := range tasks {
		out = append(out, arg(id))
	}
	return strings.Join(out, " ")
}
