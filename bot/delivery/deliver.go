package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
)

// deliver sends, or edits, one queued message.
func (c *chat) deliver(ctx context.Context, m loop.QueuedMessage, s slot) error {
	if m.Class != loop.ClassReply && c.d.o.Unauthorized(c.address) {
		return c.drop(ctx, m, "nobody who is let in reads there")
	}
	if told, err := c.announceOutage(ctx, m, s); told || err != nil {
		return err
	}
	known := c.doubts[m.ID]
	if known != nil && !known.lastTry.IsZero() && c.d.o.Clock().Sub(m.Time) > giveUpAfter {
		c.d.o.Log.Error("a message is given up: after a day nobody knows whether it arrived", "chat", c.address, "key", m.Key, "copies", known.copies)
		return c.drop(ctx, m, "in doubt for a day")
	}
	var msg bot.Message
	if err := json.Unmarshal(m.Body, &msg); err != nil || len(msg.Lines) == 0 {
		c.d.o.Log.Error("a message cannot be read and is dropped", "chat", c.address, "key", m.Key, "err", err)
		return c.drop(ctx, m, "not a message")
	}
	switch err := c.d.o.Outbox.Trying(ctx, m.ID); {
	case errors.Is(err, loop.ErrReplaced):
		delete(c.doubts, m.ID)
		return nil // the newer text is next
	case err != nil:
		return fmt.Errorf("mark message %d as begun: %w", m.ID, err)
	}
	if c.isSend(m) {
		return c.send(ctx, m, msg, s)
	}
	return c.edit(ctx, m, msg, s)
}

// isSend reports whether a message is shown as a new one: an edit is, where
// there is nothing that it could change.
func (c *chat) isSend(m loop.QueuedMessage) bool {
	d := c.doubts[m.ID]
	return !m.Edit || m.Target == "" || d != nil && d.targetGone
}

func (c *chat) send(ctx context.Context, m loop.QueuedMessage, msg bot.Message, s slot) error {
	now := c.d.o.Clock()
	d := c.doubts[m.ID]
	again := d.mayStandInChat(true)
	held := now.Sub(m.Time) > lateThreshold
	var lines []string
	if again {
		lines = append(lines, resentLine(m.Class, d.restartedAt, now))
	}
	if held && m.Class == loop.ClassAsk {
		lines = append(lines, stillOpenLine(m.Time, now))
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
		c.lastSound = now
	}
	if id == "" {
		id = "unknown" // a fault of the Sender; it was shown all the same, and once is enough
	}
	return c.settleSent(ctx, m, id, shown)
}

// soundInterval is how long a chat is left without a second sound.
const soundInterval = 10 * time.Minute

// nightLength is longer than any one part of a day that is quiet, and shorter than
// the way to the next one's end.
const nightLength = 16 * time.Hour

// makesSound reports whether a message makes a sound: as it was committed, but not
// in quiet hours that it was not committed in, once in them at the most, and no
// two within ten minutes (PHONE 5).
func (c *chat) makesSound(m loop.QueuedMessage, now time.Time) bool {
	q := c.d.o.Quiet
	switch {
	case m.Silent, m.Edit && m.Target != "":
		return false
	case q == nil || !q(c.address, now):
	case !q(c.address, m.Time):
		return false
	case !c.lastSound.IsZero() && q(c.address, c.lastSound) && now.Sub(c.lastSound) < nightLength:
		return false // it rang in this night already
	}
	return c.lastSound.IsZero() || now.Sub(c.lastSound) >= soundInterval
}

func (c *chat) edit(ctx context.Context, m loop.QueuedMessage, msg bot.Message, s slot) error {
	failure, ok := c.call(ctx, s, func(ctx context.Context) error {
		return c.d.o.Sender.Edit(ctx, bot.Ref{Chat: c.address, ID: m.Target}, msg)
	})
	if !ok {
		return c.settleFailed(ctx, m, false, failure)
	}
	return c.settleSent(ctx, m, m.Target, msg)
}

// settleSent settles what arrived.
func (c *chat) settleSent(ctx context.Context, m loop.QueuedMessage, id string, shown bot.Message) error {
	delete(c.doubts, m.ID)
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

// settleFailed settles what did not arrive, or may not have.
func (c *chat) settleFailed(ctx context.Context, m loop.QueuedMessage, asSend bool, f *bot.SendError) error {
	switch {
	case errors.Is(f, bot.ErrOutcomeUnknown):
		d := c.addDoubt(m, asSend)
		c.d.o.Log.Warn("nobody knows whether a message arrived", "chat", c.address, "key", m.Key, "copies", d.copies, "text", f.Text)
		return nil
	case errors.Is(f, bot.ErrRejected), asSend && errors.Is(f, bot.ErrMessageGone): // a new message cannot be gone
		c.d.o.Log.Error("the platform refuses a message; it is dropped", "chat", c.address, "key", m.Key, "class", m.Class, "text", f.Text)
		return c.drop(ctx, m, "refused: "+f.Text)
	}
	// Certainly not there. An earlier sending that is in doubt stays so: the
	// outbox counts them.
	unsent := func(ctx context.Context) error { return c.d.o.Outbox.Unsent(ctx, m.ID) }
	if err := c.persist(ctx, "unsent", unsent); err != nil {
		return err
	}
	switch {
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
