package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
)

// staleAfter is how young chatter is kept all the same: somebody just
// asked for it.
const staleAfter = time.Minute

// announceOutage deals with an outage, or with a time without nightporter, before the
// first sending after it: what only told how things stood is dropped, and one
// message says what follows (SPEC 6.7). next is what the chat would get now.
// told means that the slot was used for that message.
//
// It is not stored: a process that dies right after it says it once more.
func (c *chat) announceOutage(ctx context.Context, next loop.QueuedMessage, s slot) (told bool, err error) {
	now := c.d.o.Clock()
	o, is := c.pendingOutage(s, now)
	if !is {
		return false, nil
	}
	// Sends come before edits and oldest first: where next is young or an edit,
	// nothing waited long.
	if next.Edit || now.Sub(next.Time) <= lateThreshold {
		c.outageHandled()
		return false, nil
	}
	queued, err := c.d.o.Outbox.Queued(ctx, c.address)
	if err != nil {
		return false, err
	}
	kept, err := c.dropStale(ctx, queued, now)
	if err != nil {
		return false, err
	}
	if !o.observed || next.Time.Before(o.from) && c.starting {
		o.from = next.Time // the outage began before this process did
	}
	m := outageMessage(c.d.o.Platform, o, kept, c.droppedCount, now)
	failure, ok := c.call(ctx, s, func(ctx context.Context) error {
		_, err := c.d.o.Sender.Send(ctx, c.address, m, bot.SendOptions{Silent: true})
		return err
	})
	switch {
	case ok, isAny(failure, bot.ErrOutcomeUnknown, bot.ErrRejected, bot.ErrMessageGone):
		c.outageHandled()
	case errors.Is(failure, bot.ErrChatMoved):
		return true, c.move(ctx, failure.MovedTo)
	}
	return true, nil
}

// pendingOutage reports through what a chat's messages may have waited that is not
// dealt with yet.
func (c *chat) pendingOutage(s slot, now time.Time) (outage, bool) {
	if s.trial && now.Sub(s.since) > lateThreshold {
		return outage{from: s.since, to: now, observed: true}, true
	}
	if o, serial := c.d.circuit.latestOutage(); serial != c.outagesHandled {
		return o, true
	}
	return outage{to: now}, c.starting // what kept them before this process began is not known
}

func (c *chat) outageHandled() {
	c.starting, c.droppedCount = false, 0
	_, c.outagesHandled = c.d.circuit.latestOutage()
}

// dropStale drops chatter that nobody waits for any more, and returns what
// stays. Edits do: the outbox has only the newest of each message.
func (c *chat) dropStale(ctx context.Context, queued []loop.QueuedMessage, now time.Time) (kept []loop.QueuedMessage, err error) {
	var over []loop.QueuedMessage
	all := true // over is all that Forget takes
	for _, m := range queued {
		chatter := m.Class == loop.ClassChatter && !m.Tried && !m.Edit
		if chatter && now.Sub(m.Time) > staleAfter {
			over = append(over, m)
			continue
		}
		all = all && !chatter
		kept = append(kept, m)
	}
	if len(over) > 0 && all {
		n, err := c.d.o.Outbox.Forget(ctx, c.address, loop.ClassChatter)
		c.droppedCount += n
		return kept, err
	}
	for _, m := range over {
		if err := c.drop(ctx, m, "over when the platform was back"); err != nil {
			return nil, err
		}
		c.droppedCount++
	}
	return kept, nil
}
