package slack_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	far "github.com/nightporter/nightporter/internal/fake/slack"
	"github.com/nightporter/nightporter/loop/ledger"
)

// waitInputs waits for n inputs and until all envelopes are acknowledged.
func (w *fixture) waitInputs(n int) []bot.Inbound {
	w.t.Helper()
	w.waitFor(fmt.Sprintf("%d inputs", n), func() bool { return len(w.receiver.Inputs()) >= n && w.far.Unacked() == 0 })
	all := w.receiver.Inputs()
	if len(all) != n {
		w.t.Fatalf("%d inputs, want %d: %q", len(all), n, w.receiver.Texts())
	}
	return all
}

func TestReceive(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *fixture)
		want bot.Inbound // without Key, Cursor and Sent; zero = not for the bot
	}{
		{"in private", func(w *fixture) { w.far.Say(mira, w.far.Direct(mira), "keep <it> & small") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "keep <it> & small"}},
		{"a command in private", func(w *fixture) { w.far.Say(mira, w.far.Direct(mira), "status") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "status"}},
		{"with an id", func(w *fixture) { w.far.Say(mira, w.far.Direct(mira), "skip #8") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "skip #8"}},
		{"words that begin like one", func(w *fixture) { w.far.Say(mira, w.far.Direct(mira), "stop using globals") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "stop using globals"}},
		{"a pairing code", func(w *fixture) { w.far.Say(mira, w.far.Direct(mira), "pair K7QX-M2PD") },
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "/pair K7QX-M2PD"}},
		{"a mention", func(w *fixture) { w.far.Say(mira, channel, "@porter pause now") },
			bot.Inbound{Actor: home, Chat: shop, Named: true, Text: "pause now"}},
		{"a mention at the end", func(w *fixture) { w.far.Say(mira, channel, "q5 retry @porter") },
			bot.Inbound{Actor: home, Chat: shop, Named: true, Text: "q5 retry"}},
		{"a mention alone", func(w *fixture) { w.far.Say(mira, channel, "@porter") },
			bot.Inbound{Actor: home, Chat: shop, Named: true, Text: "/help"}},
		{"words for the next session", func(w *fixture) { w.far.Say(mira, channel, "@porter wrap the existing code") },
			bot.Inbound{Actor: home, Chat: shop, Named: true, Text: "wrap the existing code"}},
		{"a slip", func(w *fixture) { w.far.Say(mira, channel, "@porter staus") },
			bot.Inbound{Actor: home, Chat: shop, Named: true, Text: "staus"}},
		{"a slip with more", func(w *fixture) { w.far.Say(mira, channel, "@porter paus now") },
			bot.Inbound{Actor: home, Chat: shop, Named: true, Text: "paus now"}},
		{"words for a project", func(w *fixture) { w.far.Say(mira, channel, "@porter shop: wrap it") },
			bot.Inbound{Actor: home, Chat: shop, Named: true, Text: "shop: wrap it"}},
		{"a project's", func(w *fixture) { w.far.Say(mira, channel, "@porter shop: pause") },
			bot.Inbound{Actor: home, Chat: shop, Named: true, Text: "shop: pause"}},
		{"a thumb", func(w *fixture) { w.far.React(mira, channel, "1763650000.000100", "+1::skin-tone-3") },
			bot.Inbound{Actor: home, Chat: shop, Text: "👍", Reaction: true, Message: "1763650000.000100", ReplyTo: "1763650000.000100"}},
		{"a reaction without a meaning", func(w *fixture) { w.far.React(mira, channel, "1763650000.000100", "taco") }, bot.Inbound{}},
		{"not for us", func(w *fixture) { w.far.Say(mira, channel, "/stop everybody: lunch") }, bot.Inbound{}},
		{"somebody else's thread", func(w *fixture) { w.far.Reply(mira, channel, w.far.Say(ana, channel, "lunch?"), "stop") }, bot.Inbound{}},
		{"another app", func(w *fixture) {
			w.far.Post(far.UserMessage{User: "U0OTHER", Channel: channel, Text: "@porter stop", Bot: true})
		},
			bot.Inbound{Actor: "slack:U0OTHER", Chat: shop, Named: true, Text: "stop", Unpairable: slack.SenderBot}},
		{"a picture", func(w *fixture) {
			w.far.Post(far.UserMessage{User: mira, Channel: w.far.Direct(mira), Text: "look", File: true})
		},
			bot.Inbound{Actor: home, Chat: home, Private: true, Text: "look", Media: true, Kind: "file", Files: []bot.RemoteFile{{Kind: ledger.AttachmentFile}}}},
		{"/porter", func(w *fixture) { w.far.Slash(mira, channel, "guidance keep &amp; <@U0ANA|ana>") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "/guidance keep & @ana", Message: "cmd:U0MIRA:/porter guidance keep & @ana", Unseen: true}},
		{"/porter alone", func(w *fixture) { w.far.Slash(mira, channel, "") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "/help", Message: "cmd:U0MIRA:/porter", Unseen: true}},
		{"/porter pair", func(w *fixture) { w.far.Slash(mira, w.far.Direct(mira), "pair K7QX-M2PD") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: home, Private: true, Text: "/pair K7QX-M2PD", Message: "cmd:U0MIRA:/porter pair …", Unseen: true}},
		{"/porter pair, with a slip", func(w *fixture) { w.far.Slash(mira, channel, "pari K7QX-M2PD") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "/pari K7QX-M2PD", Message: "cmd:U0MIRA:/porter pair …", Unseen: true}},
		{"/porter with a word like it", func(w *fixture) { w.far.Slash(mira, channel, "guidance repair well-done") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "/guidance repair well-done", Message: "cmd:U0MIRA:/porter guidance repair well-done", Unseen: true}},
		{"/porter q5 retry", func(w *fixture) { w.far.Slash(mira, channel, "q5 retry") },
			bot.Inbound{Actor: home, Name: "0mira", Chat: shop, Title: "general", Text: "q5 retry", Message: "cmd:U0MIRA:/porter q5 retry", Unseen: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.runConnected()
			c.do(w)
			if c.want.Actor == "" {
				w.far.Slash(ana, channel, "last") // arrives after it
				w.waitFor("acknowledged", func() bool { return w.far.Unacked() == 0 && len(w.receiver.Inputs()) > 0 })
				if all := w.receiver.Inputs(); len(all) != 1 {
					t.Errorf("%q", w.receiver.Texts())
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
	w := newFixture(t, func(o *slack.Options) {
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
	w := newFixture(t)
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

// newFixtureOn starts another process with the same fake Slack and receiver.
func newFixtureOn(t *testing.T, w *fixture, change func(*slack.Options)) *fixture {
	t.Helper()
	o := slack.Options{AppToken: far.AppToken, BotToken: far.BotToken, API: w.far.URL(), PingTimeout: time.Hour}
	change(&o)
	b, err := slack.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, far: w.far, receiver: w.receiver, bot: b}
}
