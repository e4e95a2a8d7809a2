package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCrashDuringSend checks that a message whose sending a crash interrupted
// is sent again, with a mark.
func TestCrashDuringSend(t *testing.T) {
	for _, c := range []struct {
		class ledger.MessageClass
		text  string
		want  []string
	}{
		{ledger.ClassAsk, "■ shop #8 blocked, 2 attempts (q5)\nRefund flow · 03:06", []string{
			"■ shop #8 blocked, 2 attempts (q5)\nRefund flow · 03:06",
			"↻ ■ shop #8 blocked, 2 attempts (q5)\nSent again: a restart at 03:07 left the first in doubt. Answer either.\nRefund flow · 03:06",
		}},
		{ledger.ClassNotice, "● shop r14 started, 12 tasks", []string{
			"● shop r14 started, 12 tasks",
			"↻ ● shop r14 started, 12 tasks\nSent again: the first is in doubt.",
		}},
		{ledger.ClassReply, "○ g17 queued · 01:47", []string{
			"○ g17 queued · 01:47",
			"↻ ○ g17 queued · 01:47\nSent again: the first is in doubt.",
		}},
		{ledger.ClassLook, "▸ shop tasks", []string{
			"▸ shop tasks",
			"↻ ▸ shop tasks\nSent again: the first is in doubt.\nAs of 03:06.",
		}},
		{ledger.ClassChatter, "● shop 6/12", []string{"● shop 6/12"}},
	} {
		t.Run(string(c.class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
					w.outbox.dead.Store(true)
					return true, nil
				})
				w.advance(3*time.Hour + 6*time.Minute)
				w.start()
				w.commit(out("1", "k", c.text, c.class))
				w.advance(time.Minute)
				w.kill()
				w.platform.setScript(nil)
				w.start()
				w.waitDrained(time.Minute)
				if diff := cmp.Diff(c.want, w.platform.texts("telegram:1")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestDoubtfulQuestionExpires checks that a question whose first sending was in
// doubt comes after the outage as what became of it meanwhile, not as an open
// question, and that the announcement counts no question.
func TestDoubtfulQuestionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.platform.setScript(failing(errUnclear))
		w.start()
		w.commit(out("1", "q3", "? shop #4 asks (q3)", ledger.ClassAsk))
		w.advance(time.Second)
		w.platform.setScript(failing(errOffline))
		w.advance(30 * time.Minute)
		w.commit(change("1", "q3", "– q3 unanswered: B", ledger.ClassChatter))
		w.advance(time.Minute)
		w.platform.setScript(nil)
		w.waitDrained(5 * time.Minute)
		want := []string{
			"! Telegram out of reach 00:10–00:31\nWork went on. 1 message follows. The rest is in /status.",
			"↻ – q3 unanswered: B\nSent again: the first is in doubt.",
		}
		if diff := cmp.Diff(want, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		all := w.platform.messages("telegram:1")
		if last := all[len(all)-1]; !last.silent || len(last.edits) != 1 || last.edits[0] != "– q3 unanswered: B" {
			t.Errorf("%+v", last)
		}
	})
}

// TestCopiesAreLimited checks that a message is sent again only a few times,
// and chatter not at all, while the platform gives no certain answer, and that
// the chat's other messages overtake it.
func TestCopiesAreLimited(t *testing.T) {
	for _, c := range []struct {
		name    string
		reached bool // other calls succeed all the time, so the platform is known to be reachable
		most    int
	}{
		{"nothing proves that it answers", false, maxBlindCopies},
		{"all else succeeds", true, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				copies := 0
				w.platform.setScript(func(_ context.Context, _, _, text string) (bool, error) {
					if strings.Contains(text, "(q1)") {
						copies++
					}
					return false, errUnclear
				})
				w.start()
				w.commit(out("1", "q1", "? one (q1)", ledger.ClassAsk), out("1", "", "chatter", ledger.ClassChatter), out("1", "", "notice", ledger.ClassNotice))
				for range 23 * 60 {
					w.advance(time.Minute)
					if c.reached {
						w.dispatcher.MarkReachable()
					}
				}
				if copies < 2 || copies > c.most {
					t.Errorf("%d copies of a question in 23 hours, want 2 to %d", copies, c.most)
				}
				if left := strings.Join(w.queued(), "\n"); strings.Contains(left, "chatter") || strings.Count(left, "\n") != 1 {
					t.Errorf("queued are:\n%s", left)
				}
				// After the platform's recovery the copies arrive, each with a
				// mark.
				w.platform.setScript(nil)
				w.dispatcher.MarkReachable()
				w.waitDrained(2 * time.Hour)
				got := w.platform.texts("telegram:1")
				for _, text := range got {
					if !strings.HasPrefix(text, "! ") && !strings.Contains(text, "Sent again: the first is in doubt.") {
						t.Errorf("not marked: %q", text)
					}
				}
			})
		})
	}
}

