package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

var (
	mira  = far.User{ID: 48213377, Name: "Mira"}
	group = int64(-1001234)
)

// world is a bot, a fake Telegram, and everything that the bot logs.
type world struct {
	t        *testing.T
	far      *far.Server
	bot      *telegram.Bot
	receiver *recordingReceiver

	mu     sync.Mutex
	log    bytes.Buffer
	pauses []time.Duration
	states []transport.State
	moved  []string
	resume chan struct{} // ends a pause of the bot; nil = pauses take no time
	woken  chan struct{}
}

// newWorld starts a fake Telegram and a bot. At the end of the test it searches
// the bot's output for the token.
func newWorld(t *testing.T, change ...func(*telegram.Options)) *world {
	t.Helper()
	s, err := far.Start(far.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w := &world{t: t, far: s, woken: make(chan struct{}, 1000)}
	w.receiver = &recordingReceiver{changed: make(chan struct{})}
	o := telegram.Options{
		Token: transport.Secret(s.Token()), API: s.URL(),
		Log: slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.mu.Lock()
			w.pauses = append(w.pauses, d)
			w.mu.Unlock()
			select {
			case w.woken <- struct{}{}:
			default:
			}
			if w.resume == nil {
				return ctx.Err()
			}
			select {
			case <-w.resume:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		OnChange: func(s transport.State) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.states = append(w.states, s)
		},
		OnChatMoved: func(_ context.Context, from, to string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.moved = append(w.moved, from+" → "+to)
			return nil
		},
	}
	for _, c := range change {
		c(&o)
	}
	if w.bot, err = telegram.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.assertNoToken("log", w.log.String())
		for _, s := range w.states {
			w.assertNoToken("state", s.Text)
		}
	})
	return w
}

// Write records the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

// assertNoToken fails the test if text contains the token or its secret part.
func (w *world) assertNoToken(where, text string) {
	w.t.Helper()
	_, part, _ := strings.Cut(w.far.Token(), ":")
	if strings.Contains(text, part) {
		w.t.Errorf("%s holds the token: %s", where, text)
	}
}

// poll runs Poll until stop is called, which returns the result of Poll.
func (w *world) poll() (stop func() error) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.bot.Poll(ctx, w.receiver.Cursor, w.receiver) }()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() { cancel(); err = <-done })
		return err
	}
	w.t.Cleanup(func() { _ = stop() })
	return stop
}

func (w *world) allPauses() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Duration(nil), w.pauses...)
}

// troubles returns the troubles of all reported states.
func (w *world) troubles() []transport.Trouble {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []transport.Trouble
	for _, s := range w.states {
		out = append(out, s.Trouble)
	}
	return out
}

// testContext returns a context whose time limit is far longer than a test
// should take.
func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// recordingReceiver is a Receiver that records inputs and stores the cursor at
// once.
type recordingReceiver struct {
	mu          sync.Mutex
	cursor      string
	got         []bot.Inbound
	repeats     int                     // repeated deliveries
	fail        func(bot.Inbound) error // nil = never fails
	loseCursors bool                    // drops the cursors
	changed     chan struct{}
}

var errStore = errors.New("the database is locked")

func (d *recordingReceiver) Cursor(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cursor, nil
}

func (d *recordingReceiver) Receive(_ context.Context, in bot.Inbound) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		if err := d.fail(in); err != nil {
			return err
		}
	}
	close(d.changed)
	d.changed = make(chan struct{})
	if !d.loseCursors {
		d.cursor = in.Cursor.Value
	}
	for _, had := range d.got {
		if had.Key == in.Key {
			d.repeats++
			return nil
		}
	}
	d.got = append(d.got, in)
	return nil
}

// wait waits until there are n inputs, and returns them.
func (d *recordingReceiver) wait(t *testing.T, n int) []bot.Inbound {
	t.Helper()
	ctx := testContext(t)
	for {
		d.mu.Lock()
		got, changed := append([]bot.Inbound(nil), d.got...), d.changed
		d.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%d of %d updates arrived: %+v", len(got), n, got)
		}
	}
}
