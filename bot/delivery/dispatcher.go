package delivery

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop/ledger"
)

// grace is how long a call in progress, and storing its outcome, may take after
// the context ended. The whole daemon has 10 s to stop.
const grace = 5 * time.Second

// Options configure a Dispatcher. Outbox, Sender and Prefix are required.
type Options struct {
	Outbox Outbox
	Sender bot.Sender

	Prefix   string // of this platform's addresses: "telegram:"
	Platform string // name for people: "Telegram"

	// IsGroup reports whether several people read a chat. Groups have lower rates,
	// and their live messages change less often. nil: ids that begin with "-",
	// as Telegram's groups have.
	IsGroup func(chat string) bool
	// Clock returns the time in the person's zone, for texts and message ages; nil
	// means time.Now. Waits are measured by Scheduler.
	Clock func() time.Time
	// Scheduler runs the goroutines of chats and waits; nil means sched.Runtime.
	Scheduler sched.Scheduler
	Limits    Limits // zero means TelegramLimits
	Log       *slog.Logger

	// Live provides the texts of live messages; nil means there are none.
	Live Live
	// Draw returns a message with the picture of its Drawing, or as it is if that
	// cannot be drawn. It is called by the goroutine of the message's chat, before each
	// try. nil means that drawings are left out.
	Draw func(m bot.Message) bot.Message
	// Unauthorized reports that no authorized person reads a chat any more. Its
	// queued messages are dropped except for replies, which answer what a person
	// asked while authorized. nil means every chat is authorized.
	Unauthorized func(chat string) bool
	// OnChatClosed is called when a chat stops accepting messages, with the
	// platform's reason. again reports that nothing arrived there since the last
	// call. No lock is held; the chat waits until it returns.
	OnChatClosed func(chat, why string, again bool)
	// Redirect takes over a question or notice that is queued for a closed chat,
	// for example by committing it for other chats, and reports whether it did. It
	// may be called again for a message that it took over. After an error it is
	// called again. nil means that nothing is taken over.
	Redirect func(ctx context.Context, m ledger.QueuedMessage) (bool, error)
	// Quiet reports whether a chat has quiet hours at a time. A message that was
	// committed outside quiet hours and arrives in them makes no sound; one that was
	// committed in them may. nil means there are none.
	Quiet func(chat string, at time.Time) bool
}

// Dispatcher delivers the messages of an Outbox to one platform. Its methods may
// be called from any goroutine, before, during and after Run; only Run blocks.
type Dispatcher struct {
	o         Options
	circuit   *circuit
	global    *throttle
	createdAt time.Time // by Options.Scheduler, for rate limits
	startedAt time.Time // by Options.Clock, set by Run

	mu        sync.Mutex
	spawn     func(*chat) // starts a chat's goroutine within Run; nil while Run is not running
	chats     map[string]*chat
	inFlight  map[int64]*inFlight // by message
	throttles map[string]*throttle
	chatCount int           // running goroutines of chats
	stopped   chan struct{} // closed once spawn is nil again and chatCount is 0
}

// New returns a Dispatcher. It reads and sends nothing before Run.
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
		o.OnChatClosed = func(string, string, bool) {}
	}
	if o.Redirect == nil {
		o.Redirect = func(context.Context, ledger.QueuedMessage) (bool, error) { return false, nil }
	}
	if o.Scheduler == nil {
		o.Scheduler = sched.Runtime
	}
	o.Limits = o.Limits.orDefault()
	d := &Dispatcher{o: o, createdAt: o.Scheduler.Now(), chats: map[string]*chat{}, inFlight: map[int64]*inFlight{}, throttles: map[string]*throttle{}}
	d.global = newThrottle(o.Scheduler, o.Limits.All, d.createdAt)
	d.circuit = newCircuit(o.Clock, o.Scheduler, o.Log, d.wakeAll)
	return d
}

