package delivery

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// freshAfterOutage is how young chatter is kept all the same: somebody just
// asked for it.
const freshAfterOutage = time.Minute

// late deals with an outage, or with a time without nightporter, before the
// first sending after it: what only told how things stood is dropped, and one
// message says what follows (SPEC 6.7). next is what the chat would get now.
// told means that the slot was used for that message.
//
// It is not stored: a process that dies right after it says it once more.
func (c *chat) late(ctx context.Context, next ledger.QueuedMessage, s slot) (told bool, err error) {
	now := c.p.o.Clock()
	o, is := c.waited(s, now)
	if !is {
		return false, nil
	}
	// Sends come before edits and oldest first: where next is young or an edit,
	// nothing waited long.
	if next.Edit || now.Sub(next.Time) <= lateAfter {
		c.dealtWith()
		return false, nil
	}
	queued, err := c.p.o.Outbox.Queued(ctx, c.address)
	if err != nil {
		return false, err
	}
	kept, err := c.collapse(ctx, queued, now)
	if err != nil {
		return false, err
	}
	if !o.away || next.Time.Before(o.from) && c.unsettled {
		o.from = next.Time // the outage began before this process did
	}
	m := lateMessage(c.p.o.Platform, o, kept, c.leftOut, now)
	fault, ok := c.call(ctx, s, func(ctx context.Context) error {
		_, err := c.p.o.Sender.Send(ctx, c.address, m, bot.SendOptions{Silent: true})
		return err
	})
	switch {
	case ok, fault.Fault == bot.FaultUnknown, fault.Fault == bot.FaultRefused, fault.Fault == bot.FaultMessageGone:
		c.dealtWith()
	case fault.Fault == bot.FaultMoved:
		return true, c.move(ctx, fault.To)
	}
	return true, nil
}

// waited reports through what a chat's messages may have waited that is not
// dealt with yet.
func (c *chat) waited(s slot, now time.Time) (outage, bool) {
	if s.trial && now.Sub(s.since) > lateAfter {
		return outage{from: s.since, to: now, away: true}, true
	}
	if o, serial := c.p.circuit.outages(); serial != c.serial {
		return o, true
	}
	return outage{to: now}, c.unsettled // what kept them before this process began is not known
}

func (c *chat) dealtWith() {
	c.unsettled, c.leftOut = false, 0
	_, c.serial = c.p.circuit.outages()
}

// collapse drops chatter that nobody waits for any more, and returns what
// stays. Edits do: the outbox has only the newest of each message.
func (c *chat) collapse(ctx context.Context, queued []ledger.QueuedMessage, now time.Time) (kept []ledger.QueuedMessage, err error) {
	var over []ledger.QueuedMessage
	all := true // over is all that Forget takes
	for _, m := range queued {
		chatter := m.Class == ledger.ClassChatter && !m.Tried && !m.Edit
		if chatter && now.Sub(m.Time) > freshAfterOutage {
			over = append(over, m)
			continue
		}
		all = all && !chatter
		kept = append(kept, m)
	}
	if len(over) > 0 && all {
		n, err := c.p.o.Outbox.Forget(ctx, c.address, ledger.ClassChatter)
		c.leftOut += n
		return kept, err
	}
	for _, m := range over {
		if err := c.drop(ctx, m, "over when the platform was back"); err != nil {
			return nil, err
		}
		c.leftOut++
	}
	return kept, nil
}
