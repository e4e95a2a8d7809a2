package delivery

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUnauthorizedChat checks that the messages of a person who is removed
// during an outage are dropped, and that other people get theirs.
func TestUnauthorizedChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var out5 atomic.Bool
		w.o.Unauthorized = func(chat string) bool { return chat == "telegram:5" && out5.Load() }
		w.platform.setScript(failing(errOffline))
		w.start()
		for _, chat := range []string{"5", "7"} {
			w.commit(out(chat, "q1", "? one (q1)", ledger.ClassAsk), out(chat, "", "notice", ledger.ClassNotice), out(chat, "", "answer", ledger.ClassReply))
		}
		w.advance(time.Minute)
		out5.Store(true)
		w.platform.setScript(nil)
		w.waitDrained(5 * time.Minute)
		if diff := cmp.Diff([]string{"answer"}, w.platform.texts("telegram:5")); diff != "" {
			t.Errorf("who was taken out got (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"? one (q1)", "notice", "answer"}, w.platform.texts("telegram:7")); diff != "" {
			t.Errorf("who was not got (-want +got):\n%s", diff)
		}
	})
}
