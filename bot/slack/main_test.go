package slack_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/slack"
	far "github.com/nightporter/nightporter/internal/fake/slack"
	"github.com/nightporter/nightporter/internal/sleep"
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
	*chattest.Output
	t        *testing.T
	far      *far.Server
	bot      *slack.Bot
	receiver *chattest.Recorder
}

// newFixture starts a fake Slack and a bot. No output may contain the secret
// part of a token.
func newFixture(t *testing.T, change ...func(*slack.Options)) *fixture {
	t.Helper()
	w := &fixture{Output: chattest.NewOutput(t, "5ec7e7"), t: t, far: far.Start()}
	t.Cleanup(w.far.Close)
	w.receiver = chattest.NewRecorder("")
	w.far.Direct(mira)
	w.far.CloseChannel(channel, "")
	o := slack.Options{
		AppToken: far.AppToken, BotToken: far.BotToken, API: w.far.URL(), PingTimeout: time.Hour,
		Log: w.Logger(), OnChange: w.OnChange,
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.Pause(d)
			return sleep.For(ctx, time.Millisecond)
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
	return w
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
			w.t.Fatalf("%s: never; log:\n%s", what, w.Logged())
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
