package delivery

import (
	"context"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
)

func (c *chat) isClosed() bool {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	return c.closed
}

// markClosed notes that the chat takes nothing: it was blocked, left or deleted.
func (c *chat) markClosed(why string) {
	c.d.mu.Lock()
	told := c.closed
	c.closed = true
	c.d.mu.Unlock()
	if !told {
		c.d.o.Log.Warn("a chat takes nothing any more; questions are kept for a day, the rest is dropped", "chat", c.address, "text", why)
		c.d.o.OnChatClosed(c.address, why)
	}
	c.starting = false
	_, c.outagesHandled = c.d.circuit.latestOutage()
	c.superseded, c.toPin = nil, ""
}

// keepQuestions is how long questions to a closed chat are kept: who comes back
// within a day may still want to answer.
const keepQuestions = 24 * time.Hour

// dropUndeliverable drops what a closed chat will never get.
func (c *chat) dropUndeliverable(ctx context.Context) error {
	o := c.d.o.Outbox
	if _, err := o.Forget(ctx, c.address, loop.ClassNotice, loop.ClassReply, loop.ClassChatter); err != nil {
		return err
	}
	queued, err := o.Queued(ctx, c.address)
	if err != nil {
		return err
	}
	for _, m := range queued {
		if m.Class == loop.ClassAsk && c.d.o.Clock().Sub(m.Time) < keepQuestions {
			continue
		}
		if err := c.drop(ctx, m, "the chat takes nothing"); err != nil {
			return err
		}
	}
	return nil
}

func (c *chat) validMove(to string) bool {
	return strings.HasPrefix(to, c.d.o.Prefix) && withoutTopic(to) != withoutTopic(c.address)
}

// move goes on under another address.
func (c *chat) move(ctx context.Context, to string) error {
	from, to := withoutTopic(c.address), withoutTopic(to)
	err := c.persist(ctx, "move", func(ctx context.Context) error { return c.d.o.Outbox.MoveChat(ctx, from, to) })
	if err != nil {
		return err
	}
	c.d.o.Log.Info("a chat has another address", "from", from, "to", to)
	c.superseded, c.toPin = nil, "" // the new one does not have it
	c.d.chatMoved(from, to)
	return nil
}

// chatMoved wakes the new addresses of a chat. What the old one showed stays
// there, out of reach: live messages are shown anew with the next /status.
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
