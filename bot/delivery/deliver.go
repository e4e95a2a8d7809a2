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

// deliver sends or edits one queued message.
func (c *chat) deliver(ctx context.Context, m ledger.QueuedMessage, s slot) error {
	if !c.d.claim(m.ID, c) {
		return nil
	}
	defer c.d.unclaim(m.ID)
	if m.Class != ledger.ClassReply && c.d.o.Unauthorized(c.address) {
		return c.drop(ctx, m, "nobody who is let in reads there")
	}
	if sent, err := c.announceOutage(ctx, m, s); sent || err != nil {
		return err
	}
	known := c.doubts[m.ID]
	if known != nil && !known.lastTry.IsZero() && c.d.o.Clock().Sub(m.Time) > giveUpAfter {
		c.d.o.Log.Error("a message is given up: its delivery is unknown after a day", "chat", c.address, "key", m.Key, "copies", known.copies)
		return c.drop(ctx, m, "in doubt for a day")
	}
	if known != nil && c.isSend(m) {
		queued, err := c.d.o.Outbox.Queued(ctx, c.address)
		if err != nil {
			return err
		}
		m = newestText(m, queued)
	}
	var msg bot.Message
	if err := json.Unmarshal(m.Body, &msg); err != nil || len(msg.Lines) == 0 {
		c.d.o.Log.Error("a message is invalid and is dropped", "chat", c.address, "key", m.Key, "err", err)
		return c.drop(ctx, m, "not a message")
	}
	if msg.Drawing != nil && c.d.o.Draw != nil {
		msg = c.d.o.Draw(msg)
	}
	msg.Drawing = nil
	do, err := c.delivery(ctx, m, msg, s)
	if err != nil {
		return err
	}
	switch err := c.d.o.Outbox.BeginDelivery(ctx, m.ID); {
	case errors.Is(err, ledger.ErrReplaced):
		delete(c.doubts, m.ID)
		return nil // the newer text is queued
	case err != nil:
		return fmt.Errorf("mark message %d as begun: %w", m.ID, err)
	}
	return do()
}

// delivery returns the call that delivers m. It reads all that the call needs, because
// a message whose delivery has begun is in doubt until the call is settled.
func (c *chat) delivery(ctx context.Context, m ledger.QueuedMessage, msg bot.Message, s slot) (func() error, error) {
	if c.isSend(m) {
		at, whole, found, err := c.joining(ctx, m, msg)
		if found {
			return func() error { return c.join(ctx, m, at, whole, s) }, err
		}
		return func() error { return c.send(ctx, m, msg, s) }, err
	}
	whole, replyTo, apart, err := c.sharedEdit(ctx, m, msg)
	if !apart {
		return func() error { return c.edit(ctx, m, whole, s) }, err
	}
	return func() error {
		c.thinned = append(c.thinned, m.Target)
		m.ReplyTo = replyTo
		return c.send(ctx, m, msg, s)
	}, err
}

// isSend reports whether m is posted as a new message. That includes an edit
// whose target was never sent or is gone.
func (c *chat) isSend(m ledger.QueuedMessage) bool {
	d := c.doubts[m.ID]
	return !m.Edit || m.Target == "" || d != nil && d.targetGone
}

// send posts a message and settles it. A copy of a message in doubt, and a
// question or look that waited long, get a line that says so.
func (c *chat) send(ctx context.Context, m ledger.QueuedMessage, msg bot.Message, s slot) error {
	now := c.d.o.Clock()
	d := c.doubts[m.ID]
	again := d.mayStandInChat(true)
	held := now.Sub(m.Time) > lateThreshold
	msg, asOf := c.current(m, msg, now)
	var lines []string
	if again {
		lines = append(lines, resentLine(m.Class, d.restartedAt, now))
	}
	if held && m.Class == ledger.ClassAsk {
		lines = append(lines, stillOpenLine(m.Time, now))
	}
	if asOf != "" {
		lines = append(lines, asOf)
	}
	shown := annotate(msg, again, lines...)
	o := bot.SendOptions{ReplyTo: m.ReplyTo, Silent: !c.makesSound(m, now)}
	var id string
	failure, ok := c.call(ctx, s, func(ctx context.Context) (err error) {
		id, err = c.d.o.Sender.Send(ctx, c.address, shown, o)
		return err
	})
	if !ok {
		return c.settleFailed(ctx, m, true, failure)
	}
	if !o.Silent {
		c.lastSound = now.Round(0)
	}
	if id == "" {
		id = "unknown" // a Sender without an id is a bug, but sending the message again would not help
	}
	return c.settleSent(ctx, m, id, shown)
}

