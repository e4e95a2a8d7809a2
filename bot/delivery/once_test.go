package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop"
)

// What becomes of a sending whose process died before it saw the answer.
func TestCrashInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		class loop.MessageClass
		text  string
		want  []string
	}{
		{loop.ClassAsk, "■ shop #8 blocked, 2 attempts (q5)\nRefund flow · 03:06", []string{
			"■ shop #8 blocked, 2 attempts (q5)\nRefund flow · 03:06",
			"↻ ■ shop #8 blocked, 2 attempts (q5)\nSent again: a restart at 03:07 left the first in doubt. Answer either.\nRefund flow · 03:06",
		}},
		{loop.ClassNotice, "● shop r14 started, 12 tasks", []string{
			"● shop r14 started, 12 tasks",
			"↻ ● shop r14 started, 12 tasks\nSent again: the first is in doubt.",
		}},
		{loop.ClassReply, "○ g17 queued · 01:47", []string{
			"○ g17 queued · 01:47",
			"↻ ○ g17 queued · 01:47\nSent again: the first is in doubt.",
		}},
		{loop.ClassChatter, "● shop 6/12", []string{"● shop 6/12"}},
	} {
		t.Run(string(c.class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.far.play(func(context.Context, string, string, string) (bool, error) {
					w.outbox.dead.Store(true)
					return true, nil
				})
				w.pass(3*time.Hour + 6*time.Minute)
				w.begin()
				w.commit(out("1", "k", c.text, c.class))
				w.pass(time.Minute)
				w.kill()
				w.far.play(nil)
				w.begin()
				w.drained(time.Minute)
				if diff := cmp.Diff(c.want, w.far.texts("telegram:1")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A platform that answers garbage for ever gets few copies, and no second one
// of chatter; the rest of the chat goes past.
func TestGarbageForEver(t *testing.T) {
	for _, c := range []struct {
		name    string
		reached bool // another's calls succeed all the time
		most    int
	}{
		{"nothing proves that it answers", false, unprovedMax},
		{"all else succeeds", true, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				copies := 0
				w.far.play(func(_ context.Context, _, _, text string) (bool, error) {
					if strings.Contains(text, "(q1)") {
						copies++
					}
					return false, errUnclear
				})
				w.begin()
				w.commit(out("1", "q1", "? one (q1)", loop.ClassAsk), out("1", "", "chatter", loop.ClassChatter), out("1", "", "notice", loop.ClassNotice))
				for range 23 * 60 {
					w.pass(time.Minute)
					if c.reached {
						w.post.MarkReachable()
					}
				}
				if copies < 2 || copies > c.most {
					t.Errorf("%d copies of a question in 23 hours, want 2 to %d", copies, c.most)
				}
				if left := strings.Join(w.queued(), "\n"); strings.Contains(left, "chatter") || strings.Count(left, "\n") != 1 {
					t.Errorf("queued are:\n%s", left)
				}
				// When it is well again, the copies arrive, marked.
				w.far.play(nil)
				w.post.MarkReachable()
				w.drained(2 * time.Hour)
				got := w.far.texts("telegram:1")
				for _, text := range got {
					if !strings.HasPrefix(text, "! ") && !strings.Contains(text, "Sent again: the first is in doubt.") {
						t.Errorf("not marked: %q", text)
					}
				}
			})
		})
	}
}

// A message that alone breaks the connection does not keep its chat waiting
// for ever, and is given up after a day.
func TestOneMessageInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.far.play(func(_ context.Context, _, _, text string) (bool, error) {
			if strings.Contains(text, "poison") {
				return false, errUnclear
			}
			return true, nil
		})
		w.begin()
		w.commit(out("1", "q1", "? poison (q1)", loop.ClassAsk))
		w.pass(2 * time.Second)
		w.commit(change("1", "q1", "✓ q1 settled", loop.ClassAsk), out("1", "", "after", loop.ClassNotice))
		for range 30 {
			w.pass(time.Second)
			w.commit(out("2", "", "the connection is fine", loop.ClassNotice))
		}
		if diff := cmp.Diff([]string{"after"}, w.far.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for range 26 {
			w.commit(out("2", "", "the connection is fine", loop.ClassNotice))
			w.pass(time.Hour)
		}
		if n := w.logged.count("given up"); n != 1 {
			t.Errorf("given up %d times", n)
		}
		// What became of the question is sent in its stead.
		if diff := cmp.Diff([]string{"after", "✓ q1 settled"}, stripOpen(w.far.texts("telegram:1"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if q := w.queued(); len(q) != 0 {
			t.Errorf("queued are %q", q)
		}
	})
}

// stripOpen takes away the lines that say since when a question is open.
func stripOpen(texts []string) []string {
	for i := range texts {
		texts[i], _, _ = strings.Cut(texts[i], "\nAsked ")
	}
	return texts
}

// Each fault that a platform names, once, on a send and on an edit.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		kind string
		err  error
		want []string // what the chat shows in the end; an edit's text after " → "
		log  string
	}{
		{"slow", "send", &bot.SendError{Fault: bot.FaultRateLimited, After: 40 * time.Second}, []string{"first → second"}, "wants a chat to wait"},
		{"away", "send", errAway, []string{"first → second"}, "out of reach"},
		{"refused", "send", &bot.SendError{Fault: bot.FaultRefused, Text: "message is empty"}, []string{"second"}, "message is empty"},
		{"gone", "send", &bot.SendError{Fault: bot.FaultMessageGone, Text: "no such thread"}, []string{"second"}, "no such thread"},
		{"not known to this package", "send", &bot.SendError{Fault: "new"}, []string{"↻ first\nSent again: the first is in doubt. → second"}, "nobody knows"},
		{"slow edit", "edit", &bot.SendError{Fault: bot.FaultRateLimited, After: time.Second}, []string{"first → second"}, "wants a chat to wait"},
		{"unclear edit", "edit", errUnclear, []string{"first → second"}, "nobody knows"},
		{"refused edit", "edit", &bot.SendError{Fault: bot.FaultRefused, Text: "bad"}, []string{"first"}, "bad"},
		{"gone edit", "edit", &bot.SendError{Fault: bot.FaultMessageGone, Text: "message to edit not found"}, []string{"first", "second"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				done := false
				w.far.play(func(_ context.Context, kind, _, _ string) (bool, error) {
					if kind != c.kind || done {
						return true, nil
					}
					done = true
					return false, c.err
				})
				w.begin()
				w.commit(out("1", "k", "first", loop.ClassNotice))
				w.pass(time.Minute)
				w.commit(change("1", "k", "second", loop.ClassNotice))
				w.pass(2 * time.Minute)
				w.post.MarkReachable() // what is in doubt waits for that, or longer
				w.drained(time.Hour)
				var got []string
				for _, m := range w.far.messages("telegram:1") {
					got = append(got, strings.Join(append([]string{m.text}, m.edits...), " → "))
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if c.log != "" && w.logged.count(c.log) != 1 {
					t.Errorf("log: %q", w.logged.lines)
				}
			})
		})
	}
}

