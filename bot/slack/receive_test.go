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
	"github.com/google/go-cmp/cmp/cmpopts"
	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/slacktest"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/transport"
	far "github.com/nightporter/nightporter/internal/fake/slack"
)

// waitInputs waits for n inputs and until all envelopes are acknowledged.
func (w *world) waitInputs(n int) []bot.Inbound {
	w.t.Helper()
	w.waitFor(fmt.Sprintf("%d inputs", n), func() bool { return len(w.receiver.all()) >= n && w.far.Unacked() == 0 })
	all := w.receiver.all()
	if len(all) != n {
		w.t.Fatalf("%d inputs, want %d: %q", len(all), n, w.receiver.texts())
	}
	return all
}

func TestReceive(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world)
		want bot.Inbound // expected input without Key, Cursor and Sent; zero = the message is not for the bot
	}{
		{"in private", func(w *world) { w.far.Say(mira, w.far.Direct(mira), "keep <it> & small") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "keep <it> & small"}},
		{"a command in private", func(w *world) { w.far.Say(mira, w.far.Direct(mira), "status") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "/status"}},
		{"with an id", func(w *world) { w.far.Say(mira, w.far.Direct(mira), "skip #8") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "/skip #8"}},
		{"words that begin like one", func(w *world) { w.far.Say(mira, w.far.Direct(mira), "stop using globals") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "stop using globals"}},
		{"a pairing code", func(w *world) { w.far.Say(mira, w.far.Direct(mira), "pair K7QX-M2PD") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "/pair K7QX-M2PD"}},
		{"a mention", func(w *world) { w.far.Say(mira, channel, "@porter pause now") },
			bot.Inbound{Actor: home, Chat: shop, Text: "/pause now"}},
		{"a mention at the end", func(w *world) { w.far.Say(mira, channel, "q5 retry @porter") },
			bot.Inbound{Actor: home, Chat: shop, Text: "q5 retry"}},
		{"a mention alone", func(w *world) { w.far.Say(mira, channel, "@porter") },
			bot.Inbound{Actor: home, Chat: shop, Text: "/help"}},
		{"words for the next session", func(w *world) { w.far.Say(mira, channel, "@porter wrap the existing code") },
			bot.Inbound{Actor: home, Chat: shop, Text: "/guidance wrap the existing code"}},
		{"a slip", func(w *world) { w.far.Say(mira, channel, "@porter staus") },
			bot.Inbound{Actor: home, Chat: shop, Text: "/staus"}},
		{"a slip with more", func(w *world) { w.far.Say(mira, channel, "@porter paus now") },
			bot.Inbound{Actor: home, Chat: shop, Text: "/paus now"}},
		{"words for a project", func(w *world) { w.far.Say(mira, channel, "@porter shop: wrap it") },
			bot.Inbound{Actor: home, Chat: shop, Text: "shop: /guidance wrap it"}},
		{"a project's", func(w *world) { w.far.Say(mira, channel, "@porter shop: pause") },
			bot.Inbound{Actor: home, Chat: shop, Text: "shop: /pause"}},
		{"not for us", func(w *world) { w.far.Say(mira, channel, "/stop everybody: lunch") }, bot.Inbound{}},
		{"somebody else's thread", func(w *world) { w.far.Reply(mira, channel, w.far.Say(ana, channel, "lunch?"), "stop") }, bot.Inbound{}},
		{"another app", func(w *world) {
			w.far.Post(far.UserMessage{User: "U0OTHER", Channel: channel, Text: "@porter stop", Bot: true})
		},
			bot.Inbound{Actor: "slack:U0OTHER", Chat: shop, Text: "/stop", Unpairable: slack.SenderBot}},
		{"a picture", func(w *world) {
			w.far.Post(far.UserMessage{User: mira, Channel: w.far.Direct(mira), Text: "look", File: true})
		},
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "look", Media: true}},
		{"/porter", func(w *world) { w.far.Slash(mira, channel, "guidance keep &amp; <@U0ANA|ana>") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "/guidance keep & @ana", Message: "cmd:U0MIRA:/porter guidance keep & @ana"}},
		{"/porter alone", func(w *world) { w.far.Slash(mira, channel, "") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "/help", Message: "cmd:U0MIRA:/porter"}},
		{"/porter pair", func(w *world) { w.far.Slash(mira, w.far.Direct(mira), "pair K7QX-M2PD") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: home, Private: true, Text: "/pair K7QX-M2PD", Message: "cmd:U0MIRA:/porter pair …"}},
		{"/porter pair, with a slip", func(w *world) { w.far.Slash(mira, channel, "pari K7QX-M2PD") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "/pari K7QX-M2PD", Message: "cmd:U0MIRA:/porter pair …"}},
		{"/porter with a word like it", func(w *world) { w.far.Slash(mira, channel, "guidance repair well-done") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "/guidance repair well-done", Message: "cmd:U0MIRA:/porter guidance repair well-done"}},
		{"/porter q5 retry", func(w *world) { w.far.Slash(mira, channel, "q5 retry") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "q5 retry", Message: "cmd:U0MIRA:/porter q5 retry"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.runConnected()
			c.do(w)
			if c.want.Actor == "" {
				w.far.Slash(ana, channel, "last") // arrives after it
				w.waitFor("acknowledged", func() bool { return w.far.Unacked() == 0 && len(w.receiver.all()) > 0 })
				if all := w.receiver.all(); len(all) != 1 {
					t.Errorf("%q", w.receiver.texts())
				}
				return
			}
			in := w.waitInputs(1)[0]
			if in.Message == "" || !strings.HasPrefix(in.Key, slack.Prefix) || time.Since(in.Sent).Abs() > time.Minute {
				t.Errorf("%+v", in)
			}
			ignore := []string{"Key", "Cursor", "Sent"}
			if c.want.Message == "" {
				ignore = append(ignore, "Message")
			}
			if d := cmp.Diff(c.want, in, cmpopts.IgnoreFields(bot.Inbound{}, ignore...)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestReplies sends replies to the bot's message, also in the thread of a
// person's mention.
func TestReplies(t *testing.T) {
	w := newWorld(t, func(o *slack.Options) {
		o.RepliedTo = func(_ context.Context, chat, id string) bool {
			return chat == shop && strings.HasSuffix(id, ":"+mira)
		}
	})
	w.runConnected()
	asked := w.send(shop, textMessage("■ shop #8 blocked (q5)"), bot.SendOptions{Silent: true})
	w.far.Reply(ana, channel, asked, "retry")
	w.far.Reply(ana, channel, asked, "@porter skip")
	mention := w.far.Say(mira, channel, "@porter guidance small")
	w.far.Reply(ana, channel, mention, "smaller")
	w.far.Say(mira, channel, "nothing")
	all := w.waitInputs(4)
	for n, want := range []struct{ text, replyTo string }{
		{"retry", asked}, {"skip", asked}, {"/guidance small", ""}, {"smaller", mention + ":" + mira},
	} {
		if in := all[n]; in.Text != want.text || in.ReplyTo != want.replyTo || in.Chat != shop {
			t.Errorf("%d: %q to %q, want %q to %q", n, in.Text, in.ReplyTo, want.text, want.replyTo)
		}
	}
}

func TestEdits(t *testing.T) {
	w := newWorld(t)
	w.runConnected()
	ts := w.far.Say(mira, channel, "@porter guidance small")
	plain := w.far.Say(mira, channel, "hello")
	w.waitInputs(1)
	w.far.Edit(channel, ts, "@porter guidance smaller")
	w.far.Edit(channel, ts, "@porter guidance smaller") // an event for a link preview, without a change of the text
	w.far.Edit(channel, plain, "hello all")
	all := w.waitInputs(2)
	if in := all[1]; !in.Edited || in.Text != "/guidance smaller" || in.Message != all[0].Message || in.Key == all[0].Key {
		t.Errorf("%+v", in)
	}
}

// TestPress checks a press, the command of its button, and the notice to its
// sender.
func TestPress(t *testing.T) {
	w := newWorld(t)
	w.runConnected()
	m := textMessage("■ shop #8 blocked (q5)")
	m.Buttons = []bot.Button{{Label: "Retry", Command: "q5 retry"}}
	direct := w.far.Direct(mira)
	for n, c := range []struct{ chat, in string }{{shop, channel}, {home, direct}} {
		id := w.send(c.chat, m, bot.SendOptions{Silent: true})
		env, err := w.far.Press(mira, c.in, id, "Retry")
		if err != nil {
			t.Fatal(err)
		}
		in := w.waitInputs(n + 1)[n]
		twin, ok := bot.Pressed(m, in.Press)
		if !ok || twin != "q5 retry" || in.Chat != c.chat || in.Message != id || in.Actor != home || in.Private != (c.chat == home) {
			t.Errorf("%+v", in)
		}
		if _, acked := w.far.Acked(env); !acked {
			t.Error("not acknowledged")
		}
		if err := w.bot.Notice(t.Context(), in.PressID, "settled"); err != nil {
			t.Fatal(err)
		}
		if got := w.shown(c.in); got.VisibleTo != mira || got.Text != "settled" {
			t.Errorf("toast: %+v", got)
		}
	}
}

// A button that needs a text opens a form; the submitted text follows its command.
func TestForm(t *testing.T) {
	w := newWorld(t)
	w.runConnected()
	m := textMessage("■ shop #8 blocked (q5)")
	m.Buttons = []bot.Button{{Label: "Guide…", Command: "q5 guide WORDS"}}
	id := w.send(shop, m, bot.SendOptions{Silent: true})
	if _, err := w.far.Press(mira, channel, id, "Guide…"); err != nil {
		t.Fatal(err)
	}
	in := w.waitInputs(1)[0]
	ask := textMessage("? Your words for #8 (q5):")
	if !w.bot.OpenForm(t.Context(), in, "q5 guide", ask) {
		t.Fatal("no form")
	}
	if v := w.far.Views()[0]; v.Label != "Your words for #8 (q5):" {
		t.Errorf("form: %s", v.Raw)
	}
	if w.bot.OpenForm(t.Context(), in, "q5 guide", ask) {
		t.Error("a press opens two forms")
	}
	env, err := w.far.Submit("wrap it,\ndon't replace it")
	if err != nil {
		t.Fatal(err)
	}
	in = w.waitInputs(2)[1]
	if in.Text != "q5 guide wrap it,\ndon't replace it" || in.Chat != shop || in.ReplyTo != id || in.Private || in.Actor != home {
		t.Errorf("%+v", in)
	}
	if payload, acked := w.far.Acked(env); !acked || (payload != "" && payload != "null") {
		t.Errorf("acknowledged with %q", payload)
	}
}

// A duplicate has the same key, and an input is delivered again until it is
// committed.
func TestDuplicatesAreOneInput(t *testing.T) {
	w := newWorld(t)
	w.runConnected()
	w.receiver.set(func(d *recordingReceiver) { d.refusals = 3 })
	w.far.Say(mira, channel, "@porter pause") // arrives twice: as a message and as a mention
	w.far.Redeliver()
	w.far.Say(mira, channel, "@porter resume")
	w.waitInputs(2)
	if got := w.receiver.texts(); !slices.Equal(got, []string{"/pause", "/resume"}) {
		t.Errorf("%q", got)
	}
	w.waitFor("settled", func() bool { return w.bot.State().Connected })
	if !strings.Contains(w.logged(), "could not be committed") {
		t.Error("that it could not be committed is not said")
	}
}

// An event is not acknowledged before it is committed.
func TestAcknowledgedAfterCommit(t *testing.T) {
	w := newWorld(t)
	w.runConnected()
	hold := make(chan struct{})
	w.receiver.set(func(d *recordingReceiver) { d.hold = hold })
	said := w.far.Event(map[string]any{"type": "message", "channel": w.far.Direct(mira), "user": mira, "ts": "1795291761.573547", "text": "status"})
	env := w.far.Slash(mira, channel, "pause")
	w.waitFor("both at work", func() bool { w.receiver.mu.Lock(); defer w.receiver.mu.Unlock(); return w.receiver.blocked == 2 })
	for _, id := range []string{said, env} {
		if _, acked := w.far.Acked(id); acked {
			t.Error("acknowledged before it was committed")
		}
	}
	// A command that takes long is acknowledged as pending.
	w.waitFor("acknowledged in time", func() bool { _, ok := w.far.Acked(env); return ok })
	if payload, _ := w.far.Acked(env); !strings.Contains(payload, "ephemeral") || !strings.Contains(payload, "nothing is done before") {
		t.Errorf("acknowledged with %q", payload)
	}
	if _, acked := w.far.Acked(said); acked {
		t.Error("an event is acknowledged although nothing is committed")
	}
	close(hold)
	w.waitInputs(2)
}

// A command that cannot be committed is not acknowledged, so that Slack reports
// the failure, and has no effect later.
func TestCommandNotCommitted(t *testing.T) {
	w := newWorld(t)
	w.runConnected()
	w.receiver.set(func(d *recordingReceiver) { d.refusals = 1 })
	env := w.far.Slash(mira, channel, "stop")
	w.far.Slash(mira, channel, "status")
	w.waitFor("the second", func() bool { return len(w.receiver.all()) == 1 })
	if _, acked := w.far.Acked(env); acked || w.receiver.texts()[0] != "/status" {
		t.Errorf("acknowledged %v, done %q", acked, w.receiver.texts())
	}
}

// A command that waited too long has no effect: Slack has reported its failure,
// and the person may have typed it again.
func TestCommandTooLate(t *testing.T) {
	w := newWorld(t)
	w.runConnected()
	hold := make(chan struct{})
	w.receiver.set(func(d *recordingReceiver) { d.hold = hold })
	first := w.far.Slash(mira, channel, "diff 7")
	second, heard := w.far.Slash(mira, channel, "stop"), time.Now()
	w.waitFor("the first to be acknowledged in time", func() bool { _, ok := w.far.Acked(first); return ok })
	w.waitFor("the second to be older than that, too", func() bool { return time.Since(heard) > 3500*time.Millisecond })
	close(hold)
	w.waitFor("the second to be left out", func() bool { return strings.Contains(w.logged(), "came too late") })
	w.far.Slash(mira, channel, "status")
	w.waitFor("the third", func() bool { return len(w.receiver.all()) == 2 })
	if _, acked := w.far.Acked(second); acked || !slices.Equal(w.receiver.texts(), []string{"/diff 7", "/status"}) {
		t.Errorf("acknowledged %v, done %q", acked, w.receiver.texts())
	}
}

// Messages sent during an outage are read back once, the oldest first, in all
// conversations.
func TestReadBack(t *testing.T) {
	w := newWorld(t)
	direct := w.far.Direct(mira)
	w.far.CloseChannel("C0LEFT", "not_in_channel")
	stop := w.runConnected()
	asked := w.send(shop, textMessage("■ shop #8 blocked (q5)"), bot.SendOptions{Silent: true})
	w.far.Say(mira, direct, "guidance one")
	edited := w.far.Say(mira, direct, "guidance two")
	w.waitInputs(2)
	stop()
	w.far.RefuseSockets(true)
	w.far.AdvanceClock(time.Second)
	w.far.Say(mira, channel, "@porter pause")
	w.far.Say(mira, direct, "three")
	w.far.Reply(mira, channel, asked, "retry")
	for n := range 5 {
		w.far.Say(ana, channel, fmt.Sprint("lunch ", n))
	}
	w.far.Say(mira, direct, "four")
	w.far.Edit(direct, edited, "guidance two and a half")
	w.far.RefuseSockets(false)
	w.far.Fault("conversations.history", far.RateLimited(3), far.ForeignPage(200))
	w.far.Fault("users.conversations", far.Rejected("internal_error"))
	w.runConnected()
	w.waitFor("read back", func() bool { return len(w.receiver.all()) >= 7 })
	want := []string{"/guidance one", "/guidance two", "/guidance two and a half", "/pause", "three", "retry", "four"}
	if d := cmp.Diff(want, w.receiver.texts()); d != "" {
		t.Error(d)
	}
	for n, in := range w.receiver.all() {
		if in.Cursor == nil || in.Cursor.Name != w.bot.CursorName() {
			t.Errorf("%d has cursor %+v", n, in.Cursor)
		}
		if in.Text == "retry" && in.ReplyTo != asked {
			t.Errorf("the reply answers %q", in.ReplyTo)
		}
	}
	w.far.Say(mira, direct, "five") // and newer ones after it
	w.waitFor("five", func() bool { return slices.Contains(w.receiver.texts(), "five") })
	if n := len(w.receiver.all()); n != 8 {
		t.Errorf("%d inputs: %q", n, w.receiver.texts())
	}
	if !slices.Contains(pauses(w), 3*time.Second) {
		t.Errorf("it did not wait as it was told to: %v", pauses(w))
	}
}

// An unreadable conversation or a missing scope does not block the others.
func TestReadBackRefused(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		fault  far.Fault
		want   []string
	}{
		"one conversation": {"conversations.history", far.Rejected("method_not_supported_for_channel_type"), []string{"one", "two", "three"}},
		"a scope":          {"users.conversations", far.MissingScope("groups:read"), []string{"one", "three"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			stop := w.runConnected()
			direct := w.far.Direct(mira)
			w.far.Say(mira, direct, "one")
			w.waitInputs(1)
			stop()
			w.far.RefuseSockets(true)
			w.far.Say(mira, direct, "two")
			w.far.RefuseSockets(false)
			w.far.Fault(c.method, c.fault)
			w.runConnected()
			w.far.Say(mira, direct, "three")
			w.waitFor("three", func() bool { return slices.Contains(w.receiver.texts(), "three") })
			if d := cmp.Diff(c.want, w.receiver.texts()); d != "" {
				t.Error(d)
			}
			if !strings.Contains(w.logged(), "read back") {
				t.Error("nothing is said of it")
			}
		})
	}
}

// A mention in a thread without the bot is read back; other messages there are
// not for the bot.
func TestReadBackThread(t *testing.T) {
	w := newWorld(t)
	stop := w.runConnected()
	lunch := w.far.Say(ana, channel, "lunch?")
	w.far.Say(mira, w.far.Direct(mira), "one")
	w.waitInputs(1)
	stop()
	w.far.RefuseSockets(true)
	w.far.Reply(ana, channel, lunch, "at one")
	w.far.Reply(mira, channel, lunch, "@porter pause")
	w.far.RefuseSockets(false)
	w.runConnected()
	w.waitFor("read back", func() bool { return len(w.receiver.all()) >= 2 })
	if d := cmp.Diff([]string{"one", "/pause"}, w.receiver.texts()); d != "" {
		t.Error(d)
	}
}

// TestReadBackOldThread checks that a late answer is read back although its
// question is days old.
func TestReadBackOldThread(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		age  time.Duration
		busy int // number of later messages
		open bool
	}{
		"three days":                      {age: 3 * day},
		"three days, many messages ago":   {age: 3 * day, busy: 40, open: true},
		"a month, and it is still open":   {age: 30 * day, open: true},
		"in a thread, and it is open yet": {age: 3 * day, busy: 40, open: true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			w := newWorld(t, func(o *slack.Options) {
				o.OpenQuestions = func(_ context.Context, chat string) []string {
					if c.open && chat == shop {
						return []string{asked}
					}
					return nil
				}
			})
			direct := w.far.Direct(mira)
			stop := w.runConnected()
			root, replyTo := "", ""
			if strings.HasPrefix(name, "in a thread") {
				root = w.far.Say(mira, channel, "@porter run")
				w.waitInputs(1)
				replyTo = root + ":" + mira
			}
			asked = w.send(shop, textMessage("■ shop #8 blocked (q5)"), bot.SendOptions{Silent: true, ReplyTo: replyTo})
			for range c.busy {
				w.far.Say(ana, channel, "lunch")
			}
			w.far.AdvanceClock(c.age)
			w.far.Say(mira, direct, "one")
			w.waitFor("one", func() bool { return slices.Contains(w.receiver.texts(), "one") })
			stop()
			w.far.RefuseSockets(true)
			below := asked
			if root != "" {
				below = root
			}
			w.far.Reply(ana, channel, below, "@porter q5 retry")
			w.far.Say(mira, direct, "two")
			w.far.RefuseSockets(false)
			before := len(w.far.Calls("conversations.history"))
			w.runConnected()
			w.waitFor("two", func() bool { return slices.Contains(w.receiver.texts(), "two") })
			if !slices.Contains(w.receiver.texts(), "q5 retry") {
				t.Errorf("%q: the answer is lost", w.receiver.texts())
			}
			if n := len(w.far.Calls("conversations.history")) - before; n > 14 {
				t.Errorf("%d pages were read", n)
			}
		})
	}
}

