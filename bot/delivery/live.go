package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// liveKeys is the key prefix of messages that are kept up to date.
const liveKeys = "status/"

// Intervals between edits of a live message.
const (
	livePrivate = 10 * time.Second
	liveGroup   = 30 * time.Second
	liveClock   = time.Minute // while a run is in progress, because the text contains a clock
)

// live is the state of one live message in a chat.
type live struct {
	version int // counts changes; guarded by Dispatcher.mu, like shown and text

	shown int    // the version that the chat shows, or that needed no edit
	text  string // JSON of the message in the chat, "" = as stored in the outbox

	checked time.Time // time of the last comparison with the newest text; owned by the chat's goroutine, like the fields below
	edited  time.Time // time of the last edit or send
	ticking bool
}

// track keeps a live message up to date from now on. The caller holds
// Dispatcher.mu.
func (c *chat) track(key string) {
	if c.live[key] == nil {
		c.live[key] = &live{version: 1, ticking: true}
	}
}

// trackSent tracks a live message that was sent or edited from the queue.
func (c *chat) trackSent(key string, m bot.Message) {
	if c.d.o.Live == nil {
		return
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.track(key)
	l := c.live[key]
	l.text, l.checked, l.edited, l.ticking = asJSON(m), c.d.o.Scheduler.Now(), c.d.o.Scheduler.Now(), true
}

func (c *chat) untrack(key string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	delete(c.live, key)
}

// nextLive returns the live message whose text has to be compared first, and
// how long until then.
func (c *chat) nextLive() (key string, version int, wait time.Duration) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	gap := livePrivate
	if c.group {
		gap = liveGroup
	}
	wait = never
	now := c.d.o.Scheduler.Now()
	for k, l := range c.live {
		next := never
		if l.version != l.shown {
			next = gap - now.Sub(l.edited)
		} else if l.ticking {
			next = liveClock - now.Sub(l.checked)
		}
		if next < wait || next == wait && k < key {
			key, version, wait = k, l.version, next
		}
	}
	return key, version, wait
}

// nextLiveEdit returns the edit of a live message that is due. It skips texts
// that the chat already shows.
func (c *chat) nextLiveEdit(ctx context.Context) (do func(context.Context, slot) error, wait time.Duration, err error) {
	for {
		key, version, wait := c.nextLive()
		if wait > 0 {
			return nil, wait, nil
		}
		m, ticking := c.d.o.Live.Text(c.address, key)
		at, found, err := c.d.o.Outbox.SentFor(ctx, c.address, key)
		if err != nil {
			return nil, 0, err
		}
		if !found {
			c.untrack(key)
			continue
		}
		text := asJSON(m)
		if len(m.Lines) > 0 && text != c.shownText(key, at.Body) {
			return func(ctx context.Context, s slot) error {
				return c.editLive(ctx, s, key, version, at.ID, m, ticking)
			}, 0, nil
		}
		c.markShown(key, version, ticking)
	}
}

// shownText returns the JSON of the live message that the chat shows.
func (c *chat) shownText(key string, stored []byte) string {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	if l := c.live[key]; l != nil && l.text != "" {
		return l.text
	}
	var m bot.Message
	if json.Unmarshal(stored, &m) != nil {
		return ""
	}
	return asJSON(m)
}

// markShown notes that the chat shows a version, or that it needs no edit.
func (c *chat) markShown(key string, version int, ticking bool) *live {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	l := c.live[key]
	if l != nil {
		l.shown, l.ticking, l.checked = version, ticking, c.d.o.Scheduler.Now()
	}
	return l
}

// editLive makes one edit of a live message. Live edits are not in the outbox, so
// a failed one is only repeated, with the newest text, at the next comparison.
func (c *chat) editLive(ctx context.Context, s slot, key string, version int, id string, m bot.Message, ticking bool) error {
	failure, ok := c.call(ctx, s, func(ctx context.Context) error {
		return c.d.o.Sender.Edit(ctx, bot.Ref{Chat: c.address, ID: id}, m)
	})
	if !ok {
		switch {
		case isAny(failure, bot.ErrOffline, bot.ErrRateLimited, bot.ErrTokenRejected, bot.ErrChatClosed):
			return nil // the edit stays due, and will then have the newest text
		case errors.Is(failure, bot.ErrChatMoved):
			return c.move(ctx, failure.MovedTo)
		case errors.Is(failure, bot.ErrMessageGone):
			c.untrack(key) // a person deleted it
			return nil
		case errors.Is(failure, bot.ErrRejected):
			c.d.o.Log.Warn("the platform rejects a live message", "chat", c.address, "key", key, "text", failure.Text)
		}
	}
	l := c.markShown(key, version, ticking)
	if l == nil {
		return nil
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	l.edited = c.d.o.Scheduler.Now()
	if ok {
		l.text = asJSON(m)
	} else { // the edit may have arrived; the next comparison repeats it
		l.ticking = true
	}
	return nil
}

// deleteSuperseded deletes a live message that a newer one replaced. The platform
// does not delete old messages; those get the text of movedMessage instead.
func (c *chat) deleteSuperseded(ctx context.Context, s slot) error {
	at := bot.Ref{Chat: c.address, ID: c.superseded[0]}
	failure, ok := c.call(ctx, s, func(ctx context.Context) error { return c.d.o.Sender.Delete(ctx, at) })
	if !ok {
		switch {
		case isAny(failure, bot.ErrOffline, bot.ErrRateLimited, bot.ErrTokenRejected, bot.ErrChatClosed):
			return nil
		case errors.Is(failure, bot.ErrChatMoved):
			return c.move(ctx, failure.MovedTo)
		}
	}
	c.superseded = c.superseded[1:]
	if ok || errors.Is(failure, bot.ErrMessageGone) {
		return nil
	}
	next, err := c.slot(ctx, true)
	if err != nil {
		return err
	}
	defer next.release()
	if failure, ok := c.call(ctx, next, func(ctx context.Context) error { return c.d.o.Sender.Edit(ctx, at, movedMessage()) }); !ok {
		c.d.o.Log.Info("an old live message is not replaced", "chat", c.address, "text", failure.Text)
	}
	return c.unpin(ctx, at)
}

// unpin unpins a message that could not be deleted, so that only the newest stays
// pinned. Errors are ignored: where the bot may not pin, nothing is pinned.
func (c *chat) unpin(ctx context.Context, at bot.Ref) error {
	p, can := c.d.o.Sender.(bot.Pinner)
	if !can {
		return nil
	}
	s, err := c.slot(ctx, true)
	if err != nil {
		return err
	}
	defer s.release()
	_, _ = c.call(ctx, s, func(ctx context.Context) error { return p.Unpin(ctx, at) })
	return nil
}

// pin pins the newest live message. It tries once: a group may deny the
// permission, and the next run's message is pinned again.
func (c *chat) pin(ctx context.Context, s slot) error {
	at := bot.Ref{Chat: c.address, ID: c.toPin}
	p, can := c.d.o.Sender.(bot.Pinner)
	c.toPin = ""
	if !can {
		return nil
	}
	if failure, ok := c.call(ctx, s, func(ctx context.Context) error { return p.Pin(ctx, at) }); !ok {
		if errors.Is(failure, bot.ErrChatMoved) {
			return c.move(ctx, failure.MovedTo)
		}
		c.d.o.Log.Info("a live message is not pinned", "chat", c.address, "text", failure.Text)
	}
	return nil
}

func asJSON(m bot.Message) string {
	text, err := json.Marshal(m)
	if err != nil {
		return "" // cannot happen: a Message holds strings only
	}
	return string(text)
}