// A Sender that panics refuses the message; the process and the chat go on.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.far.play(func(_ context.Context, _, _, text string) (bool, error) {
			if text == "bad" {
				panic("index out of range")
			}
			return true, nil
		})
		w.begin()
		w.commit(out("1", "", "bad", loop.ClassNotice), out("1", "", "good", loop.ClassNotice))
		w.commit(loop.Outgoing{Chat: "telegram:1", Class: loop.ClassNotice, Body: []byte("{")}, out("1", "", "after", loop.ClassNotice))
		w.drained(time.Minute)
		if diff := cmp.Diff([]string{"good", "after"}, w.far.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if w.logged.count("index out of range") != 1 || w.logged.count("cannot be read") != 1 {
			t.Errorf("log: %q", w.logged.lines)
		}
	})
}

// A group that became a supergroup goes on under its new address, in order,
// topics with it.
func TestMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.far.play(func(_ context.Context, _, chat, _ string) (bool, error) {
			if base(chat) == "telegram:-5" {
				return false, &bot.SendError{Fault: bot.FaultMoved, To: "telegram:-1005"}
			}
			return true, nil
		})
		w.begin()
		for n := range 5 {
			w.commit(out("-5", "", fmt.Sprint(n), loop.ClassNotice))
		}
		w.drained(5 * time.Minute)
		if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, w.far.texts("telegram:-1005")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// What a group showed before it moved is out of its reach, and left alone.
func TestMovedWithLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := &status{text: "now", clock: true, ticking: true}
		w.o.Live = s
		var moved bool
		calls := 0
		w.far.play(func(_ context.Context, kind, chat, _ string) (bool, error) {
			if moved = moved || kind == "delete"; moved && chat == "telegram:-5" {
				calls++
				return false, &bot.SendError{Fault: bot.FaultMoved, To: "telegram:-1005"}
			}
			return true, nil
		})
		w.begin()
		w.commit(out("-5", "status/shop", "one", loop.ClassChatter))
		w.pass(20 * time.Second)
		w.commit(out("-5", "status/shop", "two", loop.ClassChatter))
		w.pass(time.Hour)
		if calls != 1 {
			t.Errorf("%d calls to an address that is no more", calls)
		}
	})
}

// An edit that comes in while its message is about to be sent goes into it,
// and is not lost.
func TestChangedAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.begin()
		w.pass(time.Minute)
		edit := func() { w.commit(change("1", "q1", "✓ q1 settled", loop.ClassNotice)) }
		w.outbox.next.Store(&edit)
		w.commit(out("1", "q1", "? one (q1)", loop.ClassAsk))
		w.pass(time.Second)
		if diff := cmp.Diff([]string{"✓ q1 settled"}, w.far.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		// The same while it is on its way: it comes after it.
		w.far.play(func(_ context.Context, kind, _, _ string) (bool, error) {
			if kind == "send" {
				w.commit(change("1", "q2", "✓ q2 settled", loop.ClassNotice))
			}
			return true, nil
		})
		w.commit(out("1", "q2", "? two (q2)", loop.ClassAsk))
		w.pass(5 * time.Second)
		m := w.far.messages("telegram:1")[1]
		if m.text != "? two (q2)" || !slices.Equal(m.edits, []string{"✓ q2 settled"}) {
			t.Errorf("shown is %q, then %q", m.text, m.edits)
		}
		if len(w.logged.lines) != 0 {
			t.Errorf("log: %q", w.logged.lines)
		}
	})
}