// A failed call of reading back is repeated until nothing is missing, with the
// pauses that Slack asks for.
func TestReadBackRetries(t *testing.T) {
	for _, method := range []string{"users.conversations", "conversations.history", "conversations.replies"} {
		for name, f := range map[string]far.Fault{
			"slow": far.RateLimited(9), "slow, without a time": far.Rejected("ratelimited"), "garbage": far.ForeignPage(200), "502": far.ForeignPage(502),
			"its own fault": far.Rejected("internal_error"), "lost": far.ResponseLost(), "another form": {Body: `{"ok":true,"messages":7,"channels":"x"}`},
		} {
			t.Run(method+" "+name, func(t *testing.T) {
				w := newWorld(t, func(o *slack.Options) {
					o.OpenQuestions = func(context.Context, string) []string { return []string{"1.000001", "garbage"} } // one deleted message and one invalid id
				})
				direct := w.far.Direct(mira)
				stop := w.runConnected()
				asked := w.send(shop, textMessage("■ shop #8 blocked (q5)"), bot.SendOptions{Silent: true})
				w.far.Say(mira, direct, "one")
				w.waitInputs(1)
				stop()
				w.far.RefuseSockets(true)
				w.far.Reply(mira, channel, asked, "retry")
				w.far.Say(mira, direct, "two")
				w.far.RefuseSockets(false)
				w.far.Fault(method, f, f)
				w.runConnected()
				w.waitFor("all of it", func() bool { return len(w.receiver.all()) >= 3 })
				if d := cmp.Diff([]string{"one", "retry", "two"}, w.receiver.texts()); d != "" {
					t.Error(d)
				}
				if f.Seconds > 0 && !slices.Contains(pauses(w), time.Duration(f.Seconds)*time.Second) {
					t.Errorf("it did not wait as it was told to: %v", pauses(w))
				}
			})
		}
	}
}

