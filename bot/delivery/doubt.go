package delivery

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits for sending a message again when nobody knows whether it arrived.
const (
	minResendWait  = 5 * time.Second  // quadrupled with each copy
	maxResendWait  = time.Hour        // between two copies
	minBlindWait   = 10 * time.Minute // minimum while no other call proves that the platform answers
	maxBlindCopies = 3                // maximum number of copies without such a proof
	setAsideAfter  = 3                // number of copies after which the chat's other messages overtake the message
	giveUpAfter    = 24 * time.Hour   // measured from the commit of the message
)

// doubt describes a message that may have arrived: its sending began, and no
// certain answer followed.
type doubt struct {
	copies      int       // sends and edits without a certain answer
	sends       int       // the sends among them: each may stand in the chat
	targetGone  bool      // the message to edit does not exist any more
	restartedAt time.Time // start of this process, if an earlier process left the doubt
	lastTry     time.Time // time of the last copy, zero = before this process
	answersThen int       // circuit.answersSoFar at lastTry
}

// doubtOf returns the doubt about a message, nil if there is none. If the
// outbox says that sending began, and this process did not begin it, an earlier
// process left the doubt.
func (c *chat) doubtOf(m ledger.QueuedMessage) *doubt {
	d := c.doubts[m.ID]
	if d == nil && m.InDoubt > 0 {
		d = &doubt{copies: m.InDoubt, sends: m.InDoubt}
		if m.Time.Before(c.d.startedAt) {
			d.restartedAt = c.d.startedAt
		}
		c.doubts[m.ID] = d
	}
	return d
}

// addDoubt counts one more copy without a certain answer.
func (c *chat) addDoubt(m ledger.QueuedMessage, asSend bool) *doubt {
	d := c.doubts[m.ID]
	if d == nil {
		d = &doubt{}
		c.doubts[m.ID] = d
	}
	d.copies++
	if asSend {
		d.sends++
	}
	d.lastTry, d.answersThen = c.d.o.Scheduler.Now(), c.d.circuit.answersSoFar()
	return d
}

// mayStandInChat reports whether the chat may already show the message. An edit
// replaces its target, so only a send can appear twice.
func (d *doubt) mayStandInChat(asSend bool) bool { return d != nil && asSend && d.sends > 0 }

// newestText returns m with the text of the queued edit of its key, if there is
// one. The outbox merges an edit only into a message that was never tried, and a
// question that expired while its first sending was in doubt must not come as an
// open one.
func newestText(m ledger.QueuedMessage, queued []ledger.QueuedMessage) ledger.QueuedMessage {
	if m.Key == "" || m.Edit {
		return m
	}
	for _, e := range queued {
		if e.Edit && e.Key == m.Key {
			m.Body, m.Class, m.Silent = e.Body, e.Class, m.Silent || e.Class == ledger.ClassChatter
		}
	}
	return m
}

// isSetAside reports whether the chat's other messages overtake this one. The reply to
// a look has no order to keep.
func (c *chat) isSetAside(m ledger.QueuedMessage) bool {
	d := c.doubtOf(m)
	return d != nil && (d.copies >= setAsideAfter || m.Class == ledger.ClassLook)
}

// resendWait returns how long to wait before the next copy; zero or less means
// now. If the platform answers nothing with certainty, the message gets three
// copies. If it answers everything but this message, the message gets a copy an
// hour for a day.
func (d *doubt) resendWait(c *circuit) time.Duration {
	if d == nil || d.lastTry.IsZero() || d.copies == 0 {
		return 0
	}
	wait := minResendWait
	for n := 1; n < d.copies && wait < maxResendWait; n++ {
		wait *= 4
	}
	wait = min(wait, maxResendWait)
	since := c.sched.Now().Sub(d.lastTry)
	if !c.awaitAnswer(d.answersThen) {
		return wait - since
	}
	if d.copies >= maxBlindCopies {
		return never
	}
	return max(wait, minBlindWait) - since
}
