package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestChatMoves checks that a group that became a supergroup continues under
// its new address, in order and with its topics.
func TestChatMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.platform.setScript(func(_ context.Context, _, chat, _ string) (bool, error) {
			if withoutTopic(chat) == "telegram:-5" {
				return false, &bot.SendError{Reason: bot.ErrChatMoved, MovedTo: "telegram:-1005"}
			}
			return true, nil
		})
		w.start()
		for n := range 5 {
			w.commit(out("-5", "", fmt.Sprint(n), ledger.ClassNotice))
		}
		w.waitDrained(5 * time.Minute)
		if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, w.platform.texts("telegram:-1005")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestChatMovesWhileSending checks that a message that is on its way to a
// group's old address when the platform reports the new one is delivered once,
// and holds up nothing.
func TestChatMovesWhileSending(t *testing.T) {
	for _, class := range []ledger.MessageClass{ledger.ClassNotice, ledger.ClassChatter} {
		synctest.Test(t, func(t *testing.T) {
			w := newFixture(t)
			began := make(chan struct{})
			w.platform.setScript(func(_ context.Context, _, chat, _ string) (bool, error) {
				if chat == "telegram:-5" {
					close(began)
					time.Sleep(10 * time.Second) // a slow answer
				}
				return true, nil
			})
			w.start()
			w.commit(out("-5", "", "slow", class))
			<-began
			if err := w.store.MoveChat(t.Context(), "telegram:-5", "telegram:-1005"); err != nil {
				t.Fatal(err)
			}
			w.commit(out("-1005", "", "next", ledger.ClassNotice))
			w.waitDrained(time.Minute)
			got := [][]string{w.platform.texts("telegram:-5"), w.platform.texts("telegram:-1005")}
			if diff := cmp.Diff([][]string{{"slow"}, {"next"}}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", class, diff)
			}
			if w.log.count("cannot be stored") > 0 {
				t.Errorf("%s, log: %q", class, w.log.lines)
			}
		})
	}
}

// TestChatMovesWithLiveMessage checks that live messages at the old address of
// a group are left alone.
func TestChatMovesWithLiveMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		s := &status{text: "now", clock: true, ticking: true}
		w.o.Live = s
		var moved bool
		calls := 0
		w.platform.setScript(func(_ context.Context, kind, chat, _ string) (bool, error) {
			if moved = moved || kind == "delete"; moved && chat == "telegram:-5" {
				calls++
				return false, &bot.SendError{Reason: bot.ErrChatMoved, MovedTo: "telegram:-1005"}
			}
			return true, nil
		})
		w.start()
		w.commit(out("-5", "status/shop", "one", ledger.ClassChatter))
		w.advance(20 * time.Second)
		w.commit(out("-5", "status/shop", "two", ledger.ClassChatter))
		w.advance(time.Hour)
		if calls != 1 {
			t.Errorf("%d calls to an address that is no more", calls)
		}
	})
}

// TestClosedChat checks that a closed chat keeps questions for a day and drops
// other messages, and that it is tried again when somebody writes there.
func TestClosedChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		calls := 0
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			calls++
			return false, &bot.SendError{Reason: bot.ErrChatClosed, Text: "bot was blocked by the user"}
		})
		var shut []string
		w.o.OnChatClosed = func(chat, why string, _ bool) {
			if w.dispatcher.Accepts(chat) { // already closed, and no lock is held
				t.Errorf("%s takes messages", chat)
			}
			shut = append(shut, chat+": "+why)
		}
		w.start()
		if !w.dispatcher.Accepts("telegram:1") {
			t.Error("before it was tried, nothing is known against it")
		}
		w.commit(out("1", "", "notice", ledger.ClassNotice), out("1", "q1", "? one (q1)", ledger.ClassAsk))
		w.advance(20 * time.Hour)
		w.commit(out("1", "q2", "? two (q2)", ledger.ClassAsk), out("1", "", "chatter", ledger.ClassChatter))
		w.advance(5 * time.Hour)
		w.commit(out("1", "q3", "? three (q3)", ledger.ClassAsk))
		w.advance(time.Minute)
		if calls != 1 {
			t.Errorf("%d calls to a closed chat", calls)
		}
		if diff := cmp.Diff([]string{"telegram:1: bot was blocked by the user"}, shut); diff != "" {
			t.Errorf("shut (-want +got):\n%s", diff)
		}
		w.platform.setScript(nil)
		w.dispatcher.Reopen("telegram:1/7")
		if !w.dispatcher.Accepts("telegram:1") {
			t.Error("somebody wrote, and it takes nothing")
		}
		w.waitDrained(time.Minute)
		want := []string{"? two (q2)\nAsked 20:00, still open.", "? three (q3)"}
		if diff := cmp.Diff(want, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestRedirect checks that the questions and notices of a closed chat are offered to
// Options.Redirect in their newest text, once each, also those that come later and
// also the second time that the chat closes.
func TestRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		var moved []string
		var closed []bool
		fail := true
		w.o.Redirect = func(_ context.Context, m ledger.QueuedMessage) (bool, error) {
			if fail {
				fail = false
				return false, errors.New("not committed")
			}
			moved = append(moved, fmt.Sprintf("%s %s %s", m.Class, m.Key, strings.ReplaceAll(string(m.Body), `"`, "")))
			return true, nil
		}
		w.o.OnChatClosed = func(_, _ string, again bool) { closed = append(closed, again) }
		shut := &bot.SendError{Reason: bot.ErrChatClosed, Text: "bot was kicked"}
		w.platform.setScript(failing(shut))
		w.start()
		w.commit(
			out("-1/42", "q1", "? one (q1)", ledger.ClassAsk), out("-1/42", "", "notice", ledger.ClassNotice),
			out("-1/42", "", "tasks", ledger.ClassChatter), out("-1/42", "", "done", ledger.ClassReply),
		)
		w.waitDrained(time.Minute)
		w.commit(out("-1/42", "q2", "? two (q2)", ledger.ClassAsk)) // composed before the chat closed
		w.waitDrained(time.Minute)
		w.dispatcher.Reopen("telegram:-1/7")
		w.commit(out("-1/42", "q3", "? three (q3)", ledger.ClassAsk))
		w.waitDrained(time.Minute)
		w.platform.setScript(nil)
		w.dispatcher.Reopen("telegram:-1/7")
		w.commit(out("-1/42", "", "it works again", ledger.ClassNotice))
		w.waitDrained(time.Minute)
		w.platform.setScript(failing(shut))
		w.commit(out("-1/42", "q4", "? four (q4)", ledger.ClassAsk))
		w.waitDrained(time.Minute)
		var got []string
		for _, m := range moved {
			class, rest, _ := strings.Cut(m, " ")
			key, _, _ := strings.Cut(rest, " ")
			got = append(got, class+" "+key)
		}
		if diff := cmp.Diff([]string{"ask q1", "notice ", "ask q2", "ask q3", "ask q4"}, got); diff != "" {
			t.Errorf("moved (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]bool{false, true, false}, closed); diff != "" {
			t.Errorf("closed (-want +got):\n%s", diff)
		}
	})
}