// The cursor is in Slack's time: a wrong local clock neither skips nor repeats
// messages.
func TestWrongClock(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"a day ahead": 24 * time.Hour, "a year ahead": 365 * 24 * time.Hour, "a day behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *slack.Options) { o.Clock = func() time.Time { return time.Now().Add(wrong) } })
			direct := w.far.Direct(mira)
			for n, word := range []string{"one", "two", "three", "four"} {
				w.far.Say(mira, direct, word)
				if n == 0 {
					w.receiver.set(func(d *recordingReceiver) { d.cursor = w.far.Messages(direct)[0].TS })
				}
				w.far.RefuseSockets(false)
				stop := w.runConnected()
				w.waitFor(word, func() bool { return slices.Contains(w.receiver.texts(), word) })
				w.far.Slash(mira, direct, "status") // commits the cursor too
				w.waitInputs(2*n + 2)
				stop()
				w.far.RefuseSockets(true)
			}
		})
	}
	// A cursor in the future, as an earlier release could store it.
	w := newWorld(t)
	w.far.Say(mira, w.far.Direct(mira), "one")
	w.receiver.set(func(d *recordingReceiver) { d.cursor = "99999999999.000100" })
	w.runConnected()
	w.waitFor("one", func() bool { return slices.Contains(w.receiver.texts(), "one") })
	if at := w.receiver.all()[0].Cursor.Value; at > "9" {
		t.Errorf("the cursor stays at %s", at)
	}
}

