package telegram_test

import (
	"context"
	"errors"
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
	*chattest.Output
	t        *testing.T
	far      *far.Server
	bot      *telegram.Bot
	receiver *chattest.Recorder

	mu     sync.Mutex
	moved  []string
	resume chan struct{} // ends a pause of the bot; nil = pauses take no time
	woken  chan struct{}
}

// newFixture starts a fake Telegram and a bot. No output may contain
// the token.
func newFixture(t *testing.T, change ...func(*telegram.Options)) *fixture {
	t.Helper()
	s, err := far.Start(far.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	_, secret, _ := strings.Cut(s.Token(), ":")
	w := &fixture{Output: chattest.NewOutput(t, secret), t: t, far: s, woken: make(chan struct{}, 1000)}
	w.receiver = chattest.NewRecorder("")
	o := telegram.Options{
		Token: transport.Secret(s.Token()), API: s.URL(),
		Log: w.Logger(), OnChange: w.OnChange,
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.Pause(d)
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
	return w
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

// testContext returns a context whose time limit is far longer than a test
// should take.
func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

var errStore = errors.New("the database is locked")
