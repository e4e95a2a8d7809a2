package slack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/loop/ledger"

	far "github.com/nightporter/nightporter/internal/fake/slack"
)

const (
	mira    = "U0MIRA"
	ana     = "U0ANA"
	home    = "slack:U0MIRA"
	channel = "C0SHOP"
	shop    = "slack:C0SHOP"
)

// world is a bot, a fake Slack, and everything that the bot logs.
type world struct {
	t        *testing.T
	far      *far.Server
	bot      *slack.Bot
	receiver *recordingReceiver

	mu     sync.Mutex
	log    bytes.Buffer
	pauses []time.Duration
	states []transport.State
}

// newWorld starts a fake Slack and a bot. At the end of the test it searches the
// bot's output for the tokens.
func newWorld(t *testing.T, change ...func(*slack.Options)) *world {
	t.Helper()
	w := &world{t: t, far: far.Start()}
	t.Cleanup(w.far.Close)
	w.receiver = &recordingReceiver{changed: make(chan struct{})}
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
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// assertNoToken fails the test if text contains the secret part of a token.
func (w *world) assertNoToken(where, text string) {
	w.t.Helper()
	if strings.Contains(text, "5ec7e7") {
		w.t.Errorf("%s holds a secret: %s", where, text)
	}
}

// run runs the bot until stop is called.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.bot.Run(ctx, w.receiver.Cursor, w.receiver) }()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); <-done }) }
	w.t.Cleanup(stop)
	return stop
}

// runConnected runs the bot and returns once it is connected.
func (w *world) runConnected() (stop func()) {
	stop = w.run()
	w.waitFor("connected", func() bool { return w.bot.State().Connected && w.far.Connected() })
	return stop
}

// waitFor waits for a condition of the fake Slack.
func (w *world) waitFor(what string, is func() bool) {
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
func (w *world) shown(id string) far.Message {
	w.t.Helper()
	all := w.far.Messages(id)
	if len(all) == 0 {
		w.t.Fatalf("nothing is shown in %s", id)
	}
	return all[len(all)-1]
}

// send sends a message that must arrive.
func (w *world) send(chat string, m bot.Message, o bot.SendOptions) string {
	w.t.Helper()
	id, err := w.bot.Send(w.t.Context(), chat, m, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// recordingReceiver is a Receiver that records inputs and keeps the cursor.
type recordingReceiver struct {
	mu       sync.Mutex
	changed  chan struct{}
	cursor   string
	got      []bot.Inbound
	keys     map[string]bool
	refusals int // number of inputs to reject
	hold     chan struct{}
	blocked  int // number of inputs that waited for hold
}

func (d *recordingReceiver) Cursor(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cursor, nil
}

func (d *recordingReceiver) Receive(ctx context.Context, in bot.Inbound) error {
	d.mu.Lock()
	hold := d.hold
	if hold != nil {
		d.blocked++
	}
	d.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refusals > 0 {
		d.refusals--
		return errors.New("the disk is full")
	}
	if d.keys == nil {
		d.keys = map[string]bool{}
	}
	if !d.keys[in.Key] {
		d.keys[in.Key] = true
		if in.Cursor != nil {
			d.cursor = in.Cursor.Value
		}
		d.got = append(d.got, in)
	}
	close(d.changed)
	d.changed = make(chan struct{})
	return nil
}

func (d *recordingReceiver) set(f func(*recordingReceiver)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d)
}

func (d *recordingReceiver) all() []bot.Inbound {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]bot.Inbound(nil), d.got...)
}

// texts returns the texts of the received inputs, in order.
func (d *recordingReceiver) texts() []string {
	var out []string
	for _, in := range d.all() {
		out = append(out, in.Text+in.Press)
	}
	return out
}

var _ = ledger.Cursor{}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}
