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
func (b *Bot) Poll(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error {
	p := poller{Bot: b, receiver: r}
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
}

// pollOnce polls once and handles the updates. It returns the pause before the
// next poll.
func (p *poller) pollOnce(ctx context.Context, cursor func(context.Context) (string, error)) time.Duration {
	at, err := cursor(ctx)
	if err != nil {
		p.conn.MarkDown(transport.TroubleStore, "cannot read how far updates were handled: "+p.redact(err.Error()))
		return p.errors.Next()
	}
	if p.previousCursor == cursorOrNone(at) {
		// Polling again would return the same updates for ever.
		p.previousCursor = ""
		p.conn.MarkDown(transport.TroubleStore, "updates were taken, and their cursor was not stored")
		return p.errors.Next()
	}
	if p.previousCursor != "" {
		p.previousCursor = ""
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
	for n, u := range raw {
		if !p.deliver(ctx, u, n < len(raw)-1) {
			return 0
		}
	}
	p.previousCursor = cursorOrNone(at)
	return 0
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

// deliver passes one update to the receiver until it is committed; more says that
// others follow in the same response. It returns false if ctx ends first.
func (p *poller) deliver(ctx context.Context, raw json.RawMessage, more bool) bool {
	in, moved, ok := p.fromUpdate(raw)
	in.More = more
	if !ok {
		p.o.Log.Error("Telegram sent an update without an id; it is ignored", "bytes", len(raw))
		return true
	}
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
