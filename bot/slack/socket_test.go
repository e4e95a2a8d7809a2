package slack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/slacktest"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/transport"
	far "github.com/nightporter/nightporter/internal/fake/slack"
)

// Messages that exceed the queue are read back, and each is handled once.
func TestQueueOverflow(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	direct := w.far.Direct(mira)
	w.far.Say(mira, direct, "first")
	w.waitInputs(1)
	hold := make(chan struct{})
	w.receiver.Hold(hold)
	w.far.Say(mira, direct, "held")
	w.waitFor("one at work", func() bool { return w.receiver.Held() == 1 })
	const room, more = 1000, 10
	for range room + more {
		w.far.Say(ana, channel, "lunch")
	}
	w.far.Say(mira, direct, "last")
	w.waitFor("a full queue", func() bool { return strings.Count(w.Logged(), "the queue is full") == more+1 })
	close(hold)
	w.waitFor("the last", func() bool { return slices.Contains(w.receiver.Texts(), "last") })
	if got := w.receiver.Texts(); !slices.Equal(got, []string{"first", "held", "last"}) {
		t.Errorf("%q", got)
	}
}

func TestReconnects(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	direct := w.far.Direct(mira)
	for n, cut := range []func(){w.far.Refresh, w.far.Cut, func() { w.far.Raw("{") }, func() { w.far.Raw(`{"type":"goodbye"}`) }} {
		before := w.far.Sockets()
		cut()
		if n < 2 {
			w.waitFor("another socket", func() bool { return w.far.Sockets() > before && w.far.Connected() })
		}
		w.far.Say(mira, direct, fmt.Sprint("word ", n))
		w.waitInputs(n + 1)
	}
	// Events of unknown forms are acknowledged and have no effect.
	for _, payload := range []any{"garbage", []int{1}, map[string]any{"event": 7}, map[string]any{"event": map[string]any{"type": "message", "ts": 5}},
		map[string]any{"type": "event_callback", "event": map[string]any{"type": "message", "channel": "D0MIRA", "user": mira, "ts": "x"}}} {
		w.far.Envelope("events_api", payload)
	}
	w.far.Envelope("slash_commands", []int{1})
	w.far.Envelope("interactive", map[string]any{"type": "block_actions", "actions": 5})
	w.waitFor("acknowledged", func() bool { return w.far.Unacked() == 0 })
	w.far.Say(mira, direct, "last")
	w.waitInputs(5)
}

// A revoked token, a missing scope and an unreachable server are reported and
// waited out.
func TestTroubles(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		fault  far.Fault
		want   transport.Trouble
	}{
		"bot token revoked":  {"auth.test", far.Rejected("token_revoked"), transport.TroubleToken},
		"app token revoked":  {"apps.connections.open", far.Rejected("invalid_auth"), transport.TroubleToken},
		"scope":              {"apps.connections.open", far.MissingScope("connections:write"), transport.TroubleToken},
		"garbage":            {"auth.test", far.ForeignPage(200), transport.TroubleServer},
		"too many":           {"apps.connections.open", far.RateLimited(1), transport.TroubleSlow},
		"a fault of its own": {"apps.connections.open", far.Rejected("internal_error"), transport.TroubleServer},
		"no answer":          {"auth.test", far.ResponseLost(), transport.TroubleNetwork},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.far.Fault(c.method, c.fault)
			w.runConnected()
			w.waitFor("both to be told", func() bool { return len(w.States()) >= 2 })
			if states := w.States(); states[0].Trouble != c.want || states[0].Text == "" {
				t.Errorf("%+v", states)
			}
		})
	}
}

// With a revoked bot token the socket stays open and messages arrive, but
// replies fail. State reports that until the token is accepted again.
func TestTokenRevoked(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	direct := w.far.Direct(mira)
	w.far.Say(mira, direct, "one")
	w.waitInputs(1)
	w.far.Fault("chat.postMessage", far.Rejected("token_revoked"))
	if _, err := w.bot.Send(t.Context(), home, textMessage("x"), bot.SendOptions{}); !errors.Is(err, bot.ErrTokenRejected) {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		if s := w.bot.State(); s.Connected || s.Trouble != transport.TroubleToken || !strings.Contains(s.Text, "refuses the bot token (token_revoked)") || !strings.Contains(s.Text, "OAuth & Permissions") {
			t.Errorf("%+v", s)
		}
	}
	refused()
	w.far.Say(mira, direct, "two") // arrives, without a change of State
	w.waitInputs(2)
	refused()
	w.receiver.Reject(1)
	w.far.Say(mira, direct, "three") // nor does an input that is committed at the second attempt
	w.waitInputs(3)
	refused()
	w.far.Fault("users.conversations", far.Rejected("token_revoked")) // a new socket cannot read back
	w.far.Cut()
	w.waitFor("another socket", func() bool { return w.far.Sockets() == 2 && strings.Contains(w.Logged(), "cannot be read back") })
	refused()
	history := len(w.far.Calls("conversations.history"))
	w.send(home, textMessage("again"), bot.SendOptions{})
	if s := w.bot.State(); !s.Connected || s.Trouble != transport.TroubleNone {
		t.Errorf("accepted again: %+v", s)
	}
	w.waitFor("what was missed is read back", func() bool { return len(w.far.Calls("conversations.history")) > history })
}

