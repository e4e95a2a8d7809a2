package delivery

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/sleep"
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

	// Group reports whether several people read in a chat: it is edited less often
	// then. nil: those with a negative id, as Telegram has it.
	Group func(chat string) bool
	// Clock tells the time in the person's zone; nil: time.Now. Waits are on
	// package time in any case.
	Clock  func() time.Time
	Limits Limits // zero: TelegramLimits
	Log    *slog.Logger

	// Live gives the texts of live messages; nil: there are none.
	Live Live
	// Barred reports that nobody who is let in reads in a chat any more: what
	// waits for it is dropped, but for answers to what somebody asked there while
	// they were. nil: no chat is.
	Barred func(chat string) bool
	// Shut is told that a chat begins to take nothing, with the platform's reason:
	// it was blocked, left or closed. It is called without a lock of the Post's and
	// keeps the chat waiting. nil: nobody wants to know.
	Shut func(chat, why string)
	// Quiet reports whether a chat is to be left in peace at a time. What was
	// committed to ring by day and arrives in quiet hours then makes no sound;
	// what was committed to ring in them does. nil: never.
	Quiet func(chat string, at time.Time) bool
}

// Dispatcher brings the messages of an Outbox to one platform. Its methods may be
// called from any goroutine, and before Run; none but Run blocks.
type Dispatcher struct {
	o       Options
	circuit *line
	all     *pace
	made    time.Time // by the clock of waits
	started time.Time // set by Run, by the person's clock

	mu    sync.Mutex
	spawn func(*chat) // gives a chat a goroutine of Run's; nil while it does not run
	chats map[string]*chat
	paces map[string]*pace
	wg    sync.WaitGroup
}

// New makes a Post. Nothing is read or sent before Run.
func New(o Options) *Dispatcher {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Group == nil {
		o.Group = func(chat string) bool { return strings.HasPrefix(strings.TrimPrefix(chat, o.Prefix), "-") }
	}
	if o.Barred == nil {
		o.Barred = func(string) bool { return false }
	}
	if o.Shut == nil {
		o.Shut = func(string, string) {}
	}
	o.Limits = o.Limits.orDefault()
	p := &Dispatcher{o: o, made: time.Now(), chats: map[string]*chat{}, paces: map[string]*pace{}}
	p.all = &pace{limiter: o.Limits.All.limiter(p.made)}
	p.circuit = newLine(o.Clock, o.Log, p.nudge)
	return p
}

// Run delivers until ctx ends, and returns then: within 5 s, which a call that
// is under way gets to end and to be noted. What goes wrong with a chat, the
// platform or the outbox is logged and tried again, it never ends a Run. The
// error is why ctx ended, or that this Post is or was running.
func (p *Dispatcher) Run(ctx context.Context) error {
	p.mu.Lock()
	if !p.started.IsZero() {
		p.mu.Unlock()
		return errors.New("post: Run was called twice")
	}
	p.started = p.o.Clock()
	p.spawn = func(c *chat) { p.wg.Go(func() { c.work(ctx) }) }
	for _, c := range p.chats {
		p.start(c)
	}
	p.mu.Unlock()

	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		chats, err := p.o.Outbox.Chats(ctx)
		if err == nil {
			p.Wake(chats...)
			<-ctx.Done()
			break
		}
		if ctx.Err() != nil {
			break
		}
		p.o.Log.Error("outgoing messages cannot be read", "err", err, "next", wait)
		if sleep.For(ctx, wait) != nil {
			break
		}
	}
	p.mu.Lock()
	p.spawn = nil
	p.mu.Unlock()
	p.wg.Wait()
	return context.Cause(ctx)
}

// Wake says that something was committed for these chats. Addresses of other
// platforms are passed over.
func (p *Dispatcher) Wake(chats ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, address := range chats {
		if c := p.chat(address); c != nil {
			p.signal(c)
		}
	}
}

// Reopen says that somebody wrote in a chat: one that took nothing any more is
// tried again, with all topics of its group.
func (p *Dispatcher) Reopen(chat string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.chats {
		if c.closed && base(c.address) == base(chat) {
			c.closed = false
			p.signal(c)
		}
	}
}

// Accepts reports whether a chat takes messages, as far as is known.
func (p *Dispatcher) Accepts(chat string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chats[chat]
	return c == nil || !c.closed
}

// MarkReachable says that the platform answered a call of somebody else, for example
// of the poll loop. An outage is over with that, without a wait.
func (p *Dispatcher) MarkReachable() { p.circuit.settle(false, "", "") }

// Show says that a chat shows the live message with this key, which is from
// then on kept up to date. What is sent under a key "status/…" is shown without
// being said; at a start those of the outbox are (SentFor).
func (p *Dispatcher) Show(chat, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.chat(chat); c != nil && p.o.Live != nil {
		c.show(key)
		p.signal(c)
	}
}

// RefreshLive says that the text of a live message has changed, in all chats that
// show it.
func (p *Dispatcher) RefreshLive(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.chats {
		if l := c.live[key]; l != nil {
			l.version++
			p.signal(c)
		}
	}
}

// chat returns the chat with an address, nil for one of another platform. The
// caller holds mu.
func (p *Dispatcher) chat(address string) *chat {
	if !strings.HasPrefix(address, p.o.Prefix) {
		return nil
	}
	c := p.chats[address]
	if c == nil {
		group := p.o.Group(address)
		c = &chat{
			p: p, address: address, group: group, pace: p.pace(base(address), group),
			wake: make(chan struct{}, 1), live: map[string]*live{}, doubts: map[int64]*doubt{}, unsettled: true,
		}
		p.chats[address] = c
	}
	return c
}

func (p *Dispatcher) pace(base string, group bool) *pace {
	if p.paces[base] == nil {
		r := p.o.Limits.Private
		if group {
			r = p.o.Limits.Group
		}
		p.paces[base] = &pace{limiter: r.limiter(p.made)}
	}
	return p.paces[base]
}

// signal makes a chat look for work. The caller holds mu.
func (p *Dispatcher) signal(c *chat) {
	select {
	case c.wake <- struct{}{}:
	default:
	}
	p.start(c)
}

// start gives a chat its goroutine, unless it has one. The caller holds mu.
func (p *Dispatcher) start(c *chat) {
	if p.spawn == nil || c.running {
		return
	}
	c.running = true
	p.spawn(c)
}

// nudge makes every chat look again: what is in doubt may have waited for it.
func (p *Dispatcher) nudge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.chats {
		p.signal(c)
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
