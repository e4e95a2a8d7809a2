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

// ackDeadline limits how long a press or command waits for its acknowledgement.
// After three seconds Slack tells the person that it failed.
const ackDeadline = 2500 * time.Millisecond

// cursorAt returns the cursor at a timestamp, nil for "".
func (l *listener) cursorAt(ts string) *ledger.Cursor {
	if ts == "" {
		return nil
	}
	return &ledger.Cursor{Name: l.CursorName(), Value: ts, Time: l.o.Clock()}
}

// handleInteractions handles presses, commands and forms, one at a time.
func (l *listener) handleInteractions(ctx context.Context) {
	for {
		select {
		case v := <-l.interactions:
			l.handleInteraction(ctx, v)
		case <-ctx.Done():
			return
		}
	}
}

// handleInteraction handles a press, command or form and acknowledges it after
// the commit. It drops one that is too late for the acknowledgement: Slack has
// reported a failure to the person, who may have tried again.
func (l *listener) handleInteraction(ctx context.Context, v envelope) {
	in, ok := l.parse(v)
	if !ok {
		v.ack(nil)
		return
	}
	left := ackDeadline - time.Since(v.received)
	if left <= 0 {
		l.o.Log.Warn("a press or command came too late and is dropped; Slack has told its sender", "key", in.Key)
		return
	}
	l.mu.Lock()
	in.Cursor = l.cursorAt(l.handledUpTo)
	l.mu.Unlock()
	var once sync.Once
	early := time.AfterFunc(left, func() {
		once.Do(func() { v.ack(pendingAck(v.kind)) })
	})
	defer early.Stop()
	var pauses transport.Backoff
	for ctx.Err() == nil {
		err := l.receiver.Receive(ctx, in)
		if err == nil {
			once.Do(func() { v.ack(nil) })
			l.clearStuck()
			return
		}
		if ctx.Err() != nil {
			return
		}
		l.markStuck(err)
		if early.Stop() { // not acknowledged, so Slack reports a failure to the person
			return
		}
		if l.o.Sleep(ctx, pauses.Next()) != nil {
			return
		}
	}
}

// parse converts an envelope.
func (l *listener) parse(v envelope) (bot.Inbound, bool) {
	switch v.kind {
	case socketmode.RequestTypeSlashCommands:
		var s slashCommand
		if json.Unmarshal(v.payload, &s) == nil {
			return l.fromSlashCommand(s, v.id)
		}
	case socketmode.RequestTypeInteractive:
		var i interaction
		if json.Unmarshal(v.payload, &i) == nil {
			return l.fromInteraction(i, v.id)
		}
	}
	l.o.Log.Warn("Slack sent an unknown envelope; it is ignored", "kind", v.kind, "bytes", len(v.payload))
	return bot.Inbound{}, false
}

// pendingAck returns the acknowledgement of a command whose effect is not
// committed yet.
func pendingAck(kind string) any {
	if kind != socketmode.RequestTypeSlashCommands {
		return nil
	}
	return map[string]string{"response_type": "ephemeral", "text": bot.SignNow + " at work on it; nothing is done before the answer stands here"}
}
