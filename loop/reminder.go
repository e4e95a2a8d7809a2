package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// reminderFrom is the shortest total time of a question that gets a reminder.
// The reminder comes after two thirds of that time, so at least ReminderLeft
// remains. In a shorter question, too little time would remain for an answer.
const reminderFrom = 3 * ReminderLeft

// ReminderLeft is the least time that a reminder leaves for the answer. A
// reminder that could not be sent before that is dropped.
const ReminderLeft = 5 * time.Minute

// scheduleReminder sets the expiry of a question and the time of its reminder.
// Only agents' questions get a reminder. Blocked tasks and manual checks have
// no expiry and are named in each morning's digest; a confirmation of a
// person's own command should not wake anybody.
func scheduleReminder(q *ledger.Question, asked, expires time.Time) {
	q.Expires, q.Remind = expires, time.Time{}
	if whole := expires.Sub(asked); q.Reminds() && whole >= reminderFrom {
		q.Remind = expires.Add(-whole / 3)
	}
}

// remind records the questions whose reminder is due.
func (d *decision) remind() {
	for _, q := range slices.Clone(d.Project.Questions) {
		if !q.Remind.IsZero() && !d.in.Time.Before(q.Remind) && d.Project.shelved(q) == "" {
			d.add(scope{task: q.Task, session: q.Session}, ledger.ReminderDue{ID: q.ID})
		}
	}
}
