package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
	"github.com/nightporter/nightporter/store/storetest"
)

var (
	_ Outbox = (*store.Store)(nil)
	_ Outbox = (*store.Memory)(nil)
)

// shownMessage is a message of the fake platform.
type shownMessage struct {
	at     time.Time
	chat   string
	id     string
	text   string // as sent
	edits  []string
	edited []time.Time
	gone   bool
	pinned bool
	silent bool
}

// fakePlatform shows messages, records violations of rate limits, and fails as its
// script says.
type fakePlatform struct {
	mu            sync.Mutex
	messagesShown []*shownMessage
	calls         map[string][]time.Time // by chat without topic, "" = all
	violations    []string               // exceeded rate limits
	arrived       []string               // kinds of the calls that arrived, in order

	// script returns the result of a call, nil for success, and whether the call
	// has its effect. It is called without a lock.
	script func(ctx context.Context, kind, chat, text string) (arrives bool, err error)
}

// setScript sets the script; nil means that every call succeeds.
func (f *fakePlatform) setScript(script func(ctx context.Context, kind, chat, text string) (arrives bool, err error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = script
}

func newFakePlatform() *fakePlatform { return &fakePlatform{calls: map[string][]time.Time{}} }

func (f *fakePlatform) call(ctx context.Context, kind, chat, text string, do func() error) error {
	f.mu.Lock()
	slow, script := f.tooFast(chat), f.script
	f.mu.Unlock()
	if slow {
		return &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: 30 * time.Second, Text: "too many requests"}
	}
	arrives, err := true, error(nil)
	if script != nil {
		arrives, err = script(ctx, kind, chat, text)
	}
	if arrives {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.arrived = append(f.arrived, kind)
		if done := do(); err == nil {
			err = done
		}
	}
	return err
}

// tooFast checks every window that ends now against the platform's real limits.
func (f *fakePlatform) tooFast(chat string) bool {
	now := time.Now()
	type window struct {
		of   string
		span time.Duration
		most int
	}
	windows := []window{{"", time.Second, 30}, {withoutTopic(chat), time.Second, 4}, {withoutTopic(chat), 10 * time.Second, 13}}
	if strings.HasPrefix(chat, "telegram:-") {
		windows = append(windows, window{withoutTopic(chat), time.Minute, 20})
	}
	bad := false
	for _, w := range windows {
		n := 1
		for _, at := range slices.Backward(f.calls[w.of]) {
			if now.Sub(at) >= w.span {
				break
			}
			n++
		}
		if n > w.most {
			bad = true
			f.violations = append(f.violations, fmt.Sprintf("%s: %d calls of %q in %v", now.Format(time.TimeOnly), n, w.of, w.span))
		}
	}
	for _, of := range []string{"", withoutTopic(chat)} {
		f.calls[of] = append(f.calls[of], now)
	}
	return bad
}

func (f *fakePlatform) Send(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	id := ""
	err := f.call(ctx, "send", chat, m.Text(0), func() error {
		id = fmt.Sprint(len(f.messagesShown) + 1)
		f.messagesShown = append(f.messagesShown, &shownMessage{at: time.Now(), chat: chat, id: id, text: m.Text(0), silent: o.Silent})
		return nil
	})
	return id, err
}

func (f *fakePlatform) find(at bot.Ref) *shownMessage {
	for _, m := range f.messagesShown {
		if m.chat == at.Chat && m.id == at.ID && !m.gone {
			return m
		}
	}
	return nil
}

func (f *fakePlatform) Edit(ctx context.Context, at bot.Ref, m bot.Message) error {
	return f.call(ctx, "edit", at.Chat, m.Text(0), func() error {
		old := f.find(at)
		if old == nil {
			return &bot.SendError{Reason: bot.ErrMessageGone, Text: "message to edit not found"}
		}
		old.edits, old.edited = append(old.edits, m.Text(0)), append(old.edited, time.Now())
		return nil
	})
}

