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

	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

var (
	mira  = far.User{ID: 48213377, Name: "Mira"}
	group = int64(-1001234)
)

// fixture is a bot, a fake Telegram, and everything that the bot logs.
type fixture struct {
	t        *testing.T
	far      *far.Server
	bot      *telegram.Bot
	receiver *chattest.Recorder

	mu     sync.Mutex
	log    bytes.Buffer
	pauses []time.Duration
	states []transport.State
	moved  []string
	resume chan struct{} // nil = pauses take no time
	woken  chan struct{}
}

// newFixture starts a fake Telegram and a bot. At the end of the test it searches
// the bot's output for the token.
func newFixture(t *testing.T, change ...func(*telegram.Options)) *fixture {
	t.Helper()
	s, err := far.Start(far.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w := &fixture{t: t, far: s, woken: make(chan struct{}, 1000)}
	w.receiver = chattest.NewRecorder("")
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
func (w *fixture) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

// assertNoToken fails the test if text contains the token or its secret part.
func (w *fixture) assertNoToken(where, text string) {
	w.t.Helper()
	_, part, _ := strings.Cut(w.far.Token(), ":")
	if strings.Contains(text, part) {
		w.t.Errorf("%s holds the token: %s", where, text)
	}
}

// poll runs Poll until stop is called, which returns the result of Poll.
func (w *fixture) poll() (stop func() error) {
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

func (w *fixture) allPauses() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Duration(nil), w.pauses...)
}

// troubles returns the troubles of all reported states.
func (w *fixture) troubles() []transport.Trouble {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []transport.Trouble
	for _, s := range w.states {
		out = append(out, s.Trouble)
	}
	return out
}

// testContext limits a wait to far more than it should take.
func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

var errStore = errors.New("the database is locked")
