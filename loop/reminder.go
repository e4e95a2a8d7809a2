package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A question that ends by itself is said once more before it does, when two
// thirds of its time are over. One with less time than this has none: what is
// left then would be too short to come back from anywhere. Every other one has
// ReminderLeft left at least.
const reminderFrom = 3 * ReminderLeft

// ReminderLeft is how much of a question's time a reminder has to leave. Where
// less is left, because nobody was there in time to say it, it is not said.
const ReminderLeft = 5 * time.Minute

// until gives a question its end, and the time for its reminder. Only agents'
// questions have one: blocked tasks and manual checks wait as long as it takes,
// and the digest names them each morning; what somebody was asked back about
// their own command is none of anybody's night.
func scheduleReminder(q *ledger.Question, asked, expires time.Time) {
	q.Expires, q.Remind = expires, time.Time{}
	if whole := expires.Sub(asked); q.Reminds() && whole >= reminderFrom {
		q.Remind = expires.Add(-whole / 3)
	}
}

// remind says which questions are to be said once more.
func (d *decision) remind() {
	for _, q := range slices.Clone(d.Project.Questions) {
		if !q.Remind.IsZero() && !d.in.Time.Before(q.Remind) && d.Project.shelved(q) == "" {
			d.add(scope{task: q.Task, session: q.Session}, ledger.ReminderDue{ID: q.ID})
		}
	}
}