// A closed chat: questions are kept for a day, the rest is dropped, and it is
// tried again when somebody writes there.
func TestClosedChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		calls := 0
		w.far.play(func(context.Context, string, string, string) (bool, error) {
			calls++
			return false, &bot.SendError{Fault: bot.FaultChatClosed, Text: "bot was blocked by the user"}
		})
		var shut []string
		w.o.Shut = func(chat, why string) {
			if w.post.Accepts(chat) { // it is known already, and no lock is held
				t.Errorf("%s takes messages", chat)
			}
			shut = append(shut, chat+": "+why)
		}
		w.begin()
		if !w.post.Accepts("telegram:1") {
			t.Error("before it was tried, nothing is known against it")
		}
		w.commit(out("1", "", "notice", loop.ClassNotice), out("1", "q1", "? one (q1)", loop.ClassAsk))
		w.pass(20 * time.Hour)
		w.commit(out("1", "q2", "? two (q2)", loop.ClassAsk), out("1", "", "chatter", loop.ClassChatter))
		w.pass(5 * time.Hour)
		w.commit(out("1", "q3", "? three (q3)", loop.ClassAsk))
		w.pass(time.Minute)
		if calls != 1 {
			t.Errorf("%d calls to a closed chat", calls)
		}
		if diff := cmp.Diff([]string{"telegram:1: bot was blocked by the user"}, shut); diff != "" {
			t.Errorf("shut (-want +got):\n%s", diff)
		}
		w.far.play(nil)
		w.post.Reopen("telegram:1/7")
		if !w.post.Accepts("telegram:1") {
			t.Error("somebody wrote, and it takes nothing")
		}
		w.drained(time.Minute)
		want := []string{"? two (q2)\nAsked 20:00, still open.", "? three (q3)"}
		if diff := cmp.Diff(want, w.far.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// The outbox cannot be written for a while: what arrived is not sent again.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.begin()
		w.far.play(func(context.Context, string, string, string) (bool, error) {
			w.outbox.fail.Store(true)
			return true, nil
		})
		w.commit(out("1", "", "one", loop.ClassNotice), out("1", "", "two", loop.ClassNotice))
		w.pass(time.Hour)
		w.far.play(nil)
		w.outbox.fail.Store(false)
		w.drained(2 * time.Minute)
		got := w.far.texts("telegram:1")
		if diff := cmp.Diff([]string{"one", "two"}, got[:1:1]); len(got) < 2 || diff == "" {
			t.Errorf("got %q", got)
		}
		if strings.Contains(strings.Join(got, "\n"), "↻") || got[0] != "one" || got[len(got)-1] != "two" {
			t.Errorf("got %q", got)
		}
	})
}

// An end waits for a call that is under way, but not for ever, and the message
// stays in doubt.
func TestEnd(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		most  time.Duration
		left  int
	}{
		{3 * time.Second, 3 * time.Second, 0},
		{time.Hour, 6 * time.Second, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.far.play(func(ctx context.Context, _, _, _ string) (bool, error) {
				return true, sleep.For(ctx, c.takes)
			})
			w.begin()
			w.pass(time.Minute)
			w.commit(out("1", "q1", "? (q1)", loop.ClassAsk))
			synctest.Wait()
			if took := w.end(); took > c.most {
				t.Errorf("a call of %v: it ended after %v", c.takes, took)
			}
			left := w.queued()
			if len(left) != c.left || c.left == 1 && !strings.Contains(left[0], "tried=true") {
				t.Errorf("a call of %v leaves %q", c.takes, left)
			}
		})
	}
}

// What was to ring by day makes no sound in quiet hours; what was to ring in
// them does.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.o.Quiet = func(_ string, at time.Time) bool { return at.Hour() >= 1 }
		w.commit(out("1", "", "by day", loop.ClassNotice))
		w.pass(2 * time.Hour)
		w.commit(out("1", "", "standstill", loop.ClassNotice))
		w.begin()
		w.drained(time.Minute)
		w.pass(2 * time.Hour) // in the same night
		w.commit(out("1", "", "and again", loop.ClassNotice))
		w.drained(time.Minute)
		var got []string
		for _, m := range w.far.messages("telegram:1") {
			got = append(got, fmt.Sprint(strings.SplitN(m.text, "\n", 2)[0], " silent=", m.silent))
		}
		want := []string{"! Sent late: held up since 00:00 silent=true", "by day silent=true", "standstill silent=false", "and again silent=true"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
