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
// the stored ledger.Cursor's value of CursorName, "" where there is none. What r
// cannot commit is handed to it again, after a pause, and nothing of its kind
// after it before.
func (b *Bot) Run(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error {
	e := &listener{Bot: b, cursor: cursor, receiver: r, behind: make(chan struct{}, 1), messages: make(chan envelope, waiting), deeds: make(chan envelope, waiting)}
	b.token.Lock()
	b.mended = e.miss
	b.token.Unlock()
	work, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	if e.identified(ctx) {
		// What cannot be read back must not wait for what is.
		wg.Go(func() { e.hear(work) })
		wg.Go(func() { e.act(work) })
	}
	var pauses transport.Backoff
	for ctx.Err() == nil {
		began := b.o.Clock()
		err := e.listen(ctx)
		b.opened(false)
		if ctx.Err() != nil {
			break
		}
		if b.o.Clock().Sub(began) > transport.Longest {
			pauses.Reset()
		}
		t, text, pause := b.trouble(err)
		b.line.MarkDown(t, text)
		if b.o.Wait(ctx, max(pause, pauses.Next())) != nil {
			break
		}
	}
	cancel()
	wg.Wait()
	b.line.CloseIdle()
	if ctx.Err() == nil {
		return context.Canceled // the clock of a test ended
	}
	return context.Cause(ctx)
}

// waiting is how many envelopes wait to be handled. What is more is not
// acknowledged and comes again, a few times; messages are read back besides.
const waiting = 1000

// listener are one run of Run.
type listener struct {
	*Bot
	cursor   func(context.Context) (string, error)
	receiver bot.Receiver
	behind   chan struct{} // what is not among messages is to be read back
	messages chan envelope // what can be read back
	deeds    chan envelope // presses, commands and forms

	mu   sync.Mutex
	safe string // nothing older is still to be handled; "" = not known
}

// envelope is one thing that came over the socket.
type envelope struct {
	kind    string
	id      string
	payload json.RawMessage
	came    time.Time // for what the platform waits for
	ack     func(payload any)
}

// identified learns who we are: nothing can be told from our own messages
// before. It reports false when ctx ended.
func (e *listener) identified(ctx context.Context) bool {
	var pauses transport.Backoff
	for ctx.Err() == nil {
		_, err := e.identify(ctx)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		t, text, pause := e.trouble(err)
		e.line.MarkDown(t, text)
		if e.o.Wait(ctx, max(pause, pauses.Next())) != nil {
			return false
		}
	}
	return false
}

// listen keeps a socket open, with others after it, until that is of no use
// any more.
func (e *listener) listen(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Its log would go to the standard error, and only debugging is said there.
	socket := socketmode.New(e.api, socketmode.OptionPingInterval(e.o.Silence), socketmode.OptionLog(log.New(io.Discard, "", 0)),
		socketmode.OptionDialer(&websocket.Dialer{NetDialContext: e.o.Dial, Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 45 * time.Second}))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		for {
			select {
			case ev := <-socket.Events:
				e.event(ctx, socket, ev)
			case <-ctx.Done():
				return
			}
		}
	})
	return socket.RunContext(ctx)
}

// event takes what the socket says. It must not wait for anything.
func (e *listener) event(ctx context.Context, socket *socketmode.Client, ev socketmode.Event) {
	switch ev.Type {
	case socketmode.EventTypeConnected:
		e.opened(true)
		e.miss()
	case socketmode.EventTypeDisconnect:
		e.opened(false)
	case socketmode.EventTypeConnectionError:
		e.opened(false)
		if failed, is := ev.Data.(*slack.ConnectionErrorEvent); is && ctx.Err() == nil {
			t, text, _ := e.trouble(failed.ErrorObj)
			e.line.MarkDown(t, text)
		}
	case socketmode.EventTypeEventsAPI, socketmode.EventTypeSlashCommand, socketmode.EventTypeInteractive:
		if ev.Request != nil {
			e.take(ctx, socket, *ev.Request)
		}
	case socketmode.EventTypeErrorBadMessage:
		// Of a form that the library does not know. Ours may know enough of it.
		var r socketmode.Request
		if bad, is := ev.Data.(*socketmode.ErrorBadMessage); is && json.Unmarshal(bad.Message, &r) == nil && r.EnvelopeID != "" {
			e.take(ctx, socket, r)
		}
	}
}

// take queues a request of the platform.
func (e *listener) take(ctx context.Context, socket *socketmode.Client, r socketmode.Request) {
	e.heard()
	v := envelope{kind: r.Type, id: r.EnvelopeID, payload: r.Payload, came: time.Now(), ack: func(payload any) {
		const patience = 5 * time.Second
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := socket.SendCtx(ctx, socketmode.Response{EnvelopeID: r.EnvelopeID, Payload: payload}); err != nil {
			e.o.Log.Debug("not acknowledged; it comes again", "envelope", r.EnvelopeID, "error", err)
		}
	}}
	if r.Type == socketmode.RequestTypeEventsAPI {
		if !e.queue(e.messages, v) {
			e.miss()
		}
		return
	}
	e.queue(e.deeds, v)
}

