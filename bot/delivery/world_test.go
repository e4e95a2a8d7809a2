package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
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
)

var (
	_ Outbox = (*store.Store)(nil)
	_ Outbox = (*store.Memory)(nil)
)

// shownMessage is one that stands, or stood, in a chat of the far end.
type shownMessage struct {
	at     time.Time
	chat   string
	id     string
	text   string // as it was sent
	edits  []string
	edited []time.Time
	gone   bool
	pinned bool
	silent bool
}

// far is the platform's end: it shows what arrives, keeps count of how fast it
// comes, and does what its script says.
type far struct {
	mu    sync.Mutex
	shown []*shownMessage
	calls map[string][]time.Time // by chat without topic, "" = all
	fast  []string               // where limits were exceeded
	done  []string               // kinds of the calls that arrived, in order

	// script says what becomes of a call: nil is success, and arrives whether
	// it happened all the same. It runs without a lock.
	script func(ctx context.Context, kind, chat, text string) (arrives bool, err error)
}

// play sets the script; nil: all is well.
func (f *far) play(script func(ctx context.Context, kind, chat, text string) (arrives bool, err error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = script
}

func newFar() *far { return &far{calls: map[string][]time.Time{}} }

func (f *far) call(ctx context.Context, kind, chat, text string, do func() error) error {
	f.mu.Lock()
	slow, script := f.tooFast(chat), f.script
	f.mu.Unlock()
	if slow {
		return &bot.SendError{Fault: bot.FaultRateLimited, After: 30 * time.Second, Text: "too many requests"}
	}
	arrives, err := true, error(nil)
	if script != nil {
		arrives, err = script(ctx, kind, chat, text)
	}
	if arrives {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.done = append(f.done, kind)
		if done := do(); err == nil {
			err = done
		}
	}
	return err
}

// tooFast looks at every window that ends now, by the platform's own figures.
func (f *far) tooFast(chat string) bool {
	now := time.Now()
	type window struct {
		of   string
		span time.Duration
		most int
	}
	windows := []window{{"", time.Second, 30}, {base(chat), time.Second, 4}, {base(chat), 10 * time.Second, 13}}
	if strings.HasPrefix(chat, "telegram:-") {
		windows = append(windows, window{base(chat), time.Minute, 20})
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
			f.fast = append(f.fast, fmt.Sprintf("%s: %d calls of %q in %v", now.Format(time.TimeOnly), n, w.of, w.span))
		}
	}
	for _, of := range []string{"", base(chat)} {
		f.calls[of] = append(f.calls[of], now)
	}
	return bad
}

func (f *far) Send(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	id := ""
	err := f.call(ctx, "send", chat, m.Text(0), func() error {
		id = fmt.Sprint(len(f.shown) + 1)
		f.shown = append(f.shown, &shownMessage{at: time.Now(), chat: chat, id: id, text: m.Text(0), silent: o.Silent})
		return nil
	})
	return id, err
}

func (f *far) find(at bot.Ref) *shownMessage {
	for _, m := range f.shown {
		if m.chat == at.Chat && m.id == at.ID && !m.gone {
			return m
		}
	}
	return nil
}

func (f *far) Edit(ctx context.Context, at bot.Ref, m bot.Message) error {
	return f.call(ctx, "edit", at.Chat, m.Text(0), func() error {
		old := f.find(at)
		if old == nil {
			return &bot.SendError{Fault: bot.FaultMessageGone, Text: "message to edit not found"}
		}
		old.edits, old.edited = append(old.edits, m.Text(0)), append(old.edited, time.Now())
		return nil
	})
}

func (f *far) Delete(ctx context.Context, at bot.Ref) error {
	return f.call(ctx, "delete", at.Chat, "", func() error {
		if old := f.find(at); old != nil {
			old.gone = true
		}
		return nil
	})
}

func (f *far) Pin(ctx context.Context, at bot.Ref) error {
	return f.call(ctx, "pin", at.Chat, "", func() error {
		m := f.find(at)
		if m == nil {
			return &bot.SendError{Fault: bot.FaultMessageGone, Text: "message to pin not found"}
		}
		m.pinned = true
		return nil
	})
}

func (f *far) Unpin(ctx context.Context, at bot.Ref) error {
	return f.call(ctx, "unpin", at.Chat, "", func() error {
		if m := f.find(at); m != nil {
			m.pinned = false
		}
		return nil
	})
}

func (f *far) Notice(context.Context, string, string) error { return nil }

// texts are what a chat was sent, in order.
func (f *far) texts(chat string) []string {
	var out []string
	for _, m := range f.messages(chat) {
		out = append(out, m.text)
	}
	return out
}

func (f *far) messages(chat string) []*shownMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.shown), func(m *shownMessage) bool { return m.chat != chat })
}

// mortal is an outbox of a process that can be killed: nothing of it is
// written any more from then on.
type mortal struct {
	Outbox
	dead atomic.Bool
	fail atomic.Bool // the disk is full

	// next and queue are called once, after the next reading of that kind, as
	// another commit would come in then; nil: none does.
	next, queue atomic.Pointer[func()]
}

var errDead = errors.New("the process is gone")

