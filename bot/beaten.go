package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Beaten is what somebody is told whose answer came too late, in one line
// (PHONE 3.11): who was first and, where they wanted something else, the
// command that overrules it. actor is who is told, by id, and choice the verb
// that they pressed.
func Beaten(s loop.Answered, actor, choice string, now time.Time) string {
	text := beaten(s, actor, now) + ". " + unchanged
	if over := overrule(s, choice, "", now); over != "" {
		text += " To overrule: " + over
	}
	return text
}

// BeatenMessage is Beaten as the answer to a line that was typed, in which
// words can stand behind the verb, or instead of it.
func BeatenMessage(s loop.Answered, actor, choice, words string, now time.Time) Message {
	m := newMessage("press.second", SignFailed+" "+beaten(s, actor, now))
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

// beaten is "Mira was first: Retry, 07:31" to others, and "q5 is settled:
// Retry, Mira 07:31" to Mira herself, and where nobody answered in time.
func beaten(s loop.Answered, actor string, now time.Time) string {
	at, what := Clock(s.At, now), upper(Cut(Clean(s.Choice), 14))
	switch {
	case what == "":
		what = "answered"
	case s.Subject.Kind == ledger.AskAgent && len(s.Choice) == 1:
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
	task, several := arg(s.Subject.Task), ids(s.Subject.Tasks)
	guide := func(words string) string {
		if words == "" || len(words) > maxTwin {
			return "/guidance #" + task + wordsWanted
		}
		return "/guidance #" + task + " " + words
	}
	switch string(s.Subject.Kind) + " " + choice {
	case "blocked retry", "manual fail": // what was passed is done: only a retry has it done again
		return "/retry " + task
	case "blocked skip", "agent skip":
		return "/skip " + task
	case "blocked guide":
		return guide(words)
	case "manual pass":
		if s.Before != nil && !now.After(s.At.Add(loop.UndoTime)) {
			return Undoing(s.ID)
		}
		return ""
	case "review resume":
		return "/resume"
	case "review stop", "baseline stop":
		return "/stop"
	case "unticked redo", "skip wait":
		if several == "" {
			return ""
		}
		return "/retry " + several
	case "skip skip":
		if several == "" {
			return ""
		}
		return "/skip " + several
	case "plan reject":
		return "/plan redo " + task + wordsWanted // an admin's: only they are asked
	}
	switch {
	case s.Subject.Kind != ledger.AskAgent:
		return ""
	case len(choice) == 1 && words == "": // one of its options, which the question's message has
		return guide("")
	}
	return guide(own)
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
