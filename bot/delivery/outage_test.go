package delivery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// epoch is the time at which the clock of a synctest bubble starts.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestOutage checks that after two hours without the platform, 500 messages and
// three restarts, each chat gets one announcement and its questions with their
// times, no chatter, and only the newest edit of each message.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.start()
		for c := range 5 {
			w.commit(out(address(c), "g1", "○ g1 queued", ledger.ClassReply))
		}
		w.advance(10 * time.Minute)
		var away atomic.Bool
		away.Store(true)
		var trials atomic.Int64
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			if away.Load() {
				trials.Add(1)
				return false, errOffline
			}
			return true, nil
		})
		for n := range 20 {
			for c := range 5 {
				w.commit(
					out(address(c), fmt.Sprintf("q%d", n), fmt.Sprintf("? shop asks (q%d)", n), ledger.ClassAsk),
					out(address(c), "", fmt.Sprintf("notice %d", n), ledger.ClassNotice),
					out(address(c), "", fmt.Sprintf("tasks %d", n), ledger.ClassChatter),
					out(address(c), "status/shop", fmt.Sprintf("status %d", n), ledger.ClassChatter),
					change(address(c), "g1", fmt.Sprintf("● g1 in use %d", n), ledger.ClassReply),
				)
			}
			w.advance(6 * time.Minute)
			if n == 3 || n == 9 || n == 15 {
				w.restart()
			}
		}
		if n := trials.Load(); n > 200 {
			t.Errorf("%d trials in two hours", n)
		}
		if n := len(w.platform.messagesShown); n != 5 {
			t.Fatalf("%d messages arrived at a platform that was away", n)
		}
		// One question is answered meanwhile and becomes chatter.
		w.commit(change(address(0), "q0", "✓ q0 yes, by Mira", ledger.ClassChatter))
		w.advance(5 * time.Minute)
		away.Store(false)
		w.waitDrained(10 * time.Minute)

		for c := range 5 {
			var want []string
			follow := "20 questions follow with their times (q0 q1 q2 …), and 20 messages; what is over is left out. The rest is in /status."
			if c == 0 {
				follow = "19 questions follow with their times (q1 q2 q3 …), and 20 messages; what is over is left out. The rest is in /status."
			}
			got := w.platform.messages("telegram:" + address(c))
			for n := range 20 {
				asked := epoch.Add(10*time.Minute + time.Duration(n)*6*time.Minute).Format("15:04")
				if n > 0 || c > 0 {
					want = append(want, fmt.Sprintf("? shop asks (q%d)\nAsked %s, still open.", n, asked))
				}
				want = append(want, fmt.Sprintf("notice %d", n))
			}
			texts := w.platform.texts("telegram:" + address(c))[1:]
			if first := texts[0]; !strings.HasPrefix(first, "! Telegram out of reach 00:10–02:1") || !strings.HasSuffix(first, follow) ||
				!strings.Contains(first, "\nWork went on. ") || !got[1].silent {
				t.Errorf("chat %d: first after the outage: %q (silent %v)", c, first, got[1].silent)
			}
			if diff := cmp.Diff(want, texts[1:]); diff != "" {
				t.Errorf("chat %d (-want +got):\n%s", c, diff)
			}
			if diff := cmp.Diff([]string{"● g1 in use 19"}, got[0].edits); diff != "" {
				t.Errorf("chat %d: edits (-want +got):\n%s", c, diff)
			}
			rings := 0
			for _, m := range got[1:] {
				if !m.silent {
					rings++
				}
			}
			if rings > 2 {
				t.Errorf("chat %d rang %d times within minutes", c, rings)
			}
		}
	})
}

