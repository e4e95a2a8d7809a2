package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ConflictText tells a person, in one line, that their answer came too late
// (docs/spec 23.11): who answered first and, if the person wanted something
// else, the command that overrules the first answer. actor is the person's id,
// choice the verb that they pressed.
func ConflictText(s loop.Answered, actor, choice string, now time.Time) string {
	text := conflictLine(s, actor, now) + ". " + unchanged
	if over := overrule(s, choice, "", now).Command; over != "" {
		text += " To overrule: " + over
	}
	return text
}

// Conflict returns the content of ConflictText as the reply to a typed answer.
// words is the text behind the verb; choice is "" for an answer without a verb. Words of
// a person's own are quoted: they stand nowhere else.
func Conflict(s loop.Answered, actor, choice, words string, now time.Time) Message {
	m := refusal("press.second", SignFailed+" "+conflictLine(s, actor, now))
	if own := ownAnswer(s, choice, words); own != "" {
		m.quote(own)
	}
	m.add(unchanged)
	if over := overrule(s, choice, words, now); over.Command != "" {
		over.Label = "Overrule"
		if over.Placeholder != "" {
			over.Label += "…"
		}
		m.Buttons = append(m.Buttons, over) // unchanged: it may repeat a person's words
	}
	return m
}

// ownAnswer returns what a late answer says in a person's own words, "" for a verb or an
// option's letter alone.
func ownAnswer(s loop.Answered, choice, words string) string {
	choice, words = strings.TrimSpace(choice), strings.TrimSpace(words)
	_, verb := wordings[s.Subject.Kind].verbs[strings.ToLower(choice)]
	if words == "" && (verb || len(choice) == 1) {
		return ""
	}
	return strings.TrimSpace(choice + " " + words)
}

// conflictLine returns "Mira was first: Retry, 07:31" for other people, "q5 is
// settled: Retry, Mira 07:31" for Mira herself, and "q5 is settled:" with the
// ledger's text for a question that ended without an answer.
func conflictLine(s loop.Answered, actor string, now time.Time) string {
	subject := ledger.Question{Kind: s.Subject.Kind}
	at, what := Clock(s.At, now), upper(Cut(Foreign(s.Choice), 14))
	switch {
	case what == "":
		what = "answered"
	case subject.OwnWords() && len(s.Choice) == 1:
		what = strings.ToUpper(s.Choice)
	}
	by := Cut(Foreign(s.By), 12)
	if s.By == "console" {
		by = theHost
	}
	switch {
	case s.By == "":
		return s.ID + " is settled: " + Cut(Foreign(s.Text), 40) + ", " + at
	case s.Actor == actor:
		return s.ID + " is settled: " + what + ", " + by + " " + at
	}
	return upper(by) + " was first: " + what + ", " + at
}

// unchanged ends the reply to an answer that came too late and changes nothing.
const unchanged = "Nothing changed."

// overrule returns a button, without its label, that still carries out what a late
// answer wanted. It is zero if the answer wanted the same as the first, if nobody
// answered the question, or if no command can carry it out any more.
func overrule(s loop.Answered, choice, words string, now time.Time) Button {
	own := strings.TrimSpace(choice + " " + words)
	choice, words = strings.ToLower(strings.TrimSpace(choice)), strings.TrimSpace(words)
	if s.By == "" || choice == "" && words == "" || choice == strings.ToLower(s.Choice) && words == "" {
		return Button{}
	}
	w, known := wordings[s.Subject.Kind]
	if !known {
		return Button{}
	}
	v, is := w.verbs[choice]
	switch {
	case is && v.overrule != nil:
		return v.overrule(s, words, now)
	case is || w.own == nil:
		return Button{}
	case len(choice) == 1 && words == "": // an option's letter: the option's text stands in the question's message
		return guideAgain(s, "")
	}
	return guideAgain(s, own)
}

// taskArgs writes tasks as the arguments of a command, "" if they are too many to type.
func taskArgs(tasks []string) string {
	const most = 6
	if len(tasks) > most {
		return ""
	}
	var out []string
	for _, id := range tasks {
		out = append(out, idArg(id))
	}
	return strings.Join(out, " ")
}

// guideAgain returns the command that gives the late answer's words as guidance
// to the task of the settled question. It leaves out words longer than maxTwin,
// which have to be typed again.
func guideAgain(s loop.Answered, words string) Button {
	to := "/guidance #" + idArg(s.Subject.Task)
	if words == "" || len(words) > maxTwin {
		return textButton("", to, "WORDS")
	}
	return Button{Command: to + " " + words}
}
