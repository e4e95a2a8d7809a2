package delivery

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// How often a sending is repeated whose outcome nobody saw.
const (
	doubtFirst  = 5 * time.Second  // then four times as long each time
	doubtMost   = time.Hour        // between two copies
	unproved    = 10 * time.Minute // at least, while nothing proves that the platform answers
	unprovedMax = 3                // copies without such a proof
	asideAfter  = 3                // copies until the rest of the chat goes past
	doubtEnds   = 24 * time.Hour   // since it was committed: then it is given up
)

// doubt is what is known of a message whose sending may have arrived.
type doubt struct {
	copies  int       // sendings and edits in doubt
	sends   int       // of them sendings: each may stand in the chat
	gone    bool      // the message that it was to change is not there any more
	restart time.Time // when this process began, where an earlier one left it so
	last    time.Time // when it was done last; zero = before this process
	proofs  int       // of the line, then
}

// doubtOf is the doubt about a message, nil where there is none. One that is
// marked as begun without this process having done it was left by another.
func (c *chat) doubtOf(m ledger.QueuedMessage) *doubt {
	d := c.doubts[m.ID]
	if d == nil && m.Tried {
		d = &doubt{copies: 1, sends: 1}
		if m.Time.Before(c.p.started) {
			d.restart = c.p.started
		}
		c.doubts[m.ID] = d
	}
	return d
}

// doubted notes one more.
func (c *chat) doubted(m ledger.QueuedMessage, asSend bool) *doubt {
	d := c.doubts[m.ID]
	if d == nil {
		d = &doubt{}
		c.doubts[m.ID] = d
	}
	d.copies++
	if asSend {
		d.sends++
	}
	d.last, d.proofs = time.Now(), c.p.circuit.proofsSoFar()
	return d
}

// inDoubt reports whether a message may stand in the chat already, where it is
// delivered as a send.
func (d *doubt) inDoubt(asSend bool) bool { return d != nil && asSend && d.sends > 0 }

// aside reports whether the rest of the chat goes past.
func (d *doubt) aside() bool { return d != nil && d.copies >= asideAfter }

// due is how long until the next copy, at most 0 for now. A platform that
// answers garbage for ever so gets three copies of a message, and one that
// answers everything else but this message a copy an hour for a day.
func (d *doubt) due(l *line) time.Duration {
	if d == nil || d.last.IsZero() || d.copies == 0 {
		return 0
	}
	wait := doubtFirst
	for n := 1; n < d.copies && wait < doubtMost; n++ {
		wait *= 4
	}
	wait = min(wait, doubtMost)
	since := time.Since(d.last)
	if !l.want(d.proofs) {
		return wait - since
	}
	if d.copies >= unprovedMax {
		return never
	}
	return max(wait, unproved) - since
}
