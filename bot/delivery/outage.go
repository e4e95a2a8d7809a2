package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// staleAfter is the age at which chatter is dropped after an outage. Younger
// chatter may still be of use to somebody who waits for it.
const staleAfter = time.Minute

// announceOutage prepares a chat for its first message after an outage or a
// restart: it drops stale chatter and sends one message about the outage and
// the messages that follow. next is the message about to be sent. sent reports
// that the announcement used the slot. The announcement is not stored, so a
// process that dies right after it repeats it.
func (c *chat) announceOutage(ctx context.Context, next ledger.QueuedMessage, s slot) (sent bool, err error) {
	now := c.d.o.Clock()
	o, pending := c.pendingOutage(s, now)
	if !pending {
		return false, nil
	}
	queued, err := c.d.o.Outbox.Queued(ctx, c.address)
	if err != nil {
		return false, err
	}
	// Sends come before edits, and the oldest first. If next is recent or an
	// edit, no message waited long, or an answer went ahead of those that did. The
	// outage stays pending until another message arrived: it may go on, and next
	// wait with it.
	if next.Edit || now.Sub(next.Time) <= lateThreshold {
		return false, c.dropRepeated(ctx, queued, now)
	}
	kept, err := c.dropStale(ctx, queued, now)
	if err != nil {
		return false, err
	}
	if !o.observed || next.Time.Before(o.from) && c.starting {
		o.from = next.Time // the outage began before this process
	}
	for n, m := range kept {
		kept[n] = newestText(m, queued)
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

// pendingOutage returns the outage during which the chat's messages may have
// waited and that is not announced yet.
func (c *chat) pendingOutage(s slot, now time.Time) (outage, bool) {
	if s.trial && now.Sub(s.since) > lateThreshold {
		return outage{from: s.since, to: now, observed: true}, true
	}
	if o, serial := c.d.circuit.latestOutage(); serial != c.outagesHandled {
		return o, true
	}
	return outage{to: now}, c.starting // the reason of a wait before this process is unknown
}

func (c *chat) outageHandled() {
	c.starting, c.droppedCount = false, 0
	_, c.outagesHandled = c.d.circuit.latestOutage()
}

// dropRepeated drops old looks that a later look of the same kind answers too: a
// person who gets no answer asks again and again.
func (c *chat) dropRepeated(ctx context.Context, queued []ledger.QueuedMessage, now time.Time) error {
	later := map[string]bool{}
	for _, m := range slices.Backward(queued) {
		var look bot.Message
		if m.Class != ledger.ClassChatter || m.Edit || m.Tried || m.Key != "" || json.Unmarshal(m.Body, &look) != nil || look.Key == "" {
			continue
		}
		kind := look.Key + " " + look.Project + " " + look.About
		if later[kind] && now.Sub(m.Time) > staleAfter {
			if err := c.drop(ctx, m, "a later answer says it"); err != nil {
				return err
			}
		}
		later[kind] = true
	}
	return nil
}

// dropStale drops old chatter and returns the remaining messages. It keeps edits,
// because the outbox holds only the newest one for each message.
func (c *chat) dropStale(ctx context.Context, queued []ledger.QueuedMessage, now time.Time) (kept []ledger.QueuedMessage, err error) {
	var stale []ledger.QueuedMessage
	all := true // Forget would drop exactly the stale messages
	for _, m := range queued {
		chatter := m.Class == ledger.ClassChatter && !m.Tried && !m.Edit
		if chatter && now.Sub(m.Time) > staleAfter {
			stale = append(stale, m)
			continue
		}
		all = all && !chatter
		kept = append(kept, m)
	}
	if len(stale) > 0 && all {
		n, err := c.d.o.Outbox.Forget(ctx, c.address, ledger.ClassChatter)
		c.droppedCount += n
		return kept, err
	}
	for _, m := range stale {
		if err := c.drop(ctx, m, "stale when the platform was back"); err != nil {
			return nil, err
		}
		c.droppedCount++
	}
	return kept, nil
}
