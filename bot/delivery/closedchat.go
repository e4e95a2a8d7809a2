package delivery

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

func (c *chat) isClosed() bool {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.closed
}

// markClosed notes that the chat accepts no messages: the bot was blocked or
// removed, or the chat deleted.
func (c *chat) markClosed(why string) {
	c.d.mu.Lock()
	known := c.closed
	c.closed = true
	c.d.mu.Unlock()
	if !known {
		c.d.o.Log.Warn("a chat is closed; what is for others goes to them, questions are kept for a day, other messages dropped", "chat", c.address, "text", why)
		c.d.o.OnChatClosed(c.address, why, c.closedTold)
		c.closedTold = true
	}
	c.starting = false
	_, c.outagesHandled = c.d.circuit.latestOutage()
	c.superseded, c.thinned, c.toPin = nil, nil, ""
}

// keepQuestions is how long questions to a closed chat stay queued: a person who
// unblocks the bot within a day may still want to answer them.
const keepQuestions = 24 * time.Hour

// dropUndeliverable drops the queued messages that a closed chat will never
// show, after Options.Redirect had a look at the questions and notices among them.
func (c *chat) dropUndeliverable(ctx context.Context) error {
	o := c.d.o.Outbox
	if err := c.redirect(ctx); err != nil {
		return err
	}
	if _, err := o.Forget(ctx, c.address, ledger.ClassNotice, ledger.ClassReply, ledger.ClassLook, ledger.ClassChatter); err != nil {
		return err
	}
	queued, err := o.Queued(ctx, c.address)
	if err != nil {
		return err
	}
	for _, m := range queued {
		if m.Class == ledger.ClassAsk && c.d.o.Clock().Sub(m.Time) < keepQuestions {
			continue
		}
		if err := c.drop(ctx, m, "the chat takes nothing"); err != nil {
			return err
		}
	}
	return nil
}

// redirect offers the newest text of each queued question and notice to
// Options.Redirect.
func (c *chat) redirect(ctx context.Context) error {
	queued, err := c.d.o.Outbox.Queued(ctx, c.address)
	if err != nil {
		return err
	}
	for _, m := range queued {
		newest := newestText(m, queued)
		if newest.Class != ledger.ClassAsk && newest.Class != ledger.ClassNotice {
			continue
		}
		moved, err := c.d.o.Redirect(ctx, newest)
		if err != nil {
			return fmt.Errorf("redirect message %d: %w", m.ID, err)
		}
		if !moved {
			continue
		}
		if err := c.drop(ctx, m, "moved to other chats"); err != nil {
			return err
		}
	}
	return nil
}

func (c *chat) validMove(to string) bool {
	return strings.HasPrefix(to, c.d.o.Prefix) && withoutTopic(to) != withoutTopic(c.address)
}

// move continues the chat under another address.
func (c *chat) move(ctx context.Context, to string) error {
	from, to := withoutTopic(c.address), withoutTopic(to)
	err := c.persist(ctx, "move", func(ctx context.Context) error { return c.d.o.Outbox.MoveChat(ctx, from, to) })
	if err != nil {
		return err
	}
	c.d.o.Log.Info("a chat has another address", "from", from, "to", to)
	c.superseded, c.thinned, c.toPin = nil, nil, "" // they belong to the old address
	c.d.chatMoved(from, to)
	return nil
}

// chatMoved wakes the new addresses of a chat and its topics. Messages at the
// old address are out of reach, so its live messages end; the next /status posts
// new ones.
func (d *Dispatcher) chatMoved(from, to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for address, old := range d.chats {
		if withoutTopic(address) != from {
			continue
		}
		clear(old.live)
		if c := d.chatFor(to + strings.TrimPrefix(address, from)); c != nil {
			d.signal(c)
		}
	}
}
