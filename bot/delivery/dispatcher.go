package delivery

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// grace is how long a call that is under way, and the note of its outcome, may
// take after the end was asked for. A clean end is out within 10 s (SPEC 13).
const grace = 5 * time.Second

// Options say what a Post works with.
type Options struct {
	Outbox Outbox
	Sender bot.Sender

	Prefix   string // addresses that are this platform's: "telegram:"
	Platform string // its name for people: "Telegram"

	// IsGroup reports whether several people read in a chat: it is edited less often
	// then. nil: those with a negative id, as Telegram has it.
	IsGroup func(chat string) bool
	// Clock tells the time in the person's zone; nil: time.Now. Waits are on
	// package time in any case.
	Clock  func() time.Time
	Limits Limits // zero: TelegramLimits
	Log    *slog.Logger

	// Live gives the texts of live messages; nil: there are none.
	Live Live
	// Unauthorized reports that nobody who is let in reads in a chat any more: what
	// waits for it is dropped, but for answers to what somebody asked there while
	// they were. nil: no chat is.
	Unauthorized func(chat string) bool
	// OnChatClosed is told that a chat begins to take nothing, with the platform's reason:
	// it was blocked, left or closed. It is called without a lock of the Post's and
	// keeps the chat waiting. nil: nobody wants to know.
	OnChatClosed func(chat, why string)
	// Quiet reports whether a chat is to be left in peace at a time. What was
	// committed to ring by day and arrives in quiet hours then makes no sound;
	// what was committed to ring in them does. nil: never.
	Quiet func(chat string, at time.Time) bool
}

// Dispatcher brings the messages of an Outbox to one platform. Its methods may be
// called from any goroutine, and before Run; none but Run blocks.
type Dispatcher struct {
	o         Options
	circuit   *circuit
	global    *throttle
	createdAt time.Time // by the clock of waits
	startedAt time.Time // set by Run, by the person's clock

	mu        sync.Mutex
	spawn     func(*chat) // gives a chat a goroutine of Run's; nil while it does not run
	chats     map[string]*chat
	throttles map[string]*throttle
	wg        sync.WaitGroup
}

// New makes a Post. Nothing is read or sent before Run.
func New(o Options) *Dispatcher {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.IsGroup == nil {
		o.IsGroup = func(chat string) bool { return strings.HasPrefix(strings.TrimPrefix(chat, o.Prefix), "-") }
	}
	if o.Unauthorized == nil {
		o.Unauthorized = func(string) bool { return false }
	}
	if o.OnChatClosed == nil {
		o.OnChatClosed = func(string, string) {}
	}
	o.Limits = o.Limits.orDefault()
	d := &Dispatcher{o: o, createdAt: time.Now(), chats: map[string]*chat{}, throttles: map[string]*throttle{}}
	d.global = &throttle{limiter: o.Limits.All.limiter(d.createdAt)}
	d.circuit = newCircuit(o.Clock, o.Log, d.wakeAll)
	return d
}

// Run delivers until ctx ends, and returns then: within 5 s, which a call that
// is under way gets to end and to be noted. What goes wrong with a chat, the
// platform or the outbox is logged and tried again, it never ends a Run. The
// error is why ctx ended, or that this Post is or was running.
func (d *Dispatcher) Run(ctx context.Context) error {
	d.mu.Lock()
	if !d.startedAt.IsZero() {
		d.mu.Unlock()
		return errors.New("post: Run was called twice")
	}
	d.startedAt = d.o.Clock()
	d.spawn = func(c *chat) { d.wg.Go(func() { c.run(ctx) }) }
	for _, c := range d.chats {
		d.start(c)
	}
	d.mu.Unlock()

	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		chats, err := d.o.Outbox.Chats(ctx)
		if err == nil {
			d.Wake(chats...)
			<-ctx.Done()
			break
		}
		if ctx.Err() != nil {
			break
		}
		d.o.Log.Error("outgoing messages cannot be read", "err", err, "next", wait)
		if sleep(ctx, wait) != nil {
			break
		}
	}
	d.mu.Lock()
	d.spawn = nil
	d.mu.Unlock()
	d.wg.Wait()
	return context.Cause(ctx)
}

// Wake says that something was committed for these chats. Addresses of other
// platforms are passed over.
func (d *Dispatcher) Wake(chats ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, address := range chats {
		if c := d.chatFor(address); c != nil {
			d.signal(c)
		}
	}
}

// Reopen says that somebody wrote in a chat: one that took nothing any more is
// tried again, with all topics of its group.
func (d *Dispatcher) Reopen(chat string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.chats {
		if c.closed && withoutTopic(c.address) == withoutTopic(chat) {
			c.closed = false
			d.signal(c)
		}
	}
}

// Accepts reports whether a chat takes messages, as far as is known.
func (d *Dispatcher) Accepts(chat string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.chats[chat]
	return c == nil || !c.closed
}

// MarkReachable says that the platform answered a call of somebody else, for example
// of the poll loop. An outage is over with that, without a wait.
func (d *Dispatcher) MarkReachable() { d.circuit.record(false, nil, "") }

// TrackLive says that a chat shows the live message with this key, which is from
// then on kept up to date. What is sent under a key "status/…" is shown without
// being said; at a start those of the outbox are (SentFor).
func (d *Dispatcher) TrackLive(chat, key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.chatFor(chat); c != nil && d.o.Live != nil {
		c.track(key)
		d.signal(c)
	}
}

// RefreshLive says that the text of a live message has changed, in all chats that
// show it.
func (d *Dispatcher) RefreshLive(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.chats {
		if l := c.live[key]; l != nil {
			l.version++
			d.signal(c)
		}
	}
}

// chatFor returns the chat with an address, nil for one of another platform. The
// caller holds mu.
func (d *Dispatcher) chatFor(address string) *chat {
	if !strings.HasPrefix(address, d.o.Prefix) {
		return nil
	}
	c := d.chats[address]
	if c == nil {
		group := d.o.IsGroup(address)
		c = &chat{
			d: d, address: address, group: group, throttle: d.throttleFor(withoutTopic(address), group),
			wake: make(chan struct{}, 1), live: map[string]*live{}, doubts: map[int64]*doubt{}, starting: true,
		}
		d.chats[address] = c
	}
	return c
}

func (d *Dispatcher) throttleFor(base string, group bool) *throttle {
	if d.throttles[base] == nil {
		r := d.o.Limits.Private
		if group {
			r = d.o.Limits.Group
		}
		d.throttles[base] = &throttle{limiter: r.limiter(d.createdAt)}
	}
	return d.throttles[base]
}

// signal makes a chat look for work. The caller holds mu.
func (d *Dispatcher) signal(c *chat) {
	select {
	case c.wake <- struct{}{}:
	default:
	}
	d.start(c)
}

// start gives a chat its goroutine, unless it has one. The caller holds mu.
func (d *Dispatcher) start(c *chat) {
	if d.spawn == nil || c.running {
		return
	}
	c.running = true
	d.spawn(c)
}

// wakeAll makes every chat look again: what is in doubt may have waited for it.
func (d *Dispatcher) wakeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.chats {
		d.signal(c)
	}
}

// inGrace is a context for what has to be ended properly: it outlives ctx by
// the time of grace.
func inGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-t.C:
			cancel(context.Cause(ctx))
		case <-out.Done():
		}
	})
	return out, func() { stop(); cancel(nil) }
}
