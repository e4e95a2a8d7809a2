package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// Run passes people's inputs to r until ctx ends, and returns the cause of ctx's
// end. Failures never end it: State shows them, and Run tries again. cursor returns
// the stored value of the ledger.Cursor named CursorName, "" if there is none. An
// input that r cannot commit is passed again after a pause, and no later input of
// its kind before it.
//
// Messages that take time (bot.Inbound.TakesTime) are passed in an order of their own,
// and others overtake them; until those are committed, the cursor stays where it is.
func (b *Bot) Run(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error {
	l := &listener{Bot: b, cursor: cursor, receiver: r, readBackWanted: make(chan struct{}, 1), messages: make(chan envelope, queueSize), interactions: make(chan envelope, queueSize)}
	b.authMu.Lock()
	b.onTokenAccepted = l.requestReadBack
	b.authMu.Unlock()
	work, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	if l.waitForIdentity(ctx) {
		// Interactions cannot be read back, so they must not wait for messages.
		wg.Go(func() { l.handleMessages(work) })
		wg.Go(func() { l.handleInteractions(work) })
	}
	var pauses transport.Backoff
	for ctx.Err() == nil {
		began := b.o.Clock()
		err := l.runSocket(ctx)
		b.setSocketOpen(false)
		if ctx.Err() != nil {
			break
		}
		if b.o.Clock().Sub(began) > transport.MaxBackoff {
			pauses.Reset()
		}
		t, text, pause := b.troubleOf(err)
		b.conn.MarkDown(t, text)
		if b.o.Sleep(ctx, max(pause, pauses.Next())) != nil {
			break
		}
	}
	cancel()
	wg.Wait()
	l.slow.Wait()
	if ctx.Err() == nil {
		return context.Canceled // ctx is alive only if a test's Sleep returned an error
	}
	return context.Cause(ctx)
}

// queueSize is the number of envelopes that can wait to be handled. Further
// envelopes are not acknowledged: Slack sends them again a few times, and their
// messages are read back too.
const queueSize = 1000

// listener is the state of one Run.
type listener struct {
	*Bot
	cursor         func(context.Context) (string, error)
	receiver       bot.Receiver
	readBackWanted chan struct{} // missed messages have to be read back
	messages       chan envelope // messages; they can be read back
	interactions   chan envelope // presses, commands and forms; they cannot be read back

	slow transport.Lane

	mu          sync.Mutex
	handledUpTo string // all messages up to this timestamp are handled; "" = unknown
}

// envelope is one request of Slack over the socket.
type envelope struct {
	kind     string
	id       string
	payload  json.RawMessage
	received time.Time // for ackDeadline
	ack      func(payload any)
}

// waitForIdentity learns the bot's user id, without which its own messages cannot
// be recognized. It returns false if ctx ends first.
func (l *listener) waitForIdentity(ctx context.Context) bool {
	var pauses transport.Backoff
	for ctx.Err() == nil {
		_, err := l.identify(ctx)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		t, text, pause := l.troubleOf(err)
		l.conn.MarkDown(t, text)
		if l.o.Sleep(ctx, max(pause, pauses.Next())) != nil {
			return false
		}
	}
	return false
}

// runSocket keeps a socket open and replaces it when Slack requests that. It
// returns when a socket fails.
func (l *listener) runSocket(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The library logs debug output to standard error.
	socket := socketmode.New(l.api, socketmode.OptionPingInterval(l.o.PingTimeout), socketmode.OptionLog(log.New(io.Discard, "", 0)),
		socketmode.OptionDialer(&websocket.Dialer{NetDialContext: l.o.Dial, Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 45 * time.Second}))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		for {
			select {
			case ev := <-socket.Events:
				l.handleEvent(ctx, socket, ev)
			case <-ctx.Done():
				return
			}
		}
	})
	return socket.RunContext(ctx)
}