// Run delivers messages until ctx ends and then returns within 5 s, the grace
// period of calls in progress. Errors of a chat, the platform or the outbox are
// logged and retried; they never end Run. Run may be called once; the result is
// the cause of ctx's end.
func (d *Dispatcher) Run(ctx context.Context) error {
	d.mu.Lock()
	if !d.startedAt.IsZero() {
		d.mu.Unlock()
		return errors.New("delivery: Run was called twice")
	}
	d.startedAt = d.o.Clock()
	d.spawn = func(c *chat) {
		d.chatCount++
		d.o.Scheduler.Go(func() {
			defer d.chatEnded()
			c.run(ctx)
		})
	}
	for _, c := range d.allChats() {
		d.start(c)
	}
	d.mu.Unlock()

	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		chats, err := d.o.Outbox.Chats(ctx)
		if err == nil {
			d.Wake(chats...)
			_ = d.o.Scheduler.Wait(ctx, sched.Forever, nil)
			break
		}
		if ctx.Err() != nil {
			break
		}
		d.o.Log.Error("outgoing messages cannot be read", "err", err, "next", wait)
		if d.o.Scheduler.Wait(ctx, wait, nil) != nil {
			break
		}
	}
	d.mu.Lock()
	d.spawn, d.stopped = nil, make(chan struct{})
	if d.chatCount == 0 {
		close(d.stopped)
	}
	d.mu.Unlock()
	_ = d.o.Scheduler.Wait(context.Background(), sched.Forever, d.stopped) // that context never ends
	return context.Cause(ctx)
}

// chatEnded counts the end of a chat's goroutine.
func (d *Dispatcher) chatEnded() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.chatCount--; d.chatCount == 0 && d.stopped != nil {
		close(d.stopped)
	}
}

// allChats returns the chats by address, so that they are always woken in the
// same order. The caller holds mu.
func (d *Dispatcher) allChats() []*chat {
	all := make([]*chat, 0, len(d.chats))
	for _, address := range slices.Sorted(maps.Keys(d.chats)) {
		all = append(all, d.chats[address])
	}
	return all
}

// Wake tells the Dispatcher that messages for these chats were committed. It
// ignores addresses of other platforms.
func (d *Dispatcher) Wake(chats ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, address := range chats {
		if c := d.chatFor(address); c != nil {
			d.signal(c)
		}
	}
}

// Reopen retries a closed chat, and all topics of its group, because somebody
// wrote there.
func (d *Dispatcher) Reopen(chat string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.allChats() {
		if c.closed && withoutTopic(c.address) == withoutTopic(chat) {
			c.closed = false
			d.signal(c)
		}
	}
}

// Accepts reports whether a chat accepts messages, as far as is known.
func (d *Dispatcher) Accepts(chat string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.chats[chat]
	return c == nil || !c.closed
}

// MarkReachable tells the Dispatcher that the platform answered another caller,
// such as the poll loop. It ends an outage without waiting for a trial.
func (d *Dispatcher) MarkReachable() { d.circuit.record(false, nil, "") }

// TrackLive keeps the live message with this key up to date in a chat.
// Messages sent under a key "status/…" are tracked automatically; call TrackLive
// at a start for those sent by an earlier process.
func (d *Dispatcher) TrackLive(chat, key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.chatFor(chat); c != nil && d.o.Live != nil {
		c.track(key)
		d.signal(c)
	}
}

// RefreshLive tells the Dispatcher that the text of a live message has changed,
// in every chat that tracks it.
func (d *Dispatcher) RefreshLive(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.allChats() {
		if l := c.live[key]; l != nil {
			l.version++
			d.signal(c)
		}
	}
}

// chatFor returns the chat with an address, created if necessary, or nil for an
// address of another platform. The caller holds mu.
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
		d.throttles[base] = newThrottle(d.o.Scheduler, r, d.createdAt)
	}
	return d.throttles[base]
}

// signal wakes a chat. The caller holds mu.
func (d *Dispatcher) signal(c *chat) {
	select {
	case c.wake <- struct{}{}:
	default:
	}
	d.start(c)
}

// start starts a chat's goroutine unless it is running. The caller holds mu.
func (d *Dispatcher) start(c *chat) {
	if d.spawn == nil || c.running {
		return
	}
	c.running = true
	d.spawn(c)
}

// wakeAll wakes every chat: messages in doubt may wait for a certain answer.
func (d *Dispatcher) wakeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.allChats() {
		d.signal(c)
	}
}

// inGrace returns a context that outlives ctx by the grace period, for work that
// must be completed.
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