// Messages that exceed the queue are read back, and each is handled once.
func TestQueueOverflow(t *testing.T) {
	w := newWorld(t)
	w.runConnected()
	direct := w.far.Direct(mira)
	w.far.Say(mira, direct, "first")
	w.waitInputs(1)
	hold := make(chan struct{})
	w.receiver.set(func(d *recordingReceiver) { d.hold = hold })
	w.far.Say(mira, direct, "held")
	w.waitFor("one at work", func() bool { w.receiver.mu.Lock(); defer w.receiver.mu.Unlock(); return w.receiver.blocked == 1 })
	const room, more = 1000, 10
	for range room + more {
		w.far.Say(ana, channel, "lunch")
	}
	w.far.Say(mira, direct, "last")
	w.waitFor("a full queue", func() bool { return strings.Count(w.logged(), "the queue is full") == more+1 })
	close(hold)
	w.waitFor("the last", func() bool { return slices.Contains(w.receiver.texts(), "last") })
	if got := w.receiver.texts(); !slices.Equal(got, []string{"first", "held", "last"}) {
		t.Errorf("%q", got)
	}
}

func pauses(w *world) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.pauses)
}

// No later message moves the cursor past messages that are not read back yet.
func TestCursorWaitsForReadBack(t *testing.T) {
	w := newWorld(t)
	stop := w.runConnected()
	w.far.Say(mira, w.far.Direct(mira), "one")
	w.waitInputs(1)
	stored := w.receiver.all()[0].Cursor.Value
	stop()
	hold := make(chan struct{})
	w2 := newWorldOn(t, w, func(o *slack.Options) {
		o.Sleep = func(ctx context.Context, _ time.Duration) error {
			select {
			case <-hold:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	w.far.Fault("conversations.history", far.ForeignPage(502))
	w2.runConnected()
	w.far.Say(mira, w.far.Direct(mira), "newer")
	w.far.Slash(mira, channel, "status")
	w.waitFor("the command", func() bool { return len(w.receiver.all()) == 2 })
	if in := w.receiver.all()[1]; in.Text != "/status" || in.Cursor == nil || in.Cursor.Value != stored {
		t.Errorf("%+v, cursor %+v, stored was %s", in, in.Cursor, stored)
	}
	close(hold)
	w.waitInputs(3)
}

// newWorldOn starts another process with the same fake Slack and receiver, as
// after a restart.
func newWorldOn(t *testing.T, w *world, change func(*slack.Options)) *world {
	t.Helper()
	o := slack.Options{AppToken: far.AppToken, BotToken: far.BotToken, API: w.far.URL(), PingTimeout: time.Hour}
	change(&o)
	b, err := slack.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, far: w.far, receiver: w.receiver, bot: b}
}

func TestReconnects(t *testing.T) {
	w := newWorld(t)
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
			w := newWorld(t)
			w.far.Fault(c.method, c.fault)
			w.runConnected()
			w.waitFor("both to be told", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.states) >= 2 })
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.states[0].Trouble != c.want || w.states[0].Text == "" {
				t.Errorf("%+v", w.states)
			}
		})
	}
}

