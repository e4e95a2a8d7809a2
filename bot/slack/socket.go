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

// Run hands what people do to r until ctx ends; it returns why ctx ended and
// nothing else: every trouble is waited out and shown by State. cursor returns
// the stored loop.Cursor's value of CursorName, "" where there is none. What r
// cannot commit is handed to it again, after a pause, and nothing of its kind
// after it before.
func (b *Bot) Run(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error {
	l := &listener{Bot: b, cursor: cursor, receiver: r, readBackWanted: make(chan struct{}, 1), messages: make(chan envelope, queueSize), interactions: make(chan envelope, queueSize)}
	b.authMu.Lock()
	b.onTokenAccepted = l.requestReadBack
	b.authMu.Unlock()
	work, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	if l.waitForIdentity(ctx) {
		// What cannot be read back must not wait for what is.
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
	b.conn.CloseIdle()
	if ctx.Err() == nil {
		return context.Canceled // the clock of a test ended
	}
	return context.Cause(ctx)
}

// queueSize is how many envelopes wait to be handled. What is more is not
// acknowledged and comes again, a few times; messages are read back besides.
const queueSize = 1000

// listener are one run of Run.
type listener struct {
	*Bot
	cursor         func(context.Context) (string, error)
	receiver       bot.Receiver
	readBackWanted chan struct{} // what is not among messages is to be read back
	messages       chan envelope // what can be read back
	interactions   chan envelope // presses, commands and forms

	mu          sync.Mutex
	handledUpTo string // nothing older is still to be handled; "" = not known
}

// envelope is one thing that came over the socket.
type envelope struct {
	kind     string
	id       string
	payload  json.RawMessage
	received time.Time // for what the platform waits for
	ack      func(payload any)
}

// waitForIdentity learns who we are: nothing can be told from our own messages
// before. It reports false when ctx ended.
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

// runSocket keeps a socket open, with others after it, until that is of no use
// any more.
func (l *listener) runSocket(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Its log would go to the standard error, and only debugging is said there.
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

// handleEvent takes what the socket says. It must not wait for anything.
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
		// Of a form that the library does not know. Ours may know enough of it.
		var r socketmode.Request
		if bad, is := ev.Data.(*socketmode.ErrorBadMessage); is && json.Unmarshal(bad.Message, &r) == nil && r.EnvelopeID != "" {
			l.enqueue(ctx, socket, r)
		}
	}
}

// enqueue queues a request of the platform.
func (l *listener) enqueue(ctx context.Context, socket *socketmode.Client, r socketmode.Request) {
	l.markAlive()
	v := envelope{kind: r.Type, id: r.EnvelopeID, payload: r.Payload, received: time.Now(), ack: func(payload any) {
		const patience = 5 * time.Second
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := socket.SendCtx(ctx, socketmode.Response{EnvelopeID: r.EnvelopeID, Payload: payload}); err != nil {
			l.o.Log.Debug("not acknowledged; it comes again", "envelope", r.EnvelopeID, "error", err)
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
		l.o.Log.Warn("too much waits to be handled; this comes again", "envelope", v.id)
		return false
	}
}

// requestReadBack has what was missed read back before any newer message is handled.
func (l *listener) requestReadBack() {
	select {
	case l.readBackWanted <- struct{}{}:
	default:
	}
}

// handleMessages handles messages, one after the other.
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
			if l.handleMessage(ctx, v.payload) {
				v.ack(nil)
			}
		case <-ctx.Done():
			return
		}
	}
}

// handleMessage handles an event. It reports false when ctx ended before.
func (l *listener) handleMessage(ctx context.Context, payload json.RawMessage) bool {
	var p struct {
		Event json.RawMessage `json:"event"`
	}
	var m message
	if json.Unmarshal(payload, &p) != nil || json.Unmarshal(p.Event, &m) != nil {
		l.o.Log.Warn("Slack sent an event that is not understood; nothing is done about it", "bytes", len(payload))
		return true
	}
	if m.Type == "member_joined_channel" && m.User == l.identity().User {
		l.markActive(m)
	}
	if m.Type != "message" && m.Type != "app_mention" {
		return true
	}
	return l.deliver(ctx, m)
}

// markActive tells that a channel is one that shows what is said there.
func (l *listener) markActive(m message) {
	if idForm.MatchString(m.Channel) && !isDirect(m.Channel) {
		l.o.OnChannelActive(Prefix + m.Channel)
	}
}

// deliver hands a message over until it is committed.
func (l *listener) deliver(ctx context.Context, m message) bool {
	if m.User != l.identity().User {
		l.markActive(m)
	}
	in, ok := l.fromMessage(m, func(chat, id string) bool { return l.o.RepliedTo(ctx, chat, id) })
	if !ok {
		return true
	}
	l.mu.Lock()
	safe := max(l.handledUpTo, m.TS)
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

// advance notes that nothing older is still to be handled.
func (l *listener) advance(ts string) {
	l.mu.Lock()
	l.handledUpTo = max(l.handledUpTo, ts)
	l.mu.Unlock()
	l.clearStuck()
}

// markStuck says that something could not be committed.
func (l *listener) markStuck(err error) {
	l.conn.MarkDown(transport.TroubleStore, "what came could not be committed, it is tried again: "+l.o.redact(err.Error()))
}

// clearStuck ends that. It says nothing about the connection otherwise.
func (l *listener) clearStuck() {
	if l.State().Trouble == transport.TroubleStore {
		l.markAlive()
	}
}

// readBack handles what was missed. It does not end before that succeeded:
// whatever is newer would move the stored time stamp past it.
func (l *listener) readBack(ctx context.Context) {
	var pauses transport.Backoff
	for ctx.Err() == nil {
		list, whole, err := l.sinceCursor(ctx)
		var r *apiError
		switch {
		case err == nil:
			for _, m := range list {
				if !l.deliver(ctx, m) {
					return
				}
				if m.Edited != nil && !l.deliver(ctx, message{Subtype: "message_changed", Channel: m.Channel, TS: m.TS, Message: &m}) {
					return
				}
			}
			l.advance(whole)
			return
		case ctx.Err() != nil:
			return
		case isPermanent(err), errors.As(err, &r) && !r.foreign && refusesToken(r.text):
			// It would never succeed, and nothing else would be heard.
			_, text, _ := l.troubleOf(err)
			l.o.Log.Error("what was said meanwhile cannot be read back", "error", text)
			return
		}
		l.o.Log.Warn("what was said meanwhile cannot be read back; it is tried again", "error", l.o.redact(err.Error()))
		if l.o.Sleep(ctx, pauses.Next()) != nil {
			return
		}
	}
}

// sinceCursor reads what was said since the stored time stamp. Once that is
// handled, nothing before whole is still to be: by the platform's time, because
// our clock may be wrong.
func (l *listener) sinceCursor(ctx context.Context) (list []message, whole string, err error) {
	now := l.platformTime()
	if !now.IsZero() {
		whole = tsOf(now)
	}
	at, err := l.cursor(ctx)
	if err != nil || !timestampForm.MatchString(at) {
		return nil, whole, err // "": nothing was ever said to us
	}
	l.mu.Lock()
	if ahead := timeOf(at).Sub(now); whole != "" && ahead > overlap {
		l.o.Log.Warn("the stored time stamp lies in Slack's future; a day is read back", "ahead", ahead)
		at = tsOf(now.Add(-recentThreads))
	}
	l.handledUpTo = max(l.handledUpTo, at)
	at = l.handledUpTo
	l.mu.Unlock()
	list, err = l.missedMessages(ctx, at, now)
	return list, whole, err
}