// handleEvent handles an event of the socket. It must not block.
func (l *listener) handleEvent(ctx context.Context, socket *socketmode.Client, ev socketmode.Event) {
	switch ev.Type {
	case socketmode.EventTypeConnected:
		l.setSocketOpen(true)
		l.requestReadBack()
	case socketmode.EventTypeDisconnect:
		l.setSocketOpen(false)
	case socketmode.EventTypeConnectionError:
		l.setSocketOpen(false)
		if failed, is := ev.Data.(*slack.ConnectionErrorEvent); is && ctx.Err() == nil {
			t, text, _ := l.troubleOf(failed.ErrorObj)
			l.conn.MarkDown(t, text)
		}
	case socketmode.EventTypeEventsAPI, socketmode.EventTypeSlashCommand, socketmode.EventTypeInteractive:
		if ev.Request != nil {
			l.enqueue(ctx, socket, *ev.Request)
		}
	case socketmode.EventTypeErrorBadMessage:
		// slack-go cannot decode it, but the fields of our own types may suffice.
		var r socketmode.Request
		if bad, is := ev.Data.(*socketmode.ErrorBadMessage); is && json.Unmarshal(bad.Message, &r) == nil && r.EnvelopeID != "" {
			l.enqueue(ctx, socket, r)
		}
	}
}

// enqueue queues a request for its handler.
func (l *listener) enqueue(ctx context.Context, socket *socketmode.Client, r socketmode.Request) {
	l.markAlive()
	v := envelope{kind: r.Type, id: r.EnvelopeID, payload: r.Payload, received: time.Now(), ack: func(payload any) {
		const patience = 5 * time.Second
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := socket.SendCtx(ctx, socketmode.Response{EnvelopeID: r.EnvelopeID, Payload: payload}); err != nil {
			l.o.Log.Debug("an envelope is not acknowledged; Slack will repeat it", "envelope", r.EnvelopeID, "error", err)
		}
	}}
	if r.Type == socketmode.RequestTypeEventsAPI {
		if !l.tryQueue(l.messages, v) {
			l.requestReadBack()
		}
		return
	}
	l.tryQueue(l.interactions, v)
}

func (l *listener) tryQueue(to chan envelope, v envelope) bool {
	select {
	case to <- v:
		return true
	default:
		l.o.Log.Warn("the queue is full; Slack will repeat the envelope", "envelope", v.id)
		return false
	}
}

// requestReadBack makes handleMessages read back missed messages before newer
// ones.
func (l *listener) requestReadBack() {
	select {
	case l.readBackWanted <- struct{}{}:
	default:
	}
}

// handleMessages handles messages, one at a time.
func (l *listener) handleMessages(ctx context.Context) {
	for {
		select {
		case <-l.readBackWanted:
			l.readBack(ctx)
		case v := <-l.messages:
			select {
			case <-l.readBackWanted:
				l.readBack(ctx)
			default:
			}
			l.handleMessage(ctx, v.payload, func() { v.ack(nil) })
		case <-ctx.Done():
			return
		}
	}
}

// handleMessage handles one event, and calls handled once it is committed: never, if ctx
// ends first.
func (l *listener) handleMessage(ctx context.Context, payload json.RawMessage, handled func()) {
	var p struct {
		Event json.RawMessage `json:"event"`
	}
	var m message
	if json.Unmarshal(payload, &p) != nil || json.Unmarshal(p.Event, &m) != nil {
		l.o.Log.Warn("Slack sent an unknown event; it is ignored", "bytes", len(payload))
		handled()
		return
	}
	if m.Type == "member_joined_channel" && m.User == l.identity().User {
		l.markActive(m)
	}
	switch m.Type {
	case "message", "app_mention":
		l.deliver(ctx, m, handled)
		return
	case "reaction_added":
		if in, ok := l.fromReaction(m); ok && !l.receive(ctx, in, "") { // it stands in no history: it moves no cursor
			return
		}
	}
	handled()
}

// markActive reports that a channel is active.
func (l *listener) markActive(m message) {
	if idForm.MatchString(m.Channel) && !isDirect(m.Channel) {
		l.o.OnChannelActive(Prefix + m.Channel)
	}
}

