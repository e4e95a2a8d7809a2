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

// limit is how many updates are fetched at a time, the platform's maximum.
const limit = 100

// Poll hands what people do to r, one update after the other and in order,
// until ctx ends; it returns why ctx ended and nothing else: every trouble is
// waited out and shown by State. cursor returns the stored ledger.Cursor's value
// of CursorName, "" where there is none. An update that r cannot commit is
// handed to it again, after a pause, and nothing after it before.
func (b *Bot) Poll(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error {
	p := poller{Bot: b, receiver: r}
	for ctx.Err() == nil {
		pause := p.round(ctx, cursor)
		if pause > 0 && ctx.Err() == nil && b.o.Wait(ctx, pause) != nil {
			break
		}
	}
	b.line.CloseIdle()
	if ctx.Err() == nil {
		return context.Canceled // the clock of a test ended
	}
	return context.Cause(ctx)
}

// poller is one run of Poll.
type poller struct {
	*Bot
	receiver  bot.Receiver
	errors    transport.Backoff
	connected bool   // the last poll was answered
	stuck     string // cursor before the last updates, "" = there were none
}

// round polls once and handles what came. It returns how long to pause.
func (p *poller) round(ctx context.Context, cursor func(context.Context) (string, error)) time.Duration {
	at, err := cursor(ctx)
	if err != nil {
		p.line.MarkDown(transport.TroubleStore, "cannot read how far updates were handled: "+p.clean(err.Error()))
		return p.errors.Next()
	}
	if p.stuck == orNone(at) {
		// Asking again would bring the same updates for ever.
		p.stuck = ""
		p.line.MarkDown(transport.TroubleStore, "updates were taken, and their cursor was not stored")
		return p.errors.Next()
	}
	if p.stuck != "" {
		p.stuck = ""
		p.errors.Reset() // the updates before are stored
	}
	hold := p.o.LongPoll
	if !p.connected {
		hold = 0 // an answer at once says that there is a connection
	}
	began := time.Now()
	raw, err := p.fetch(ctx, at, hold)
	if ctx.Err() != nil {
		return 0
	}
	if err != nil {
		p.connected = false
		t, text, pause := trouble(err)
		p.line.MarkDown(t, text)
		return max(pause, p.errors.Next())
	}
	p.connected = true
	p.line.MarkUp()
	if len(raw) == 0 {
		p.errors.Reset()
		if took := time.Since(began); hold > 0 && took < transport.Shortest {
			return transport.Shortest - took // a server that does not hold polls
		}
		return 0
	}
	for _, u := range raw {
		if !p.deliver(ctx, u) {
			return 0
		}
	}
	p.stuck = orNone(at)
	return 0
}

// orNone keeps "there is no cursor" apart from "there is nothing to compare".
func orNone(cursor string) string {
	if cursor == "" {
		return "none"
	}
	return cursor
}

// fetch asks for updates from the cursor on.
func (b *Bot) fetch(ctx context.Context, cursor string, hold time.Duration) ([]json.RawMessage, error) {
	p := tgbotapi.Params{
		"timeout":         strconv.Itoa(int(hold / time.Second)),
		"limit":           strconv.Itoa(limit),
		"allowed_updates": allowed,
	}
	if n, err := strconv.Atoi(cursor); err == nil && n > 0 {
		p["offset"] = cursor
	} else if cursor != "" {
		// From the beginning: what was handled is known by its key.
		b.o.Log.Error("the stored cursor is no number; all updates are fetched again", "cursor", b.clean(fmt.Sprintf("%.40q", cursor)))
	}
	var raw []json.RawMessage
	err := b.exchange(ctx, b.o.Timeout+hold, "getUpdates", &raw, func(api *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return api.MakeRequest("getUpdates", p)
	})
	return raw, err
}

// deliver hands one update over until it is committed. It reports false when
// ctx ended before.
func (p *poller) deliver(ctx context.Context, raw json.RawMessage) bool {
	in, moved, ok := p.inbound(raw)
	if !ok {
		p.o.Log.Error("Telegram sent an update without an id; it is left out", "bytes", len(raw))
		return true
	}
	if in.Stands == StandsUnread {
		p.o.Log.Warn("Telegram sent an update that is not understood; nothing is done about it", "update", in.Key)
	}
	var pauses transport.Backoff
	for ctx.Err() == nil {
		err := error(nil)
		if moved != "" && p.o.Moved != nil {
			err = p.o.Moved(ctx, in.Chat, moved)
		}
		if err == nil {
			err = p.receiver.Receive(ctx, in)
		}
		if err == nil {
			p.line.MarkUp() // if this was stuck, it goes on
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		p.line.MarkDown(transport.TroubleStore, "an update could not be committed, it is tried again: "+p.clean(err.Error()))
		if p.o.Wait(ctx, pauses.Next()) != nil {
			return false
		}
	}
	return false
}