func (f *fakePlatform) Delete(ctx context.Context, at bot.Ref) error {
	return f.call(ctx, "delete", at.Chat, "", func() error {
		if old := f.find(at); old != nil {
			old.gone = true
		}
		return nil
	})
}

func (f *fakePlatform) Pin(ctx context.Context, at bot.Ref) error {
	return f.call(ctx, "pin", at.Chat, "", func() error {
		m := f.find(at)
		if m == nil {
			return &bot.SendError{Reason: bot.ErrMessageGone, Text: "message to pin not found"}
		}
		m.pinned = true
		return nil
	})
}

func (f *fakePlatform) Unpin(ctx context.Context, at bot.Ref) error {
	return f.call(ctx, "unpin", at.Chat, "", func() error {
		if m := f.find(at); m != nil {
			m.pinned = false
		}
		return nil
	})
}

func (f *fakePlatform) Notice(context.Context, string, string) error { return nil }

// texts returns the texts sent to a chat, in order.
func (f *fakePlatform) texts(chat string) []string {
	var out []string
	for _, m := range f.messages(chat) {
		out = append(out, m.text)
	}
	return out
}

func (f *fakePlatform) messages(chat string) []*shownMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.messagesShown), func(m *shownMessage) bool { return m.chat != chat })
}

// crashableOutbox is the outbox of a process that can crash: after a crash it
// writes nothing.
type crashableOutbox struct {
	Outbox
	dead     atomic.Bool
	diskFull atomic.Bool // writes fail

	// afterNext and afterQueued are called once after the next read of their
	// kind, to commit in that moment. nil = no call.
	afterNext, afterQueued atomic.Pointer[func()]
}

var errDead = errors.New("the process is gone")

func (m *crashableOutbox) err() error {
	if m.dead.Load() || m.diskFull.Load() {
		return errDead
	}
	return nil
}

func (m *crashableOutbox) Chats(ctx context.Context) ([]string, error) {
	if err := m.err(); err != nil {
		return nil, err
	}
	return m.Outbox.Chats(ctx)
}

func (m *crashableOutbox) NextMessage(ctx context.Context, chat string) (ledger.QueuedMessage, bool, error) {
	if err := m.err(); err != nil {
		return ledger.QueuedMessage{}, false, err
	}
	defer runOnce(&m.afterNext)
	return m.Outbox.NextMessage(ctx, chat)
}

func (m *crashableOutbox) Queued(ctx context.Context, chat string) ([]ledger.QueuedMessage, error) {
	if err := m.err(); err != nil {
		return nil, err
	}
	defer runOnce(&m.afterQueued)
	return m.Outbox.Queued(ctx, chat)
}

func runOnce(what *atomic.Pointer[func()]) {
	if do := what.Swap(nil); do != nil {
		(*do)()
	}
}

func (m *crashableOutbox) BeginDelivery(ctx context.Context, id int64) error {
	if err := m.err(); err != nil {
		return err
	}
	return m.Outbox.BeginDelivery(ctx, id)
}

func (m *crashableOutbox) Sent(ctx context.Context, id int64, platformID string, at time.Time) (string, error) {
	if err := m.err(); err != nil {
		return "", err
	}
	return m.Outbox.Sent(ctx, id, platformID, at)
}

func (m *crashableOutbox) AbortDelivery(ctx context.Context, id int64) error {
	if err := m.err(); err != nil {
		return err
	}
	return m.Outbox.AbortDelivery(ctx, id)
}

func (m *crashableOutbox) Drop(ctx context.Context, id int64, why string) error {
	if err := m.err(); err != nil {
		return err
	}
	return m.Outbox.Drop(ctx, id, why)
}