// deliver passes a message to the receiver until it is committed, and calls handled
// then. It returns false if ctx ends first, and earlier for a message that takes time.
func (l *listener) deliver(ctx context.Context, m message, handled func()) bool {
	if m.User != l.identity().User {
		l.markActive(m)
	}
	in, ok := l.fromMessage(m, func(chat, id string) bool { return l.o.RepliedTo(ctx, chat, id) })
	switch {
	case !ok:
		handled()
		return true
	case in.TakesTime(), in.Edited && l.slow.Busy():
		l.slow.Go(func() {
			if l.receive(ctx, in, m.TS) {
				handled()
			}
		})
		return true
	case l.slow.Busy():
		m.TS = ""
	}
	if !l.receive(ctx, in, m.TS) {
		return false
	}
	handled()
	return true
}

// receive passes an input to the receiver until it is committed, with the cursor at a
// timestamp, unless it is further; "" leaves it where it is. It returns false if ctx ends
// first.
func (l *listener) receive(ctx context.Context, in bot.Inbound, safe string) bool {
	l.mu.Lock()
	safe = max(l.handledUpTo, safe)
	l.mu.Unlock()
	in.Cursor = l.cursorAt(safe)
	var pauses transport.Backoff
	for ctx.Err() == nil {
		err := l.receiver.Receive(ctx, in)
		if err == nil {
			l.advance(safe)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		l.markStuck(err)
		if l.o.Sleep(ctx, pauses.Next()) != nil {
			return false
		}
	}
	return false
}

// advance notes that all messages up to ts are handled.
func (l *listener) advance(ts string) {
	l.mu.Lock()
	l.handledUpTo = max(l.handledUpTo, ts)
	l.mu.Unlock()
	l.clearStuck()
}

// markStuck shows in State that an input could not be committed.
func (l *listener) markStuck(err error) {
	l.conn.MarkDown(transport.TroubleStore, "what came could not be committed, it is tried again: "+l.o.redact(err.Error()))
}

// clearStuck clears the trouble that markStuck set, and no other.
func (l *listener) clearStuck() {
	if l.State().Trouble == transport.TroubleStore {
		l.markAlive()
	}
}

// readBack handles missed messages. It retries until it succeeds, because a
// newer message would move the stored cursor past the missed ones.
func (l *listener) readBack(ctx context.Context) {
	var pauses transport.Backoff
	for ctx.Err() == nil {
		list, whole, err := l.sinceCursor(ctx)
		var r *apiError
		switch {
		case err == nil:
			for _, m := range list {
				if !l.deliver(ctx, m, func() {}) {
					return
				}
				if m.Edited != nil && !l.deliver(ctx, message{Subtype: "message_changed", Channel: m.Channel, TS: m.TS, Message: &m}, func() {}) {
					return
				}
			}
			if l.slow.Busy() {
				whole = ""
			}
			l.advance(whole)
			return
		case ctx.Err() != nil:
			return
		case isPermanent(err), errors.As(err, &r) && !r.foreign && refusesToken(r.text):
			// Retrying can never succeed, and would block all new messages.
			_, text, _ := l.troubleOf(err)
			l.o.Log.Error("missed messages cannot be read back", "error", text)
			return
		}
		l.o.Log.Warn("missed messages cannot be read back; retrying", "error", l.o.redact(err.Error()))
		if l.o.Sleep(ctx, pauses.Next()) != nil {
			return
		}
	}
}

// sinceCursor returns the messages since the stored cursor. After they are
// handled, all messages before the timestamp whole are handled. whole is in
// Slack's time, because local clocks may be wrong.
func (l *listener) sinceCursor(ctx context.Context) (list []message, whole string, err error) {
	now := l.platformTime()
	if !now.IsZero() {
		whole = tsOf(now)
	}
	at, err := l.cursor(ctx)
	if err != nil || !timestampForm.MatchString(at) {
		return nil, whole, err // "" means that no input was ever stored
	}
	l.mu.Lock()
	if ahead := timeOf(at).Sub(now); whole != "" && ahead > overlap {
		l.o.Log.Warn("the stored cursor is in Slack's future; a day is read back", "ahead", ahead)
		at = tsOf(now.Add(-recentThreads))
	}
	l.handledUpTo = max(l.handledUpTo, at)
	at = l.handledUpTo
	l.mu.Unlock()
	list, err = l.missedMessages(ctx, at, now)
	return list, whole, err
}