// TestShortOutage checks that a short outage is not announced and loses
// nothing.
func TestShortOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.platform.setScript(failing(errOffline))
		w.start()
		w.commit(out("1", "", "tasks", ledger.ClassChatter), out("1", "q1", "? (q1)", ledger.ClassAsk))
		w.advance(8 * time.Minute)
		w.platform.setScript(nil)
		w.waitDrained(2 * time.Minute)
		if diff := cmp.Diff([]string{"tasks", "? (q1)"}, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		w.commit(out("1", "", "more", ledger.ClassChatter))
		w.advance(time.Minute)
		if got := len(w.platform.messagesShown); got != 3 {
			t.Errorf("%d messages, want 3: %q", got, w.platform.texts("telegram:1"))
		}
		if n := w.log.count("out of reach"); n != 1 {
			t.Errorf("one outage was logged %d times", n)
		}
	})
}

// TestMarkReachableEndsOutage checks that MarkReachable ends the wait at once,
// and that recent replies are sent.
func TestMarkReachableEndsOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		var calls []time.Time
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			calls = append(calls, time.Now())
			return false, errOffline
		})
		w.start()
		w.commit(out("1", "", "old chatter", ledger.ClassChatter), out("1", "", "notice", ledger.ClassNotice))
		w.advance(30*time.Minute + 5*time.Second)
		for n := 1; n < len(calls); n++ {
			gap := calls[n].Sub(calls[n-1])
			if want := min(time.Second<<min(n-1, 6), time.Minute); gap < want || gap > want+time.Second {
				t.Errorf("wait %d was %v, want %v", n, gap, want)
			}
		}
		w.platform.setScript(nil)
		w.commit(out("1", "", "○ shop 6/12 just asked for", ledger.ClassChatter))
		w.dispatcher.MarkReachable()
		w.advance(10 * time.Second)
		want := []string{
			"! Telegram out of reach 00:00–00:30\nWork went on. 2 messages follow; what is over is left out. The rest is in /status.",
			"notice", "○ shop 6/12 just asked for",
		}
		if diff := cmp.Diff(want, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		// A chat without waiting messages gets no announcement.
		w.commit(out("2", "", "hello", ledger.ClassNotice))
		w.advance(10 * time.Second)
		if diff := cmp.Diff([]string{"hello"}, w.platform.texts("telegram:2")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestParallelFailuresAreOne checks that parallel calls that fail together
// count as one failure: the next trial comes after a second.
func TestParallelFailuresAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		var began []time.Time
		var mu sync.Mutex
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			mu.Lock()
			began = append(began, time.Now())
			mu.Unlock()
			time.Sleep(time.Second)
			return false, errOffline
		})
		w.start()
		w.advance(time.Minute)
		for n := range 5 {
			w.commit(out(fmt.Sprint(n), "", "notice", ledger.ClassNotice))
		}
		w.advance(2500 * time.Millisecond)
		if len(began) != 6 || began[5].Sub(began[0]) != 2*time.Second {
			t.Errorf("calls began at %v", began)
		}
	})
}