// fixture is a real store, a fake platform, and a Dispatcher that can be crashed and
// restarted.
type fixture struct {
	t        *testing.T
	store    *store.Store
	platform *fakePlatform
	o        Options
	log      *recordedLog

	dispatcher *Dispatcher
	outbox     *crashableOutbox
	cancel     context.CancelFunc
	ended      chan error
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{t: t, store: storetest.Open(t, storetest.FastDir(t)), platform: newFakePlatform(), log: &recordedLog{}}
	w.o = Options{
		Sender: w.platform, Prefix: "telegram:", Platform: "Telegram", Log: slog.New(w.log),
		Clock: func() time.Time { return time.Now().UTC() },
	}
	t.Cleanup(func() {
		w.kill()
		if len(w.platform.violations) > 0 {
			t.Errorf("limits were exceeded %d times, first: %s", len(w.platform.violations), w.platform.violations[0])
		}
	})
	return w
}

// start starts a process.
func (w *fixture) start() {
	w.outbox = &crashableOutbox{Outbox: w.store}
	w.o.Outbox = w.outbox
	w.dispatcher = New(w.o)
	ctx, cancel := context.WithCancel(w.t.Context())
	w.cancel, w.ended = cancel, make(chan error, 1)
	p := w.dispatcher
	go func() { w.ended <- p.Run(ctx) }()
}

// kill crashes the process, which loses everything not written yet.
func (w *fixture) kill() {
	if w.dispatcher == nil {
		return
	}
	w.outbox.dead.Store(true)
	w.stop()
}

// stop ends the process and returns how long that took.
func (w *fixture) stop() time.Duration {
	began := time.Now()
	w.cancel()
	if err := <-w.ended; !errors.Is(err, context.Canceled) {
		w.t.Errorf("Run returned %v", err)
	}
	w.dispatcher = nil
	return time.Since(began)
}

func (w *fixture) restart() { w.kill(); w.start() }

func body(text string) []byte {
	var m bot.Message
	for line := range strings.SplitSeq(text, "\n") {
		m.Lines = append(m.Lines, bot.Line{Text: line})
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func out(chat, key, text string, class ledger.MessageClass) ledger.Outgoing {
	return ledger.Outgoing{Chat: "telegram:" + chat, Key: key, Class: class, Body: body(text)}
}

func change(chat, key, text string, class ledger.MessageClass) ledger.Outgoing {
	m := out(chat, key, text, class)
	m.Edit = true
	return m
}

// commit commits messages as the engine does, and wakes the dispatcher.
func (w *fixture) commit(messages ...ledger.Outgoing) {
	w.t.Helper()
	r, err := w.store.Commit(w.t.Context(), ledger.Batch{Time: time.Now(), Messages: messages})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.dispatcher != nil {
		w.dispatcher.Wake(r.Chats...)
	}
}

// advance advances the bubble's clock.
func (w *fixture) advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *fixture) queued() []string {
	w.t.Helper()
	chats, err := w.store.Chats(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, chat := range chats {
		queue, err := w.store.Queued(w.t.Context(), chat)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, m := range queue {
			all = append(all, fmt.Sprintf("%s %s tried=%v %s", chat, m.Key, m.InDoubt > 0, m.Body))
		}
	}
	return all
}

// waitDrained waits until nothing is queued, and returns how long that took.
func (w *fixture) waitDrained(most time.Duration) time.Duration {
	w.t.Helper()
	began := time.Now()
	for time.Since(began) < most {
		w.advance(time.Second)
		if chats, err := w.store.Chats(w.t.Context()); err != nil {
			w.t.Fatal(err)
		} else if len(chats) == 0 {
			return time.Since(began)
		}
	}
	w.t.Fatalf("after %v there are still %d messages queued: %.300q", most, len(w.queued()), w.queued())
	return most
}

// recordedLog records log lines.
type recordedLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *recordedLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *recordedLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *recordedLog) WithGroup(string) slog.Handler            { return l }
func (l *recordedLog) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	l.lines = append(l.lines, line)
	return nil
}

func (l *recordedLog) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// Results for scripts.
var (
	errOffline = &bot.SendError{Reason: bot.ErrOffline, Text: "connection refused"}
	errUnclear = errors.New("unexpected EOF")
)

func failing(err error) func(context.Context, string, string, string) (bool, error) {
	return func(context.Context, string, string, string) (bool, error) { return false, err }
}
