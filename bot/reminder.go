package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
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
func Reminder(s loop.State, q ledger.Question, now time.Time) Message {
	m := Ask(s, q, now)
	m.Key = "ask.reminder"
	still := Line{Text: "Asked " + Clock(q.Asked, now) + ", still open until " + Clock(q.Expires, now) + "."}
	m.Lines = append([]Line{m.Lines[0], still}, m.Lines[1:]...)
	return m
}