// soundInterval is the minimum time between two sounds in a chat.
const soundInterval = 10 * time.Minute

// nightLength separates two nights: it is longer than the quiet hours of one
// night and shorter than the time to the next night's last sound.
const nightLength = 16 * time.Hour

// makesSound reports whether sending m notifies its readers. A message
// committed as silent makes no sound. A message committed before quiet hours
// that arrives in them makes none, and a chat gets one sound a night in them.
// Two sounds are at least ten minutes apart.
func (c *chat) makesSound(m ledger.QueuedMessage, now time.Time) bool {
	q := c.d.o.Quiet
	silence := now.Round(0).Sub(c.lastSound).Abs() // by the time of day, which may have been set back
	switch {
	case m.Silent, m.Edit && m.Target != "":
		return false
	case q == nil || !q(c.address, now):
	case !q(c.address, m.Time):
		return false
	case !c.lastSound.IsZero() && q(c.address, c.lastSound) && silence < nightLength:
		return false // one sound in this night already
	}
	return c.lastSound.IsZero() || silence >= soundInterval
}

// edit edits the target of a message and settles it. An edit in doubt is repeated
// without a mark.
func (c *chat) edit(ctx context.Context, m ledger.QueuedMessage, msg bot.Message, s slot) error {
	failure, ok := c.call(ctx, s, func(ctx context.Context) error {
		return c.d.o.Sender.Edit(ctx, bot.Ref{Chat: c.address, ID: m.Target}, msg)
	})
	if !ok {
		return c.settleFailed(ctx, m, false, failure)
	}
	return c.settleSent(ctx, m, m.Target, msg)
}

// settleSent settles a message that arrived.
func (c *chat) settleSent(ctx context.Context, m ledger.QueuedMessage, id string, shown bot.Message) error {
	delete(c.doubts, m.ID)
	if !m.Ahead {
		c.outageHandled() // sends come oldest first, so what follows waited no longer
	}
	var before string
	err := c.persist(ctx, "sent", func(ctx context.Context) (err error) {
		before, err = c.d.o.Outbox.Sent(ctx, m.ID, id, c.d.o.Clock())
		return err
	})
	if err != nil || !strings.HasPrefix(m.Key, liveKeys) {
		return err
	}
	if before != "" && before != id {
		c.superseded = append(c.superseded, before)
	}
	if _, can := c.d.o.Sender.(bot.Pinner); can && before != id {
		c.toPin = id
	}
	c.trackSent(m.Key, shown)
	return nil
}

// settleFailed settles a message that did not arrive, or may not have.
func (c *chat) settleFailed(ctx context.Context, m ledger.QueuedMessage, asSend bool, f *bot.SendError) error {
	switch {
	case errors.Is(f, bot.ErrOutcomeUnknown):
		d := c.addDoubt(m, asSend)
		if !m.Ahead {
			c.outageHandled() // it may have arrived
		}
		c.d.o.Log.Warn("the delivery of a message is unknown", "chat", c.address, "key", m.Key, "copies", d.copies, "text", f.Text)
		return nil
	}
	// The message certainly did not arrive. An earlier copy stays in doubt: the
	// outbox counts attempts.
	unsent := func(ctx context.Context) error { return c.d.o.Outbox.AbortDelivery(ctx, m.ID) }
	if err := c.persist(ctx, "unsent", unsent); err != nil {
		return err
	}
	switch {
	case errors.Is(f, bot.ErrRejected), asSend && errors.Is(f, bot.ErrMessageGone): // only an edit's target can be gone, so a send is rejected
		c.d.o.Log.Error("the platform rejects a message; it is dropped", "chat", c.address, "key", m.Key, "class", m.Class, "text", f.Text)
		return c.drop(ctx, m, "refused: "+f.Text)
	case errors.Is(f, bot.ErrMessageGone):
		d := c.doubts[m.ID]
		if d == nil {
			d = &doubt{}
			c.doubts[m.ID] = d
		}
		d.targetGone = true
	case errors.Is(f, bot.ErrChatMoved):
		return c.move(ctx, f.MovedTo)
	}
	return nil
}
