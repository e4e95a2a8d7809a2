package delivery

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// pick finds the queued message that is to be sent next; without one, how long
// there is none.
func (c *chat) pick(ctx context.Context) (m ledger.QueuedMessage, found bool, wait time.Duration, err error) {
	for {
		m, found, err = c.p.o.Outbox.NextMessage(ctx, c.address)
		if err != nil || !found {
			clear(c.doubts)
			return m, false, never, err
		}
		if c.isOver(m) {
			if err := c.drop(ctx, m, "in doubt"); err != nil {
				return m, false, 0, err
			}
			continue
		}
		d := c.doubtOf(m)
		if wait = d.due(c.p.circuit); wait <= 0 {
			return m, true, 0, nil
		}
		if !d.aside() {
			return m, false, wait, nil
		}
		return c.pickPast(ctx)
	}
}

// isOver reports whether a message may have arrived and is not worth a second
// copy.
func (c *chat) isOver(m ledger.QueuedMessage) bool {
	return m.Class == ledger.ClassChatter && c.doubtOf(m).inDoubt(c.asSend(m))
}

// pickPast looks behind a message that is set aside. Edits of what is set
// aside wait with it.
func (c *chat) pickPast(ctx context.Context) (m ledger.QueuedMessage, found bool, wait time.Duration, err error) {
	queued, err := c.p.o.Outbox.Queued(ctx, c.address)
	if err != nil {
		return m, false, 0, err
	}
	wait = never
	aside := map[string]bool{}
	for _, m := range queued {
		if aside[m.Key] {
			continue
		}
		if c.isOver(m) {
			if err := c.drop(ctx, m, "in doubt"); err != nil {
				return m, false, 0, err
			}
			continue
		}
		d := c.doubtOf(m)
		due := d.due(c.p.circuit)
		if due <= 0 {
			return m, true, 0, nil
		}
		if wait = min(wait, due); !d.aside() {
			break
		}
		aside[m.Key] = m.Key != ""
	}
	return m, false, wait, nil
}
