package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// reminderPrefix begins the keys of reminders.
const reminderPrefix = "remind/"

// ReminderKey returns the key of a question's reminder. It differs from the
// question's own key, so that both messages are edited when the question is
// settled.
func ReminderKey(question string) string { return reminderPrefix + question }

// ReplyKey begins the key of a reply with buttons, which go by an edit once they are spent.
const ReplyKey = "reply/"

// ElsewhereKey returns the key of the message that tells a group that a question is asked
// in a person's own chat.
func ElsewhereKey(question string) string { return "asked/" + question }

// QuestionOf returns the id of the question that a message's key stands for, also
// for a reminder's key; "" for any other key.
func QuestionOf(key string) string {
	if id := strings.TrimPrefix(key, reminderPrefix); questionID.MatchString(id) {
		return id
	}
	return ""
}

// Reminder repeats an open question, with the time at which it expires.
func Reminder(s loop.State, q ledger.Question, now time.Time) Message {
	m := Ask(s, q, now)
	m.Key = "ask.reminder"
	still := Line{Text: "Asked " + Clock(q.Asked, now) + ", still open until " + Clock(q.Expires, now) + "."}
	m.Lines = append([]Line{m.Lines[0], still}, m.Lines[1:]...)
	return m
}