// TestReplacedWhileDroppingStale checks that a message is kept if it is
// replaced while it is dropped as stale.
func TestReplacedWhileDroppingStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.commit(out("1", "k", "old", ledger.ClassChatter), out("1", "", "notice", ledger.ClassNotice))
		w.advance(time.Hour)
		w.commit(out("1", "", "fresh", ledger.ClassChatter))
		w.start()
		edit := func() { w.commit(change("1", "k", "newer", ledger.ClassChatter)) }
		w.outbox.afterQueued.Store(&edit)
		w.waitDrained(time.Minute)
		if diff := cmp.Diff([]string{"newer", "notice", "fresh"}, w.platform.texts("telegram:1")[1:]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestThrottledChatReturnsTrial checks that a chat that waits for its throttle
// returns the trial to the other chats.
func TestThrottledChatReturnsTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		var away atomic.Bool
		w.platform.setScript(func(_ context.Context, _, chat, _ string) (bool, error) {
			switch {
			case away.Load():
				return false, errOffline
			case withoutTopic(chat) == "telegram:-1":
				return false, &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: 5 * time.Hour, Text: "too many requests"}
			}
			return true, nil
		})
		w.start()
		w.commit(out("-1/6", "", "six", ledger.ClassNotice))
		w.advance(time.Minute)
		away.Store(true)
		w.commit(out("2", "", "two", ledger.ClassNotice))
		w.advance(2 * time.Second)
		for n := range 5 {
			w.commit(out(fmt.Sprintf("-1/%d", 10+n), "", "more", ledger.ClassNotice))
		}
		w.advance(8 * time.Minute)
		away.Store(false)
		w.advance(61 * time.Second)
		if diff := cmp.Diff([]string{"two"}, w.platform.texts("telegram:2")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestLateAfterRestart checks that the announcement after a restart does not
// claim that the platform was down.
func TestLateAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.advance(2*time.Hour + 27*time.Minute)
		w.commit(out("1", "q4", "? shop #12 manual verify (q4)\nPass ticks it.", ledger.ClassAsk), out("1", "", "status", ledger.ClassChatter))
		w.advance(3 * time.Hour)
		w.start()
		w.waitDrained(time.Minute)
		want := []string{
			"! Sent late: held up since 02:27\n1 question follows with its time (q4); what is over is left out. The rest is in /status.",
			"? shop #12 manual verify (q4)\nAsked 02:27, still open.\nPass ticks it.",
		}
		if diff := cmp.Diff(want, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestRestartWithinOutage checks that a restart in the middle of an outage of 12
// minutes is no reason to say nothing about it, and that ten looks in it give one
// answer.
func TestRestartWithinOutage(t *testing.T) {
	for _, c := range []struct {
		name  string
		looks time.Duration // when they are typed
		want  []string
	}{
		{"long waits", 2 * time.Minute, []string{
			"! Sent late: held up since 00:01\n1 question follows with its time (q1); what is over is left out. The rest is in /status.",
			"? shop asks (q1)\nAsked 00:01, still open.",
		}},
		{"shorter waits", 5 * time.Minute, []string{"look 9"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				w.platform.setScript(failing(errOffline))
				w.start()
				w.advance(time.Minute)
				if len(c.want) > 1 {
					w.commit(out("1", "q1", "? shop asks (q1)", ledger.ClassAsk))
				}
				w.advance(c.looks - time.Minute)
				for n := range 10 {
					look := out("1", "", "", ledger.ClassChatter)
					look.Body = []byte(fmt.Sprintf(`{"key":"tasks","lines":[{"text":"look %d"}]}`, n))
					w.commit(look)
					w.advance(5 * time.Second)
				}
				w.advance(6*time.Minute - time.Since(epoch))
				w.restart()
				w.advance(6 * time.Minute)
				w.platform.setScript(nil)
				w.waitDrained(2 * time.Minute)
				if diff := cmp.Diff(c.want, w.platform.texts("telegram:1")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestTokenRejected checks that all messages wait while the token is rejected,
// with one call every five minutes and one line in the log.
func TestTokenRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		var calls atomic.Int64
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			calls.Add(1)
			return false, &bot.SendError{Reason: bot.ErrTokenRejected, Text: "unauthorized"}
		})
		w.start()
		for n := range 20 {
			w.commit(out(fmt.Sprint(n), "", "notice", ledger.ClassNotice))
		}
		w.advance(time.Minute)
		first := calls.Load()
		if first > 6 { // calls in progress
			t.Errorf("%d calls with a refused token at once", first)
		}
		w.advance(time.Hour)
		if got := calls.Load() - first; got < 11 || got > 12 {
			t.Errorf("%d calls in an hour, want one in five minutes", got)
		}
		if n := w.log.count("rejects the token"); n != 1 {
			t.Errorf("logged %d times", n)
		}
		w.platform.setScript(nil)
		w.waitDrained(6 * time.Minute)
		for n := range 20 {
			if got := w.platform.texts(fmt.Sprintf("telegram:%d", n)); !slices.Contains(got, "notice") {
				t.Errorf("chat %d: %q", n, got)
			}
		}
	})
}
