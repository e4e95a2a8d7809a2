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
		d := c.doubtOf(m)
		if wait = d.resendWait(c.d.circuit); wait <= 0 {
			return m, true, 0, nil
		}
		if !d.setAside() {
			return m, false, wait, nil
		}
		return c.nextPastSetAside(ctx)
	}
}

// isDroppableDoubt reports whether m may have arrived and is chatter, which is
// not worth a second copy.
func (c *chat) isDroppableDoubt(m ledger.QueuedMessage) bool {
	return m.Class == ledger.ClassChatter && c.doubtOf(m).mayStandInChat(c.isSend(m))
}

// nextPastSetAside returns the next message behind a message that is set aside.
// Edits of a message that is set aside wait with it.
func (c *chat) nextPastSetAside(ctx context.Context) (m ledger.QueuedMessage, found bool, wait time.Duration, err error) {
	queued, err := c.d.o.Outbox.Queued(ctx, c.address)
	if err != nil {
		return m, false, 0, err
	}
	wait = never
	aside := map[string]bool{}
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
		due := d.resendWait(c.d.circuit)
		if due <= 0 {
			return m, true, 0, nil
		}
		if wait = min(wait, due); !d.setAside() {
			break
		}
		aside[m.Key] = m.Key != ""
	}
	return m, false, wait, nil
}
