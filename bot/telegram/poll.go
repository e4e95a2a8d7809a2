package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// maxUpdates is Telegram's maximum of updates in one response.
const maxUpdates = 100

// Poll passes every update to r, in order and one at a time, until ctx ends, and
// returns the cause of ctx's end. Failures never end it: State shows them, and
// Poll tries again. cursor returns the stored value of the ledger.Cursor named
// CursorName, "" if there is none. An update that r cannot commit is passed again
// after a pause, and no later update before it.
//
// Updates that take time (bot.Inbound.TakesTime) are passed in an order of their own,
// and others overtake them. Those come without a cursor, because it would confirm what
// they overtook; Telegram goes on sending them, and they are left out.
func (b *Bot) Poll(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error {
	p := poller{Bot: b, receiver: r, waiting: map[string]bool{}, overtook: map[string]bool{}}
	defer p.slow.Wait()
	for ctx.Err() == nil {
		pause := p.pollOnce(ctx, cursor)
		if pause > 0 && ctx.Err() == nil && b.o.Sleep(ctx, pause) != nil {
			break
		}
	}
	if ctx.Err() == nil {
		return context.Canceled // only a test's Sleep returns an error while ctx is alive
	}
	return context.Cause(ctx)
}

// poller is the state of one Poll.
type poller struct {
	*Bot
	receiver       bot.Receiver
	errors         transport.Backoff
	connected      bool   // the last poll succeeded
	previousCursor string // cursor before the last updates, "" = the last poll returned no updates

	slow     transport.Lane
	waiting  map[string]bool // keys of the updates in slow, and of those before the stored cursor
	overtook map[string]bool // keys of updates that are committed without their cursor
	last     bot.Inbound     // the last update that was passed
	repeated bool            // its cursor alone was passed once more
}

// overtakePause is the pause between polls while updates take time: Telegram holds no
// poll open that has something to return.
const overtakePause = time.Second

// pollOnce polls once and handles the updates. It returns the pause before the
// next poll.
func (p *poller) pollOnce(ctx context.Context, cursor func(context.Context) (string, error)) time.Duration {
	if !p.slow.Busy() { // the cursor that is read now is behind all of them
		clear(p.waiting)
	}
	at, err := cursor(ctx)
	if err != nil {
		p.conn.MarkDown(transport.TroubleStore, "cannot read how far updates were handled: "+p.redact(err.Error()))
		return p.errors.Next()
	}
	if p.previousCursor == cursorOrNone(at) {
		// Polling again would return the same updates for ever. A process before this one
		// may have committed the last of them without its cursor.
		p.previousCursor = ""
		if !p.repeated && p.last.Cursor != nil {
			p.repeated = true
			p.repeat(ctx)
			return 0
		}
		p.conn.MarkDown(transport.TroubleStore, "updates were taken, and their cursor was not stored")
		return p.errors.Next()
	}
	if p.previousCursor != "" {
		p.previousCursor, p.repeated = "", false
		p.errors.Reset() // the previous updates are stored
	}
	hold := p.o.LongPoll
	if !p.connected {
		hold = 0 // the first poll returns immediately, to show that the connection works
	}
	began := time.Now()
	raw, err := p.fetch(ctx, at, hold)
	if ctx.Err() != nil {
		return 0
	}
	if err != nil {
		p.connected = false
		t, text, pause := troubleOf(err)
		p.conn.MarkDown(t, text)
		return max(pause, p.errors.Next())
	}
	p.connected = true
	p.conn.MarkUp()
	if len(raw) == 0 {
		p.errors.Reset()
		if took := time.Since(began); hold > 0 && took < transport.MinBackoff {
			return transport.MinBackoff - took // the server does not hold polls open
		}
		return 0
	}
	return p.take(ctx, at, raw)
}

// take passes the updates of one response, and returns the pause before the next poll.
func (p *poller) take(ctx context.Context, at string, raw []json.RawMessage) time.Duration {
	skipped := false
	for n, u := range raw {
		in, moved, ok := p.fromUpdate(u)
		if skipped = ok && (p.waiting[in.Key] || p.overtook[in.Key]); skipped {
			p.last = in
			continue
		}
		in.More = n < len(raw)-1
		switch {
		case ok && (in.TakesTime() || in.Edited && len(p.waiting) > 0):
			in.More = false
			p.waiting[in.Key] = true
			p.slow.Go(func() { p.deliver(ctx, in, moved) })
			continue
		case ok && len(p.waiting) > 0:
			p.overtook[in.Key], in.Cursor, in.More = true, nil, false
		}
		if !ok {
			p.o.Log.Error("Telegram sent an update without an id; it is ignored", "bytes", len(u))
			continue
		}
		if !p.deliver(ctx, in, moved) {
			return 0
		}
		p.last = in
	}
	switch {
	case len(p.waiting) > 0:
		if p.slow.Busy() {
			return overtakePause
		}
		return 0
	case skipped: // all of them are committed
		p.repeat(ctx)
	}
	clear(p.overtook)
	p.previousCursor = cursorOrNone(at)
	return 0
}

// repeat has the cursor of the last update committed, which was passed without it.
func (p *poller) repeat(ctx context.Context) {
	in := p.last
	p.deliver(ctx, bot.Inbound{Key: in.Key, Cursor: in.Cursor, Chat: in.Chat, Actor: in.Actor, Repeated: true}, "")
}

// cursorOrNone distinguishes a missing cursor from previousCursor's "".
func cursorOrNone(cursor string) string {
	if cursor == "" {
		return "none"
	}
	return cursor
}

// fetch requests the updates from the cursor on.
func (b *Bot) fetch(ctx context.Context, cursor string, hold time.Duration) ([]json.RawMessage, error) {
	p := tgbotapi.Params{
		"timeout":         strconv.Itoa(int(hold / time.Second)),
		"limit":           strconv.Itoa(maxUpdates),
		"allowed_updates": allowedUpdates,
	}
	if n, err := strconv.Atoi(cursor); err == nil && n > 0 {
		p["offset"] = cursor
	} else if cursor != "" {
		// Start from the oldest update: updates with known keys are not handled
		// twice.
		b.o.Log.Error("the stored cursor is not a number; all updates are fetched again", "cursor", b.redact(fmt.Sprintf("%.40q", cursor)))
	}
	var raw []json.RawMessage
	err := b.exchange(ctx, b.o.Timeout+hold, "getUpdates", &raw, func(api *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return api.MakeRequest("getUpdates", p)
	})
	return raw, err
}

// deliver passes one update to the receiver until it is committed. It returns false if
// ctx ends first. moved is the new address of the update's group, else "".
func (p *poller) deliver(ctx context.Context, in bot.Inbound, moved string) bool {
	if in.Unpairable == SenderUnreadable {
		p.o.Log.Warn("Telegram sent an unknown update; it is ignored", "update", in.Key)
	}
	var pauses transport.Backoff
	for ctx.Err() == nil {
		err := error(nil)
		if moved != "" && p.o.OnChatMoved != nil {
			err = p.o.OnChatMoved(ctx, in.Chat, moved)
		}
		if err == nil {
			err = p.receiver.Receive(ctx, in)
		}
		if err == nil {
			p.conn.MarkUp() // ends a TroubleStore
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		p.conn.MarkDown(transport.TroubleStore, "an update could not be committed, it is tried again: "+p.redact(err.Error()))
		if p.o.Sleep(ctx, pauses.Next()) != nil {
			return false
		}
	}
	return false
}