// TestMessageInDoubtIsOvertakenAndGivenUp checks that a single message that
// breaks the connection does not block its chat for ever, and is given up after
// a day.
func TestMessageInDoubtIsOvertakenAndGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.platform.setScript(func(_ context.Context, _, _, text string) (bool, error) {
			if strings.Contains(text, "poison") {
				return false, errUnclear
			}
			return true, nil
		})
		w.start()
		w.commit(out("1", "q1", "? poison (q1)", ledger.ClassAsk))
		w.advance(2 * time.Second)
		w.commit(out("1", "", "after", ledger.ClassNotice))
		for range 30 {
			w.advance(time.Second)
			w.commit(out("2", "", "the connection is fine", ledger.ClassNotice))
		}
		if diff := cmp.Diff([]string{"after"}, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for range 26 {
			w.commit(out("2", "", "the connection is fine", ledger.ClassNotice))
			w.advance(time.Hour)
		}
		if n := w.log.count("given up"); n != 1 {
			t.Errorf("given up %d times", n)
		}
		// What becomes of the question is told all the same.
		w.commit(change("1", "q1", "✓ q1 settled", ledger.ClassAsk))
		w.waitDrained(time.Minute)
		if diff := cmp.Diff([]string{"after", "✓ q1 settled"}, withoutOpenLines(w.platform.texts("telegram:1"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if q := w.queued(); len(q) != 0 {
			t.Errorf("queued are %q", q)
		}
	})
}

// withoutOpenLines removes the lines that say when a question was asked.
func withoutOpenLines(texts []string) []string {
	for i := range texts {
		texts[i], _, _ = strings.Cut(texts[i], "\nAsked ")
	}
	return texts
}

// TestSendReasons checks each reason of a failed call, once for a send and once
// for an edit.
func TestSendReasons(t *testing.T) {
	for _, c := range []struct {
		name string
		kind string
		err  error
		want []string // what the chat shows at the end; edits follow after " → "
		log  string
	}{
		{"slow", "send", &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: 40 * time.Second}, []string{"first → second"}, "limits the rate of a chat"},
		{"away", "send", errOffline, []string{"first → second"}, "out of reach"},
		{"refused", "send", &bot.SendError{Reason: bot.ErrRejected, Text: "message is empty"}, []string{"second"}, "message is empty"},
		{"gone", "send", &bot.SendError{Reason: bot.ErrMessageGone, Text: "no such thread"}, []string{"second"}, "no such thread"},
		{"not known to this package", "send", &bot.SendError{Reason: errors.New("new")}, []string{"↻ second\nSent again: the first is in doubt. → second"}, "delivery of a message is unknown"},
		{"slow edit", "edit", &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: time.Second}, []string{"first → second"}, "limits the rate of a chat"},
		{"unclear edit", "edit", errUnclear, []string{"first → second"}, "delivery of a message is unknown"},
		{"refused edit", "edit", &bot.SendError{Reason: bot.ErrRejected, Text: "bad"}, []string{"first"}, "bad"},
		{"gone edit", "edit", &bot.SendError{Reason: bot.ErrMessageGone, Text: "message to edit not found"}, []string{"first", "second"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				done := false
				w.platform.setScript(func(_ context.Context, kind, _, _ string) (bool, error) {
					if kind != c.kind || done {
						return true, nil
					}
					done = true
					return false, c.err
				})
				w.start()
				w.commit(out("1", "k", "first", ledger.ClassNotice))
				w.advance(time.Minute)
				w.commit(change("1", "k", "second", ledger.ClassNotice))
				w.advance(2 * time.Minute)
				w.dispatcher.MarkReachable() // ends the wait of messages in doubt
				w.waitDrained(time.Hour)
				var got []string
				for _, m := range w.platform.messages("telegram:1") {
					got = append(got, strings.Join(append([]string{m.text}, m.edits...), " → "))
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if c.log != "" && w.log.count(c.log) != 1 {
					t.Errorf("log: %q", w.log.lines)
				}
			})
		})
	}
}

// TestSenderPanics checks that a Sender's panic counts as ErrRejected, and that
// the chat goes on.
func TestSenderPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.platform.setScript(func(_ context.Context, _, _, text string) (bool, error) {
			if text == "bad" {
				panic("index out of range")
			}
			return true, nil
		})
		w.start()
		w.commit(out("1", "", "bad", ledger.ClassNotice), out("1", "", "good", ledger.ClassNotice))
		w.commit(ledger.Outgoing{Chat: "telegram:1", Class: ledger.ClassNotice, Body: []byte("{")}, out("1", "", "after", ledger.ClassNotice))
		w.waitDrained(time.Minute)
		if diff := cmp.Diff([]string{"good", "after"}, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if w.log.count("index out of range") != 1 || w.log.count("message is invalid") != 1 {
			t.Errorf("log: %q", w.log.lines)
		}
	})
}

