package delivery

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// nextQueued returns the queued message to send next. If there is none, it
// returns how long to wait.
func (c *chat) nextQueued(ctx context.Context) (m ledger.QueuedMessage, found bool, wait time.Duration, err error) {
	for {
		m, found, err = c.d.o.Outbox.NextMessage(ctx, c.address)
		if err != nil || !found {
			clear(c.doubts)
			return m, false, never, err
		}
		if c.d.isWithOther(m.ID, c) {
			return m, false, never, nil
		}
		if c.isDroppableDoubt(m) {
			if err := c.drop(ctx, m, "in doubt"); err != nil {
				return m, false, 0, err
			}
			continue
		}
		wait = c.doubtOf(m).resendWait(c.d.circuit)
		if c.isSetAside(m) && (wait > 0 || m.Class == ledger.ClassLook) { // a later look may be queued
			return c.nextPastSetAside(ctx)
		}
		return m, wait <= 0, max(wait, 0), nil
	}
}

// isDroppableDoubt reports whether m may have arrived and is not worth another copy:
// chatter, or a look that was sent again.
func (c *chat) isDroppableDoubt(m ledger.QueuedMessage) bool {
	d := c.doubtOf(m)
	if !d.mayStandInChat(c.isSend(m)) {
		return false
	}
	return m.Class == ledger.ClassChatter || m.Class == ledger.ClassLook && d.sends >= lookCopies
}

// nextPastSetAside returns the next message behind a message that is set aside.
// Edits of a message that is set aside wait with it. A look in doubt that a later one
// answers too is dropped.
func (c *chat) nextPastSetAside(ctx context.Context) (m ledger.QueuedMessage, found bool, wait time.Duration, err error) {
	queued, err := c.d.o.Outbox.Queued(ctx, c.address)
	if err != nil {
		return m, false, 0, err
	}
	wait = never
	aside, repeated := map[string]bool{}, repeatedLooks(queued)
	for _, m := range queued {
		if aside[m.Key] {
			continue
		}
		if c.d.isWithOther(m.ID, c) {
			break
		}
		if c.isDroppableDoubt(m) {
			if err := c.drop(ctx, m, "in doubt"); err != nil {
				return m, false, 0, err
			}
			continue
		}
		d := c.doubtOf(m)
		if d != nil && repeated[m.ID] {
			if err := c.drop(ctx, m, whyRepeated); err != nil {
				return m, false, 0, err
			}
			continue
		}
		due := d.resendWait(c.d.circuit)
		if due <= 0 {
			return m, true, 0, nil
		}
		if wait = min(wait, due); !c.isSetAside(m) {
			break
		}
		aside[m.Key] = m.Key != ""
	}
	return m, false, wait, nil
}