// A channel counts as active if anybody writes there or the bot joins it again,
// whether or not the message is for the bot.
func TestChannelActive(t *testing.T) {
	alive := make(chan string, 20)
	w := newFixture(t, func(o *slack.Options) { o.OnChannelActive = func(chat string) { alive <- chat } })
	w.runConnected()
	joined := func(who, where string) {
		w.far.Event(map[string]any{"type": "member_joined_channel", "channel": where, "user": who, "channel_type": "C"})
	}
	joined(ana, channel)
	joined(far.BotUser, "<evil>")
	w.send(shop, textMessage("x"), bot.SendOptions{})
	w.far.Say(mira, w.far.Direct(mira), "one")
	w.waitInputs(1)
	if len(alive) != 0 {
		t.Errorf("%s", <-alive)
	}
	joined(far.BotUser, channel)
	w.far.Say(ana, "C0BLOG", "lunch")
	for _, want := range []string{shop, "slack:C0BLOG"} {
		select {
		case got := <-alive:
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		case <-time.After(3 * time.Minute):
			t.Fatal("nothing is told of " + want)
		}
	}
}

// Run stops at once, whatever it is doing.
func TestRunStops(t *testing.T) {
	for name, prepare := range map[string]func(*fixture){
		"listening": func(w *fixture) { w.runConnected() },
		"refused": func(w *fixture) {
			for range 100 {
				w.far.Fault("auth.test", far.Rejected("invalid_auth"))
			}
			w.run()
		},
		"stuck": func(w *fixture) {
			w.runConnected()
			w.receiver.Hold(make(chan struct{}))
			w.far.Say(mira, w.far.Direct(mira), "x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			prepare(w)
			done := make(chan struct{})
			go func() { defer close(done); w.run()() }()
			select {
			case <-done:
			case <-time.After(3 * time.Minute):
				t.Fatal("it does not end")
			}
		})
	}
}

// The bot works with slack-go's own test server, without this project's fake.
func TestPlainSlacktest(t *testing.T) {
	s := slacktest.NewTestServer(func(c slacktest.Customize) {})
	s.Start()
	t.Cleanup(s.Stop)
	acks := make(chan string, 10)
	go func() {
		for m := range s.SeenFeed {
			acks <- m
		}
	}()
	d := chattest.NewRecorder("")
	b, err := slack.New(slack.Options{AppToken: far.AppToken, BotToken: far.BotToken, API: s.GetAPIURL(), PingTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = b.Run(ctx, d.Cursor, d) }()
	t.Cleanup(func() { cancel(); <-done })
	envelope := func(v map[string]any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	s.SendToWebsocket(envelope(map[string]any{"envelope_id": "e1", "type": "slash_commands", "payload": slackgo.SlashCommand{
		Command: "/porter", Text: "status", UserID: mira, ChannelID: channel, TriggerID: "t1",
	}}))
	select {
	case ack := <-acks:
		if !strings.Contains(ack, `"e1"`) || len(d.Inputs()) != 1 || d.Texts()[0] != "/status" {
			t.Errorf("acknowledged %s, got %q", ack, d.Texts())
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("not acknowledged")
	}
	if id, err := b.Send(t.Context(), shop, textMessage("● shop runs"), bot.SendOptions{Silent: true}); err != nil || id == "" {
		t.Errorf("%q, %v", id, err)
	}
}

// slow is a receiver that waits for a channel with the messages that take time.
type slow struct {
	bot.Receiver
	until chan struct{}
}

func (s slow) Receive(ctx context.Context, in bot.Inbound) error {
	if in.TakesTime() {
		select {
		case <-s.until:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Receiver.Receive(ctx, in)
}

// TestOvertakes: a message whose file hangs holds up no other, and is not acknowledged
// before it is committed. A process that starts meanwhile reads it back.
func TestOvertakes(t *testing.T) {
	for _, crash := range []bool{false, true} {
		w := newFixture(t)
		until := make(chan struct{})
		run := func() (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- w.bot.Run(ctx, w.receiver.Cursor, slow{w.receiver, until}) }()
			w.waitFor("connected", func() bool { return w.bot.State().Connected && w.far.Connected() })
			return func() { cancel(); <-done }
		}
		stop := run()
		chat := w.far.Direct(mira)
		w.far.Say(mira, chat, "before")
		w.receiver.Wait(t, 1)
		w.far.Post(far.UserMessage{User: mira, Channel: chat, Text: "one", Files: []far.File{{Name: "a.png", Type: "image/png", Data: []byte("a")}}})
		w.far.Say(mira, chat, "status")
		w.receiver.Wait(t, 2)
		w.waitFor("all but the picture acknowledged", func() bool { return w.far.Unacked() == 1 })
		if crash {
			stop()
			w.far.AdvanceClock(time.Hour)
			stop = run()
		}
		close(until)
		w.receiver.Wait(t, 3)
		w.waitFor("all acknowledged", func() bool { return crash || w.far.Unacked() == 0 })
		stop()
		if diff := cmp.Diff([]string{"before", "status", "one"}, w.receiver.Texts()); diff != "" {
			t.Errorf("crash %v: %s", crash, diff)
		}
	}
}
