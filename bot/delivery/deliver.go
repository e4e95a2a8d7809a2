package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// deliver sends, or edits, one queued message.
func (c *chat) deliver(ctx context.Context, m ledger.QueuedMessage, s slot) error {
	if m.Class != ledger.ClassReply && c.p.o.Barred(c.address) {
		return c.drop(ctx, m, "nobody who is let in reads there")
	}
	if told, err := c.late(ctx, m, s); told || err != nil {
		return err
	}
	known := c.doubts[m.ID]
	if known != nil && !known.last.IsZero() && c.p.o.Clock().Sub(m.Time) > doubtEnds {
		c.p.o.Log.Error("a message is given up: after a day nobody knows whether it arrived", "chat", c.address, "key", m.Key, "copies", known.copies)
		return c.drop(ctx, m, "in doubt for a day")
	}
	var msg bot.Message
	if err := json.Unmarshal(m.Body, &msg); err != nil || len(msg.Lines) == 0 {
		c.p.o.Log.Error("a message cannot be read and is dropped", "chat", c.address, "key", m.Key, "err", err)
		return c.drop(ctx, m, "not a message")
	}
	switch err := c.p.o.Outbox.Trying(ctx, m.ID); {
	case errors.Is(err, ledger.ErrReplaced):
		delete(c.doubts, m.ID)
		return nil // the newer text is next
	case err != nil:
		return fmt.Errorf("mark message %d as begun: %w", m.ID, err)
	}
	if c.asSend(m) {
		return c.send(ctx, m, msg, s)
	}
	return c.edit(ctx, m, msg, s)
}

// asSend reports whether a message is shown as a new one: an edit is, where
// there is nothing that it could change.
func (c *chat) asSend(m ledger.QueuedMessage) bool {
	d := c.doubts[m.ID]
	return !m.Edit || m.Target == "" || d != nil && d.gone
}

func (c *chat) send(ctx context.Context, m ledger.QueuedMessage, msg bot.Message, s slot) error {
	now := c.p.o.Clock()
	d := c.doubts[m.ID]
	again := d.inDoubt(true)
	held := now.Sub(m.Time) > lateAfter
	var lines []string
	if again {
		lines = append(lines, againLine(m.Class, d.restart, now))
	}
	if held && m.Class == ledger.ClassAsk {
		lines = append(lines, openLine(m.Time, now))
	}
	shown := mark(msg, again, lines...)
	o := bot.SendOptions{ReplyTo: m.ReplyTo, Silent: !c.rings(m, now)}
	var id string
	fault, ok := c.call(ctx, s, func(ctx context.Context) (err error) {
		id, err = c.p.o.Sender.Send(ctx, c.address, shown, o)
		return err
	})
	if !ok {
		return c.failed(ctx, m, true, fault)
	}
	if !o.Silent {
		c.rang = now
	}
	if id == "" {
		id = "unknown" // a fault of the Sender; it was shown all the same, and once is enough
	}
	return c.sent(ctx, m, id, shown)
}

// betweenSounds is how long a chat is left without a second sound.
const betweenSounds = 10 * time.Minute

// aNight is longer than any one part of a day that is quiet, and shorter than
// the way to the next one's end.
const aNight = 16 * time.Hour

// rings reports whether a message makes a sound: as it was committed, but not
// in quiet hours that it was not committed in, once in them at the most, and no
// two within ten minutes (PHONE 5).
func (c *chat) rings(m ledger.QueuedMessage, now time.Time) bool {
	q := c.p.o.Quiet
	switch {
	case m.Silent, m.Edit && m.Target != "":
		return false
	case q == nil || !q(c.address, now):
	case !q(c.address, m.Time):
		return false
	case !c.rang.IsZero() && q(c.address, c.rang) && now.Sub(c.rang) < aNight:
		return false // it rang in this night already
	}
	return c.rang.IsZero() || now.Sub(c.rang) >= betweenSounds
}

func (c *chat) edit(ctx context.Context, m ledger.QueuedMessage, msg bot.Message, s slot) error {
	fault, ok := c.call(ctx, s, func(ctx context.Context) error {
		return c.p.o.Sender.Edit(ctx, bot.Ref{Chat: c.address, ID: m.Target}, msg)
	})
	if !ok {
		return c.failed(ctx, m, false, fault)
	}
	return c.sent(ctx, m, m.Target, msg)
}

// sent settles what arrived.
func (c *chat) sent(ctx context.Context, m ledger.QueuedMessage, id string, shown bot.Message) error {
	delete(c.doubts, m.ID)
	var before string
	err := c.note(ctx, "sent", func(ctx context.Context) (err error) {
		before, err = c.p.o.Outbox.Sent(ctx, m.ID, id, c.p.o.Clock())
		return err
	})
	if err != nil || !strings.HasPrefix(m.Key, liveKeys) {
		return err
	}
	if before != "" && before != id {
		c.away = append(c.away, before)
	}
	if _, can := c.p.o.Sender.(bot.Pinner); can && before != id {
		c.above = id
	}
	c.shows(m.Key, shown)
	return nil
}

// failed settles what did not arrive, or may not have.
func (c *chat) failed(ctx context.Context, m ledger.QueuedMessage, asSend bool, f *bot.SendError) error {
	fault := f.Fault
	if fault == bot.FaultMessageGone && asSend {
		fault = bot.FaultRefused // it says nothing about something new
	}
	switch fault {
	case bot.FaultUnknown:
		d := c.doubted(m, asSend)
		c.p.o.Log.Warn("nobody knows whether a message arrived", "chat", c.address, "key", m.Key, "copies", d.copies, "text", f.Text)
		return nil
	case bot.FaultRefused:
		c.p.o.Log.Error("the platform refuses a message; it is dropped", "chat", c.address, "key", m.Key, "class", m.Class, "text", f.Text)
		return c.drop(ctx, m, "refused: "+f.Text)
	}
	// Certainly not there. An earlier sending that is in doubt stays so: the
	// outbox counts them.
	unsent := func(ctx context.Context) error { return c.p.o.Outbox.Unsent(ctx, m.ID) }
	if err := c.note(ctx, "unsent", unsent); err != nil {
		return err
	}
	switch f.Fault {
	case bot.FaultMessageGone:
		d := c.doubts[m.ID]
		if d == nil {
			d = &doubt{}
			c.doubts[m.ID] = d
		}
		d.gone = true
	case bot.FaultMoved:
		return c.move(ctx, f.To)
	}
	return nil
}