// With a revoked bot token the socket stays open and messages arrive, but
// replies fail. State reports that until the token is accepted again.
func TestTokenRevoked(t *testing.T) {
	w := newWorld(t)
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
	w.far.Say(mira, direct, "two") // the message arrives, and State does not change
	w.waitInputs(2)
	refused()
	w.receiver.set(func(d *recordingReceiver) { d.refusals = 1 })
	w.far.Say(mira, direct, "three") // an input that is committed at the second attempt does not change State either
	w.waitInputs(3)
	refused()
	w.far.Fault("users.conversations", far.Rejected("token_revoked")) // a new socket cannot read back messages
	w.far.Cut()
	w.waitFor("another socket", func() bool { return w.far.Sockets() == 2 && strings.Contains(w.logged(), "cannot be read back") })
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
	w := newWorld(t, func(o *slack.Options) { o.OnChannelActive = func(chat string) { alive <- chat } })
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
		case <-time.After(10 * time.Second):
			t.Fatal("nothing is told of " + want)
		}
	}
}

// Run stops at once, whatever it is doing.
func TestRunStops(t *testing.T) {
	for name, prepare := range map[string]func(*world){
		"listening": func(w *world) { w.runConnected() },
		"refused": func(w *world) {
			for range 100 {
				w.far.Fault("auth.test", far.Rejected("invalid_auth"))
			}
			w.run()
		},
		"stuck": func(w *world) {
			w.runConnected()
			w.receiver.set(func(d *recordingReceiver) { d.hold = make(chan struct{}) })
			w.far.Say(mira, w.far.Direct(mira), "x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			prepare(w)
			done := make(chan struct{})
			go func() { defer close(done); w.run()() }()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
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
	d := &recordingReceiver{changed: make(chan struct{})}
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
		if !strings.Contains(ack, `"e1"`) || len(d.all()) != 1 || d.texts()[0] != "/status" {
			t.Errorf("acknowledged %s, got %q", ack, d.texts())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("not acknowledged")
	}
	if id, err := b.Send(t.Context(), shop, textMessage("● shop runs"), bot.SendOptions{Silent: true}); err != nil || id == "" {
		t.Errorf("%q, %v", id, err)
	}
}