func (e *listener) queue(to chan envelope, v envelope) bool {
	select {
	case to <- v:
		return true
	default:
		e.o.Log.Warn("too much waits to be handled; this comes again", "envelope", v.id)
		return false
	}
}

// miss has what was missed read back before any newer message is handled.
func (e *listener) miss() {
	select {
	case e.behind <- struct{}{}:
	default:
	}
}

// hear handles messages, one after the other.
func (e *listener) hear(ctx context.Context) {
	for {
		select {
		case <-e.behind:
			e.readBack(ctx)
		case v := <-e.messages:
			select {
			case <-e.behind:
				e.readBack(ctx)
			default:
			}
			if e.message(ctx, v.payload) {
				v.ack(nil)
			}
		case <-ctx.Done():
			return
		}
	}
}

// message handles an event. It reports false when ctx ended before.
func (e *listener) message(ctx context.Context, payload json.RawMessage) bool {
	var p struct {
		Event json.RawMessage `json:"event"`
	}
	var m message
	if json.Unmarshal(payload, &p) != nil || json.Unmarshal(p.Event, &m) != nil {
		e.o.Log.Warn("Slack sent an event that is not understood; nothing is done about it", "bytes", len(payload))
		return true
	}
	if m.Type == "member_joined_channel" && m.User == e.known().User {
		e.alive(m)
	}
	if m.Type != "message" && m.Type != "app_mention" {
		return true
	}
	return e.deliver(ctx, m)
}

// alive tells that a channel is one that shows what is said there.
func (e *listener) alive(m message) {
	if idForm.MatchString(m.Channel) && !isDirect(m.Channel) {
		e.o.Alive(Prefix + m.Channel)
	}
}

// deliver hands a message over until it is committed.
func (e *listener) deliver(ctx context.Context, m message) bool {
	if m.User != e.known().User {
		e.alive(m)
	}
	in, ok := e.said(m, func(chat, id string) bool { return e.o.Answered(ctx, chat, id) })
	if !ok {
		return true
	}
	e.mu.Lock()
	safe := max(e.safe, m.TS)
	e.mu.Unlock()
	in.Cursor = e.at(safe)
	var pauses transport.Backoff
	for ctx.Err() == nil {
		err := e.receiver.Receive(ctx, in)
		if err == nil {
			e.settled(safe)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		e.stuck(err)
		if e.o.Wait(ctx, pauses.Next()) != nil {
			return false
		}
	}
	return false
}

// settled notes that nothing older is still to be handled.
func (e *listener) settled(ts string) {
	e.mu.Lock()
	e.safe = max(e.safe, ts)
	e.mu.Unlock()
	e.unstuck()
}

// stuck says that something could not be committed.
func (e *listener) stuck(err error) {
	e.line.MarkDown(transport.TroubleStore, "what came could not be committed, it is tried again: "+e.o.without(err.Error()))
}

// unstuck ends that. It says nothing about the connection otherwise.
func (e *listener) unstuck() {
	if e.State().Trouble == transport.TroubleStore {
		e.heard()
	}
}

// readBack handles what was missed. It does not end before that succeeded:
// whatever is newer would move the stored time stamp past it.
func (e *listener) readBack(ctx context.Context) {
	var pauses transport.Backoff
	for ctx.Err() == nil {
		list, whole, err := e.sinceLast(ctx)
		var r *refusal
		switch {
		case err == nil:
			for _, m := range list {
				if !e.deliver(ctx, m) {
					return
				}
				if m.Edited != nil && !e.deliver(ctx, message{Subtype: "message_changed", Channel: m.Channel, TS: m.TS, Message: &m}) {
					return
				}
			}
			e.settled(whole)
			return
		case ctx.Err() != nil:
			return
		case final(err), errors.As(err, &r) && !r.foreign && refusesToken(r.text):
			// It would never succeed, and nothing else would be heard.
			_, text, _ := e.trouble(err)
			e.o.Log.Error("what was said meanwhile cannot be read back", "error", text)
			return
		}
		e.o.Log.Warn("what was said meanwhile cannot be read back; it is tried again", "error", e.o.without(err.Error()))
		if e.o.Wait(ctx, pauses.Next()) != nil {
			return
		}
	}
}

// sinceLast reads what was said since the stored time stamp. Once that is
// handled, nothing before whole is still to be: by the platform's time, because
// our clock may be wrong.
func (e *listener) sinceLast(ctx context.Context) (list []message, whole string, err error) {
	now := e.platformTime()
	if !now.IsZero() {
		whole = tsOf(now)
	}
	at, err := e.cursor(ctx)
	if err != nil || !stamp.MatchString(at) {
		return nil, whole, err // "": nothing was ever said to us
	}
	e.mu.Lock()
	if ahead := moment(at).Sub(now); whole != "" && ahead > overlap {
		e.o.Log.Warn("the stored time stamp lies in Slack's future; a day is read back", "ahead", ahead)
		at = tsOf(now.Add(-recent))
	}
	e.safe = max(e.safe, at)
	at = e.safe
	e.mu.Unlock()
	list, err = e.missed(ctx, at, now)
	return list, whole, err
}
