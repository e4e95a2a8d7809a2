package slack

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/slack-go/slack/socketmode"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// soon is how long the platform may be kept waiting for the acknowledgement of
// a press or a command: after three seconds it tells the person that nothing
// came of it.
const soon = 2500 * time.Millisecond

// at is the cursor of a time stamp, nil for none.
func (e *listener) at(ts string) *ledger.Cursor {
	if ts == "" {
		return nil
	}
	return &ledger.Cursor{Name: e.CursorName(), Value: ts, Time: e.o.Clock()}
}

// act handles presses, commands and forms, one after the other.
func (e *listener) act(ctx context.Context) {
	for {
		select {
		case v := <-e.deeds:
			e.deed(ctx, v)
		case <-ctx.Done():
			return
		}
	}
}

// deed handles one of them. It is acknowledged once it is committed. One that
// cannot be in time is not done at all: its sender was told so by the platform,
// and may have tried again.
func (e *listener) deed(ctx context.Context, v envelope) {
	in, ok := e.read(v)
	if !ok {
		v.ack(nil)
		return
	}
	left := soon - time.Since(v.came)
	if left <= 0 {
		e.o.Log.Warn("a press or command came too late and is not done; its sender was told", "key", in.Key)
		return
	}
	e.mu.Lock()
	in.Cursor = e.at(e.safe)
	e.mu.Unlock()
	var once sync.Once
	early := time.AfterFunc(left, func() {
		once.Do(func() { v.ack(atWork(v.kind)) })
	})
	defer early.Stop()
	var pauses transport.Backoff
	for ctx.Err() == nil {
		err := e.receiver.Receive(ctx, in)
		if err == nil {
			once.Do(func() { v.ack(nil) })
			e.unstuck()
			return
		}
		if ctx.Err() != nil {
			return
		}
		e.stuck(err)
		if early.Stop() { // not acknowledged: its sender is told by the platform
			return
		}
		if e.o.Wait(ctx, pauses.Next()) != nil {
			return
		}
	}
}

// read understands an envelope.
func (e *listener) read(v envelope) (bot.Inbound, bool) {
	switch v.kind {
	case socketmode.RequestTypeSlashCommands:
		var s slash
		if json.Unmarshal(v.payload, &s) == nil {
			return e.typed(s, v.id)
		}
	case socketmode.RequestTypeInteractive:
		var i interaction
		if json.Unmarshal(v.payload, &i) == nil {
			return e.did(i, v.id)
		}
	}
	e.o.Log.Warn("Slack sent something that is not understood; nothing is done about it", "kind", v.kind, "bytes", len(v.payload))
	return bot.Inbound{}, false
}

// atWork is what a command is acknowledged with whose effect is not committed
// yet.
func atWork(kind string) any {
	if kind != socketmode.RequestTypeSlashCommands {
		return nil
	}
	return map[string]string{"response_type": "ephemeral", "text": bot.SignNow + " at work on it; nothing is done before the answer stands here"}
}
