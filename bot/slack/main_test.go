package slack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/transport"

	far "github.com/nightporter/nightporter/internal/fake/slack"
)

const (
	mira    = "U0MIRA"
	ana     = "U0ANA"
	home    = "slack:U0MIRA"
	channel = "C0SHOP"
	shop    = "slack:C0SHOP"
)

// fixture is a bot, a fake Slack, and everything that the bot logs.
type fixture struct {
	t        *testing.T
	far      *far.Server
	bot      *slack.Bot
	receiver *chattest.Recorder

	mu     sync.Mutex
	log    bytes.Buffer
	pauses []time.Duration
	states []transport.State
}

// newFixture starts a fake Slack and a bot. At the end of the test it searches the
// bot's output for the tokens.
func newFixture(t *testing.T, change ...func(*slack.Options)) *fixture {
	t.Helper()
	w := &fixture{t: t, far: far.Start()}
	t.Cleanup(w.far.Close)
	w.receiver = chattest.NewRecorder("")
	w.far.Direct(mira)
	w.far.CloseChannel(channel, "")
	o := slack.Options{
		AppToken: far.AppToken, BotToken: far.BotToken, API: w.far.URL(), PingTimeout: time.Hour,
		Log: slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.mu.Lock()
			w.pauses = append(w.pauses, d)
			w.mu.Unlock()
			return wait(ctx, time.Millisecond)
		},
		OnChange: func(s transport.State) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.states = append(w.states, s)
		},
		Mentions: func(string) []string { return []string{home, "telegram:1"} },
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	if w.bot, err = slack.New(o); err != nil {
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

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Write records the log.
func (w *fixture) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *fixture) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// assertNoToken fails the test if text contains the secret part of a token.
func (w *fixture) assertNoToken(where, text string) {
	w.t.Helper()
	if strings.Contains(text, "5ec7e7") {
		w.t.Errorf("%s holds a secret: %s", where, text)
	}
}

// run runs the bot until stop is called.
func (w *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.bot.Run(ctx, w.receiver.Cursor, w.receiver) }()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); <-done }) }
	w.t.Cleanup(stop)
	return stop
}

// runConnected runs the bot and returns once it is connected.
func (w *fixture) runConnected() (stop func()) {
	stop = w.run()
	w.waitFor("connected", func() bool { return w.bot.State().Connected && w.far.Connected() })
	return stop
}

// waitFor waits for a condition of the fake Slack.
func (w *fixture) waitFor(what string, is func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	for !is() {
		tick, done := context.WithTimeout(ctx, 20*time.Millisecond)
		_ = w.far.Wait(tick, is)
		done()
		if ctx.Err() != nil {
			w.t.Fatalf("%s: never; log:\n%s", what, w.logged())
		}
	}
}

// shown returns the last message of a conversation.
func (w *fixture) shown(id string) far.Message {
	w.t.Helper()
	all := w.far.Messages(id)
	if len(all) == 0 {
		w.t.Fatalf("nothing is shown in %s", id)
	}
	return all[len(all)-1]
}

// send sends a message that must arrive.
func (w *fixture) send(chat string, m bot.Message, o bot.SendOptions) string {
	w.t.Helper()
	id, err := w.bot.Send(w.t.Context(), chat, m, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}
