package delivery

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// answer is an answer to what a person just asked.
func answer(chat, text string) ledger.Outgoing {
	m := out(chat, "", text, ledger.ClassReply)
	m.Ahead = true
	return m
}

// arrived returns when a text arrived in a chat.
func (w *fixture) arrived(chat, text string) time.Time {
	w.t.Helper()
	for _, m := range w.platform.messages("telegram:" + chat) {
		if m.text == text {
			return m.at
		}
	}
	w.t.Fatalf("%q did not arrive in %s: %q", text, chat, w.platform.texts("telegram:"+chat))
	return time.Time{}
}

// TestAnswersOvertakeReceipts checks on a platform that takes three seconds for a
// call that answers are sent before receipts and news that are queued, in their own
// order, and that those keep theirs.
func TestAnswersOvertakeReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			time.Sleep(3 * time.Second)
			return true, nil
		})
		w.start()
		for n := range 5 {
			w.commit(out("48", fmt.Sprintf("g%d", n), fmt.Sprintf("g%d", n), ledger.ClassReply))
		}
		w.commit(out("48", "q1", "q1", ledger.ClassAsk), change("48", "q1", "q1 answered", ledger.ClassChatter))
		w.advance(5 * time.Second)
		w.commit(answer("48", "status"), answer("48", "paused"))
		w.waitDrained(time.Minute)
		got := w.platform.texts("telegram:48")
		at := slices.Index(got, "status")
		if at < 0 || at > 2 || got[at+1] != "paused" {
			t.Fatalf("the answers are not next: %q", got)
		}
		rest := slices.Delete(slices.Clone(got), at, at+2)
		if want := []string{"g0", "g1", "g2", "g3", "g4", "q1 answered"}; !slices.Equal(rest, want) {
			t.Errorf("the rest is %q, want %q", rest, want)
		}
	})
}

// TestAnswersDoNotWaitForTokens checks that a long queue leaves room for answers in a
// platform's rates: of the same chat, a group, and of forty other chats. The fake
// platform checks that no limit is exceeded.
func TestAnswersDoNotWaitForTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.start()
		for n := range 100 {
			var batch []ledger.Outgoing
			for c := range 40 {
				batch = append(batch, out(address(c), "", fmt.Sprintf("n%d", n), ledger.ClassNotice))
			}
			w.commit(batch...)
		}
		w.advance(30 * time.Second)
		for n, chat := range []string{address(2), address(4), "4999", address(3), address(2), address(3)} {
			text := fmt.Sprintf("answer %d", n)
			asked := time.Now()
			w.commit(answer(chat, text))
			w.advance(20 * time.Second)
			if took := w.arrived(chat, text).Sub(asked); took > 100*time.Millisecond {
				t.Errorf("%s in %s took %v", text, chat, took)
			}
		}
		w.waitDrained(time.Hour)
	})
}

// TestAnswerDoesNotHideAnOutage checks that an answer that goes ahead of messages
// that waited through an outage leaves them their announcement.
func TestAnswerDoesNotHideAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.start()
		w.platform.setScript(failing(errOffline))
		w.commit(out("48", "q5", "q5", ledger.ClassAsk), out("48", "", "look", ledger.ClassChatter))
		w.advance(20 * time.Minute)
		w.commit(answer("48", "status"))
		w.platform.setScript(nil)
		w.waitDrained(5 * time.Minute)
		got := w.platform.texts("telegram:48")
		if len(got) != 3 || got[0] != "status" || got[2][:2] != "q5" {
			t.Fatalf("got %q, want the answer, the announcement and the question", got)
		}
	})
}
