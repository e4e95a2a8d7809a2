package slack_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	far "github.com/nightporter/nightporter/internal/fake/slack"
)

// Messages sent during an outage are read back once, the oldest first, in all
// conversations.
func TestReadBack(t *testing.T) {
	w := newFixture(t)
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
	w.waitFor("read back", func() bool { return len(w.receiver.Inputs()) >= 7 })
	want := []string{"/guidance one", "/guidance two", "/guidance two and a half", "pause", "three", "retry", "four"}
	if d := cmp.Diff(want, w.receiver.Texts()); d != "" {
		t.Error(d)
	}
	for n, in := range w.receiver.Inputs() {
		if in.Cursor == nil || in.Cursor.Name != w.bot.CursorName() {
			t.Errorf("%d has cursor %+v", n, in.Cursor)
		}
		if in.Text == "retry" && in.ReplyTo != asked {
			t.Errorf("the reply answers %q", in.ReplyTo)
		}
	}
	w.far.Say(mira, direct, "five") // and newer ones after it
	w.waitFor("five", func() bool { return slices.Contains(w.receiver.Texts(), "five") })
	if n := len(w.receiver.Inputs()); n != 8 {
		t.Errorf("%d inputs: %q", n, w.receiver.Texts())
	}
	if !slices.Contains(w.Pauses(), 3*time.Second) {
		t.Errorf("it did not wait as it was told to: %v", w.Pauses())
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
			w := newFixture(t)
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
			w.waitFor("three", func() bool { return slices.Contains(w.receiver.Texts(), "three") })
			if d := cmp.Diff(c.want, w.receiver.Texts()); d != "" {
				t.Error(d)
			}
			if !strings.Contains(w.Logged(), "read back") {
				t.Error("nothing is said of it")
			}
		})
	}
}

// A mention in a thread without the bot is read back; other messages there are
// not for the bot.
func TestReadBackThread(t *testing.T) {
	w := newFixture(t)
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
	w.waitFor("read back", func() bool { return len(w.receiver.Inputs()) >= 2 })
	if d := cmp.Diff([]string{"one", "pause"}, w.receiver.Texts()); d != "" {
		t.Error(d)
	}
}

// An answer to a question of days ago is read back.
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
			w := newFixture(t, func(o *slack.Options) {
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
			w.waitFor("one", func() bool { return slices.Contains(w.receiver.Texts(), "one") })
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
			w.waitFor("two", func() bool { return slices.Contains(w.receiver.Texts(), "two") })
			if !slices.Contains(w.receiver.Texts(), "q5 retry") {
				t.Errorf("%q: the answer is lost", w.receiver.Texts())
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
				w := newFixture(t, func(o *slack.Options) {
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
				w.waitFor("all of it", func() bool { return len(w.receiver.Inputs()) >= 3 })
				if d := cmp.Diff([]string{"one", "retry", "two"}, w.receiver.Texts()); d != "" {
					t.Error(d)
				}
				if f.Seconds > 0 && !slices.Contains(w.Pauses(), time.Duration(f.Seconds)*time.Second) {
					t.Errorf("it did not wait as it was told to: %v", w.Pauses())
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
			w := newFixture(t, func(o *slack.Options) { o.Clock = func() time.Time { return time.Now().Add(wrong) } })
			direct := w.far.Direct(mira)
			for n, word := range []string{"one", "two", "three", "four"} {
				w.far.Say(mira, direct, word)
				if n == 0 {
					w.receiver.SetCursor(w.far.Messages(direct)[0].TS)
				}
				w.far.RefuseSockets(false)
				stop := w.runConnected()
				w.waitFor(word, func() bool { return slices.Contains(w.receiver.Texts(), word) })
				w.far.Slash(mira, direct, "status") // commits the cursor too
				w.waitInputs(2*n + 2)
				stop()
				w.far.RefuseSockets(true)
			}
		})
	}
	// A cursor in the future, left by an earlier release.
	w := newFixture(t)
	w.far.Say(mira, w.far.Direct(mira), "one")
	w.receiver.SetCursor("99999999999.000100")
	w.runConnected()
	w.waitFor("one", func() bool { return slices.Contains(w.receiver.Texts(), "one") })
	if at := w.receiver.Inputs()[0].Cursor.Value; at > "9" {
		t.Errorf("the cursor stays at %s", at)
	}
}

// No later message moves the cursor past messages that are not read back yet.
func TestCursorWaitsForReadBack(t *testing.T) {
	w := newFixture(t)
	stop := w.runConnected()
	w.far.Say(mira, w.far.Direct(mira), "one")
	w.waitInputs(1)
	stored := w.receiver.Inputs()[0].Cursor.Value
	stop()
	hold := make(chan struct{})
	w2 := newFixtureOn(t, w, func(o *slack.Options) {
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
	w.waitFor("the command", func() bool { return len(w.receiver.Inputs()) == 2 })
	if in := w.receiver.Inputs()[1]; in.Text != "/status" || in.Cursor == nil || in.Cursor.Value != stored {
		t.Errorf("%+v, cursor %+v, stored was %s", in, in.Cursor, stored)
	}
	close(hold)
	w.waitInputs(3)
}
