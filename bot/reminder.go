package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
)

// reminderPrefix begins the keys of reminders.
const reminderPrefix = "remind/"

// ReminderKey is the key under which a chat is reminded of a question. It is
// another one than the question's own: both messages say how it was settled.
func ReminderKey(question string) string { return reminderPrefix + question }

// QuestionOf is the question that a message with the key is about, its own one
// or its reminder; "" where it is about something else.
func QuestionOf(key string) string {
	if id := strings.TrimPrefix(key, reminderPrefix); questionID.MatchString(id) {
		return id
	}
	return ""
}

// Reminder says once more that an agent's question is open: until when, and
// what happens without an answer.
func Reminder(s loop.State, q loop.Question, now time.Time) Message {
	m := Ask(s, q, now)
	m.Key = "ask.reminder"
	m.Lines[0].Text = reminded(s, q)
	still := Line{Text: "Asked " + Clock(q.Asked, now) + ", still open until " + Clock(q.Expires, now) + "."}
	m.Lines = append([]Line{m.Lines[0], still}, m.Lines[1:]...)
	return m
}

// reminded is the first line, with as much of the question as fits: who reads
// it again has to know which one it is. "? shop #4 asks: May an… (q3)"
func reminded(s loop.State, q loop.Question) string {
	const least = 8 // columns: less of it says nothing
	tail, head := " ("+q.ID+")", Headline(s, q)
	project := Cut(Clean(s.Project.Name), max(6, FirstWidth-Width(SignOf(q)+"  "+head+": "+tail)-12))
	first := SignOf(q) + " " + project + " " + head
	if room := FirstWidth - Width(first+": "+tail); room >= least {
		if said := strings.TrimSpace(Cut(Clean(q.Text), room)); said != "" {
			first += ": " + said
		}
	}
	return Cut(first, FirstWidth-Width(tail)) + tail
}
