package delivery

import (
	"time"

	"github.com/nightporter/nightporter/loop"
)

// How often a sending is repeated whose outcome nobody saw.
const (
	minResendWait  = 5 * time.Second  // then four times as long each time
	maxResendWait  = time.Hour        // between two copies
	minBlindWait   = 10 * time.Minute // at least, while nothing proves that the platform answers
	maxBlindCopies = 3                // copies without such a proof
	setAsideAfter  = 3                // copies until the rest of the chat goes past
	giveUpAfter    = 24 * time.Hour   // since it was committed: then it is given up
)

// doubt is what is known of a message whose sending may have arrived.
type doubt struct {
	copies      int       // sendings and edits in doubt
	sends       int       // of them sendings: each may stand in the chat
	targetGone  bool      // the message that it was to change is not there any more
	restartedAt time.Time // when this process began, where an earlier one left it so
	lastTry     time.Time // when it was done last; zero = before this process
	answersThen int       // of the line, then
}

// doubtOf is the doubt about a message, nil where there is none. One that is
// marked as begun without this process having done it was left by another.
func (c *chat) doubtOf(m loop.QueuedMessage) *doubt {
	d := c.doubts[m.ID]
	if d == nil && m.Tried {
		d = &doubt{copies: 1, sends: 1}
		if m.Time.Before(c.d.startedAt) {
			d.restartedAt = c.d.startedAt
		}
		c.doubts[m.ID] = d
	}
	return d
}

// addDoubt notes one more.
func (c *chat) addDoubt(m loop.QueuedMessage, asSend bool) *doubt {
	d := c.doubts[m.ID]
	if d == nil {
		d = &doubt{}
		c.doubts[m.ID] = d
	}
	d.copies++
	if asSend {
		d.sends++
	}
	d.lastTry, d.answersThen = time.Now(), c.d.circuit.answersSoFar()
	return d
}

// mayStandInChat reports whether a message may stand in the chat already, where it is
// delivered as a send.
func (d *doubt) mayStandInChat(asSend bool) bool { return d != nil && asSend && d.sends > 0 }

// setAside reports whether the rest of the chat goes past.
func (d *doubt) setAside() bool { return d != nil && d.copies >= setAsideAfter }

// resendWait is how long until the next copy, at most 0 for now. A platform that
// answers garbage for ever so gets three copies of a message, and one that
// answers everything else but this message a copy an hour for a day.
func (d *doubt) resendWait(c *circuit) time.Duration {
	if d == nil || d.lastTry.IsZero() || d.copies == 0 {
		return 0
	}
	wait := minResendWait
	for n := 1; n < d.copies && wait < maxResendWait; n++ {
		wait *= 4
	}
	wait = min(wait, maxResendWait)
	since := time.Since(d.lastTry)
	if !c.awaitAnswer(d.answersThen) {
		return wait - since
	}
	if d.copies >= maxBlindCopies {
		return never
	}
	return max(wait, minBlindWait) - since
}