func (m *mortal) err() error {
	if m.dead.Load() || m.fail.Load() {
		return errDead
	}
	return nil
}

func (m *mortal) Chats(ctx context.Context) ([]string, error) {
	if err := m.err(); err != nil {
		return nil, err
	}
	return m.Outbox.Chats(ctx)
}

func (m *mortal) NextMessage(ctx context.Context, chat string) (ledger.QueuedMessage, bool, error) {
	if err := m.err(); err != nil {
		return ledger.QueuedMessage{}, false, err
	}
	defer between(&m.next)
	return m.Outbox.NextMessage(ctx, chat)
}

func (m *mortal) Queued(ctx context.Context, chat string) ([]ledger.QueuedMessage, error) {
	if err := m.err(); err != nil {
		return nil, err
	}
	defer between(&m.queue)
	return m.Outbox.Queued(ctx, chat)
}

func between(what *atomic.Pointer[func()]) {
	if do := what.Swap(nil); do != nil {
		(*do)()
	}
}

func (m *mortal) Trying(ctx context.Context, id int64) error {
	if err := m.err(); err != nil {
		return err
	}
	return m.Outbox.Trying(ctx, id)
}

func (m *mortal) Sent(ctx context.Context, id int64, platformID string, at time.Time) (string, error) {
	if err := m.err(); err != nil {
		return "", err
	}
	return m.Outbox.Sent(ctx, id, platformID, at)
}

func (m *mortal) Unsent(ctx context.Context, id int64) error {
	if err := m.err(); err != nil {
		return err
	}
	return m.Outbox.Unsent(ctx, id)
}

func (m *mortal) Drop(ctx context.Context, id int64, why string) error {
	if err := m.err(); err != nil {
		return err
	}
	return m.Outbox.Drop(ctx, id, why)
}

// world is a real store, a far end, and a Post that can be killed and begun
// again.
type world struct {
	t      *testing.T
	store  *store.Store
	far    *far
	o      Options
	logged *logged

	post   *Dispatcher
	outbox *mortal
	cancel context.CancelFunc
	ended  chan error
}

// fastDir is a folder whose syncs cost nothing, where there is one.
func fastDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "post-test-") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newWorld(t *testing.T) *world {
	s, err := store.Open(fastDir(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: s, far: newFar(), logged: &logged{}}
	w.o = Options{
		Sender: w.far, Prefix: "telegram:", Platform: "Telegram", Log: slog.New(w.logged),
		Clock: func() time.Time { return time.Now().UTC() },
	}
	t.Cleanup(func() {
		w.kill()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if len(w.far.fast) > 0 {
			t.Errorf("limits were exceeded %d times, first: %s", len(w.far.fast), w.far.fast[0])
		}
	})
	return w
}

// begin starts a process.
func (w *world) begin() {
	w.outbox = &mortal{Outbox: w.store}
	w.o.Outbox = w.outbox
	w.post = New(w.o)
	ctx, cancel := context.WithCancel(w.t.Context())
	w.cancel, w.ended = cancel, make(chan error, 1)
	p := w.post
	go func() { w.ended <- p.Run(ctx) }()
}

// kill ends it: whatever it has not written yet is lost.
func (w *world) kill() {
	if w.post == nil {
		return
	}
	w.outbox.dead.Store(true)
	w.end()
}

// end ends it properly and returns how long that took.
func (w *world) end() time.Duration {
	began := time.Now()
	w.cancel()
	if err := <-w.ended; !errors.Is(err, context.Canceled) {
		w.t.Errorf("Run returned %v", err)
	}
	w.post = nil
	return time.Since(began)
}

func (w *world) restart() { w.kill(); w.begin() }

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

// commit writes messages as the engine does, and wakes the post if there is one.
func (w *world) commit(messages ...ledger.Outgoing) {
	w.t.Helper()
	r, err := w.store.Commit(w.t.Context(), ledger.Batch{Time: time.Now(), Messages: messages})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.post != nil {
		w.post.Wake(r.Chats...)
	}
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) queued() []string {
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
			all = append(all, fmt.Sprintf("%s %s tried=%v %s", chat, m.Key, m.Tried, m.Body))
		}
	}
	return all
}

// drained waits until nothing is queued any more, and returns how long that took.
func (w *world) drained(most time.Duration) time.Duration {
	w.t.Helper()
	began := time.Now()
	for time.Since(began) < most {
		w.pass(time.Second)
		if chats, err := w.store.Chats(w.t.Context()); err != nil {
			w.t.Fatal(err)
		} else if len(chats) == 0 {
			return time.Since(began)
		}
	}
	w.t.Fatalf("after %v there are still %d messages queued: %.300q", most, len(w.queued()), w.queued())
	return most
}

// logged keeps what was logged, from Info on.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }
func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	l.lines = append(l.lines, line)
	return nil
}

func (l *logged) count(part string) int {
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

// Outcomes that scripts use.
var (
	errAway    = &bot.SendError{Fault: bot.FaultOffline, Text: "connection refused"}
	errUnclear = errors.New("unexpected EOF")
)

func failing(err error) func(context.Context, string, string, string) (bool, error) {
	return func(context.Context, string, string, string) (bool, error) { return false, err }
}
