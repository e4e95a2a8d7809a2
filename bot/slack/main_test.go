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

// world is a bot beside the far end, with all that it says gathered.
type world struct {
	t    *testing.T
	far  *far.Server
	bot  *slack.Bot
	desk *desk

	mu     sync.Mutex
	log    bytes.Buffer
	pauses []time.Duration
	states []transport.State
}

// newWorld starts both ends. What the bot logs and says is searched for its
// tokens when the test ends.
func newWorld(t *testing.T, change ...func(*slack.Options)) *world {
	t.Helper()
	w := &world{t: t, far: far.Start()}
	t.Cleanup(w.far.Close)
	w.desk = &desk{changed: make(chan struct{})}
	w.far.Direct(mira)
	w.far.Shut(channel, "")
	o := slack.Options{
		AppToken: far.AppToken, BotToken: far.BotToken, API: w.far.URL(), Silence: time.Hour,
		Log: slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Wait: func(ctx context.Context, d time.Duration) error {
			w.mu.Lock()
			w.pauses = append(w.pauses, d)
			w.mu.Unlock()
			return wait(ctx, time.Millisecond)
		},
		Changed: func(s transport.State) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.states = append(w.states, s)
		},
		Rings: func(string) []string { return []string{home, "telegram:1"} },
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
		w.secret("log", w.log.String())
		for _, s := range w.states {
			w.secret("state", s.Text)
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

// Write gathers the log.
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

// secret fails the test where a text holds what is secret of a token.
func (w *world) secret(where, text string) {
	w.t.Helper()
	if strings.Contains(text, "5ec7e7") {
		w.t.Errorf("%s holds a secret: %s", where, text)
	}
}

// run runs the bot until the returned function is called.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.bot.Run(ctx, w.desk.Cursor, w.desk) }()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); <-done }) }
	w.t.Cleanup(stop)
	return stop
}

// begun runs the bot, and returns once it can hear.
func (w *world) begun() (stop func()) {
	stop = w.run()
	w.until("connected", func() bool { return w.bot.State().Connected && w.far.Connected() })
	return stop
}

// until waits for something at the far end.
func (w *world) until(what string, is func() bool) {
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

// shown is the last message of a conversation.
func (w *world) shown(id string) far.Message {
	w.t.Helper()
	all := w.far.Messages(id)
	if len(all) == 0 {
		w.t.Fatalf("nothing is shown in %s", id)
	}
	return all[len(all)-1]
}

// send sends what must arrive.
func (w *world) send(chat string, m bot.Message, o bot.SendOptions) string {
	w.t.Helper()
	id, err := w.bot.Send(w.t.Context(), chat, m, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// fault is what a *bot.SendError says, "" for any other error.
func fault(err error) bot.Fault {
	var e *bot.SendError
	if errors.As(err, &e) {
		return e.Fault
	}
	return ""
}

// desk is a Receiver with a cursor, as an engine would have it.
type desk struct {
	mu      sync.Mutex
	changed chan struct{}
	cursor  string
	got     []bot.Inbound
	keys    map[string]bool
	refuse  int // so many inputs are not committed
	hold    chan struct{}
	held    int // how many waited for it
}

func (d *desk) Cursor(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cursor, nil
}

func (d *desk) Receive(ctx context.Context, in bot.Inbound) error {
	d.mu.Lock()
	hold := d.hold
	if hold != nil {
		d.held++
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
	if d.refuse > 0 {
		d.refuse--
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

func (d *desk) set(f func(*desk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d)
}

func (d *desk) all() []bot.Inbound {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]bot.Inbound(nil), d.got...)
}

// texts are what was received, in order.
func (d *desk) texts() []string {
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
