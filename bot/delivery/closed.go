package delivery

import (
	"context"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

func (c *chat) isClosed() bool {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	return c.closed
}

// close notes that the chat takes nothing: it was blocked, left or deleted.
func (c *chat) close(why string) {
	c.p.mu.Lock()
	told := c.closed
	c.closed = true
	c.p.mu.Unlock()
	if !told {
		c.p.o.Log.Warn("a chat takes nothing any more; questions are kept for a day, the rest is dropped", "chat", c.address, "text", why)
		c.p.o.Shut(c.address, why)
	}
	c.unsettled = false
	_, c.serial = c.p.circuit.outages()
	c.away, c.above = nil, ""
}

// keepAsks is how long questions to a closed chat are kept: who comes back
// within a day may still want to answer.
const keepAsks = 24 * time.Hour

// tidy drops what a closed chat will never get.
func (c *chat) tidy(ctx context.Context) error {
	o := c.p.o.Outbox
	if _, err := o.Forget(ctx, c.address, ledger.ClassNotice, ledger.ClassReply, ledger.ClassChatter); err != nil {
		return err
	}
	queued, err := o.Queued(ctx, c.address)
	if err != nil {
		return err
	}
	for _, m := range queued {
		if m.Class == ledger.ClassAsk && c.p.o.Clock().Sub(m.Time) < keepAsks {
			continue
		}
		if err := c.drop(ctx, m, "the chat takes nothing"); err != nil {
			return err
		}
	}
	return nil
}

func (c *chat) canMove(to string) bool {
	return strings.HasPrefix(to, c.p.o.Prefix) && base(to) != base(c.address)
}

// move goes on under another address.
func (c *chat) move(ctx context.Context, to string) error {
	from, to := base(c.address), base(to)
	err := c.note(ctx, "move", func(ctx context.Context) error { return c.p.o.Outbox.MoveChat(ctx, from, to) })
	if err != nil {
		return err
	}
	c.p.o.Log.Info("a chat has another address", "from", from, "to", to)
	c.away, c.above = nil, "" // the new one does not have it
	c.p.moved(from, to)
	return nil
}

// moved wakes the new addresses of a chat. What the old one showed stays
// there, out of reach: live messages are shown anew with the next /status.
func (p *Dispatcher) moved(from, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for address, old := range p.chats {
		if base(address) != from {
			continue
		}
		clear(old.live)
		if c := p.chat(to + strings.TrimPrefix(address, from)); c != nil {
			p.signal(c)
		}
	}
}