// TestEditWhileSending checks that an edit committed just before its message is
// sent is not lost.
func TestEditWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.start()
		w.advance(time.Minute)
		edit := func() { w.commit(change("1", "q1", "✓ q1 settled", ledger.ClassNotice)) }
		w.outbox.afterNext.Store(&edit)
		w.commit(out("1", "q1", "? one (q1)", ledger.ClassAsk))
		w.advance(time.Second)
		if diff := cmp.Diff([]string{"✓ q1 settled"}, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		// An edit committed during the send follows it.
		w.platform.setScript(func(_ context.Context, kind, _, _ string) (bool, error) {
			if kind == "send" {
				w.commit(change("1", "q2", "✓ q2 settled", ledger.ClassNotice))
			}
			return true, nil
		})
		w.commit(out("1", "q2", "? two (q2)", ledger.ClassAsk))
		w.advance(5 * time.Second)
		m := w.platform.messages("telegram:1")[1]
		if m.text != "? two (q2)" || !slices.Equal(m.edits, []string{"✓ q2 settled"}) {
			t.Errorf("shown is %q, then %q", m.text, m.edits)
		}
		if len(w.log.lines) != 0 {
			t.Errorf("log: %q", w.log.lines)
		}
	})
}

// TestEditBehindDroppedMessage commits an edit while its message is being sent,
// and drops the message.
func TestEditBehindDroppedMessage(t *testing.T) {
	rejected := &bot.SendError{Reason: bot.ErrRejected, Text: "message is empty"}
	for _, c := range []struct {
		name       string
		send, edit ledger.MessageClass
		arrives    bool
		err        error
		want       []string
	}{
		{"chatter that arrived is not doubled", ledger.ClassChatter, ledger.ClassChatter, true, errUnclear, []string{"first"}},
		{"chatter that did not arrive is left out", ledger.ClassChatter, ledger.ClassChatter, false, errUnclear, nil},
		{"a notice is marked", ledger.ClassChatter, ledger.ClassNotice, true, errUnclear, []string{"first", "↻ second\nSent again: the first is in doubt."}},
		{"rejected chatter never arrived", ledger.ClassChatter, ledger.ClassChatter, false, rejected, []string{"second"}},
		{"a rejected question never arrived", ledger.ClassAsk, ledger.ClassChatter, false, rejected, []string{"second"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				w.platform.setScript(func(_ context.Context, _, _, text string) (bool, error) {
					if text != "first" {
						return true, nil
					}
					w.commit(change("1", "k", "second", c.edit))
					return c.arrives, c.err
				})
				w.start()
				w.commit(out("1", "k", "first", c.send))
				w.waitDrained(time.Hour)
				if diff := cmp.Diff(c.want, w.platform.texts("telegram:1")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestOutboxUnwritable checks that a message that arrived is not sent again
// while the outbox cannot be written.
func TestOutboxUnwritable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.start()
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			w.outbox.diskFull.Store(true)
			return true, nil
		})
		w.commit(out("1", "", "one", ledger.ClassNotice), out("1", "", "two", ledger.ClassNotice))
		w.advance(time.Hour)
		w.platform.setScript(nil)
		w.outbox.diskFull.Store(false)
		w.waitDrained(2 * time.Minute)
		got := w.platform.texts("telegram:1")
		if diff := cmp.Diff([]string{"one", "two"}, got[:1:1]); len(got) < 2 || diff == "" {
			t.Errorf("got %q", got)
		}
		if strings.Contains(strings.Join(got, "\n"), "↻") || got[0] != "one" || got[len(got)-1] != "two" {
			t.Errorf("got %q", got)
		}
	})
}

// TestRunStops checks that Run waits a limited time for a call in progress,
// whose message stays in doubt.
func TestRunStops(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		most  time.Duration
		left  int
	}{
		{3 * time.Second, 3 * time.Second, 0},
		{time.Hour, 6 * time.Second, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newFixture(t)
			w.platform.setScript(func(ctx context.Context, _, _, _ string) (bool, error) {
				return true, sleep.For(ctx, c.takes)
			})
			w.start()
			w.advance(time.Minute)
			w.commit(out("1", "q1", "? (q1)", ledger.ClassAsk))
			synctest.Wait()
			if took := w.stop(); took > c.most {
				t.Errorf("a call of %v: it ended after %v", c.takes, took)
			}
			left := w.queued()
			if len(left) != c.left || c.left == 1 && !strings.Contains(left[0], "tried=true") {
				t.Errorf("a call of %v leaves %q", c.takes, left)
			}
		})
	}
}

// TestQuietHours checks that a message committed by day makes no sound in quiet
// hours, and that a message committed in quiet hours does.
func TestQuietHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.o.Quiet = func(_ string, at time.Time) bool { return at.Hour() >= 1 }
		w.commit(out("1", "", "by day", ledger.ClassNotice))
		w.advance(2 * time.Hour)
		w.commit(out("1", "", "standstill", ledger.ClassNotice))
		w.start()
		w.waitDrained(time.Minute)
		w.advance(2 * time.Hour) // in the same night
		w.commit(out("1", "", "and again", ledger.ClassNotice))
		w.waitDrained(time.Minute)
		var got []string
		for _, m := range w.platform.messages("telegram:1") {
			got = append(got, fmt.Sprint(strings.SplitN(m.text, "\n", 2)[0], " silent=", m.silent))
		}
		want := []string{"! Sent late: held up since 00:00 silent=true", "by day silent=true", "standstill silent=false", "and again silent=true"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
