package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Receipts of a burst share one message of the platform (docs/spec 23.4): the first is
// sent, and each that follows closely is added to it by an edit. The outbox keeps them
// apart, so that each has its own text, key and edits; together they are rendered only
// here.

// joinWindow is how long after its last receipt a message takes another one.
const joinWindow = 20 * time.Second

// joining returns the message that m joins, with m in it. found is false if m stands
// alone: it does not join, the last receipt was long ago or is in doubt, or the message
// is full.
func (c *chat) joining(ctx context.Context, m ledger.QueuedMessage, msg bot.Message) (at string, whole bot.Message, found bool, err error) {
	d := c.doubts[m.ID]
	if m.Joins == "" || m.Key == "" || m.Edit || d != nil && (d.sends > 0 || d.targetGone) {
		return "", bot.Message{}, false, nil
	}
	last, found, err := c.d.o.Outbox.LastJoined(ctx, c.address, m.Joins)
	// A message that may have been added already is added again, however late.
	if err != nil || !found || d == nil && c.d.o.Clock().Sub(last.Time).Abs() > joinWindow {
		return "", bot.Message{}, false, err
	}
	parts, err := c.together(ctx, last.ID)
	if err != nil || len(parts) == 0 || len(parts) >= bot.MaxJoined {
		return "", bot.Message{}, false, err
	}
	whole, fits := bot.JoinReceipts(append(parts, bot.Joined{ID: m.Key, Message: msg}))
	return last.ID, whole, fits, nil
}

// join adds m to a message that the chat shows, and settles it.
func (c *chat) join(ctx context.Context, m ledger.QueuedMessage, at string, whole bot.Message, s slot) error {
	failure, ok := c.call(ctx, s, func(ctx context.Context) error {
		return c.d.o.Sender.Edit(ctx, bot.Ref{Chat: c.address, ID: at}, whole)
	})
	if ok {
		return c.settleSent(ctx, m, at, whole)
	}
	if isAny(failure, bot.ErrRejected, bot.ErrMessageGone) { // m itself was not refused: it stands alone
		if c.doubts[m.ID] == nil {
			c.doubts[m.ID] = &doubt{}
		}
		c.doubts[m.ID].targetGone = true
		return c.persist(ctx, "unsent", func(ctx context.Context) error { return c.d.o.Outbox.AbortDelivery(ctx, m.ID) })
	}
	return c.settleFailed(ctx, m, false, failure)
}

// sharedEdit returns what the message that m edits shows with it: msg, or msg among the
// receipts that share it. apart is true if that has become too long: m is then
// sent as a message of its own, which replies to what the receipt replied to.
func (c *chat) sharedEdit(ctx context.Context, m ledger.QueuedMessage, msg bot.Message) (whole bot.Message, replyTo string, apart bool, err error) {
	shown, err := c.d.o.Outbox.Together(ctx, c.address, m.Target)
	if err != nil || len(shown) < 2 {
		return msg, "", false, err
	}
	parts := make([]bot.Joined, 0, len(shown))
	for _, p := range shown {
		if p.Key == m.Key {
			parts, replyTo = append(parts, bot.Joined{ID: p.Key, Message: msg}), p.ReplyTo
			continue
		}
		parts = append(parts, joined(p))
	}
	whole, fits := bot.JoinReceipts(parts)
	return whole, replyTo, !fits, nil
}

// together returns the receipts that the platform shows as one message.
func (c *chat) together(ctx context.Context, id string) ([]bot.Joined, error) {
	shown, err := c.d.o.Outbox.Together(ctx, c.address, id)
	if err != nil {
		return nil, err
	}
	var parts []bot.Joined
	for _, p := range shown {
		parts = append(parts, joined(p))
	}
	return parts, nil
}

func joined(p ledger.SentMessage) bot.Joined {
	j := bot.Joined{ID: p.Key}
	_ = json.Unmarshal(p.Body, &j.Message) // it was sent, so it is valid
	return j
}

// refreshShared edits a shared message from which a receipt has moved out.
func (c *chat) refreshShared(ctx context.Context, s slot) error {
	at := c.thinned[0]
	parts, err := c.together(ctx, at)
	if err != nil {
		return err
	}
	c.thinned = c.thinned[1:]
	if len(parts) == 0 {
		c.superseded = append(c.superseded, at)
		return nil
	}
	whole, _ := bot.JoinReceipts(parts)
	failure, ok := c.call(ctx, s, func(ctx context.Context) error {
		return c.d.o.Sender.Edit(ctx, bot.Ref{Chat: c.address, ID: at}, whole)
	})
	if !ok && errors.Is(failure, bot.ErrChatMoved) {
		return c.move(ctx, failure.MovedTo)
	}
	return nil // the next edit of one of them shows it
}
