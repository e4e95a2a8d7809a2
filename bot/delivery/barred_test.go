package delivery

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Somebody is taken out while the platform is away: what waited for them is
// dropped, others get theirs.
func TestBarred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var out5 atomic.Bool
		w.o.Barred = func(chat string) bool { return chat == "telegram:5" && out5.Load() }
		w.far.play(failing(errAway))
		w.begin()
		for _, chat := range []string{"5", "7"} {
			w.commit(out(chat, "q1", "? one (q1)", ledger.ClassAsk), out(chat, "", "notice", ledger.ClassNotice), out(chat, "", "answer", ledger.ClassReply))
		}
		w.pass(time.Minute)
		out5.Store(true)
		w.far.play(nil)
		w.drained(5 * time.Minute)
		if diff := cmp.Diff([]string{"answer"}, w.far.texts("telegram:5")); diff != "" {
			t.Errorf("who was taken out got (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"? one (q1)", "notice", "answer"}, w.far.texts("telegram:7")); diff != "" {
			t.Errorf("who was not got (-want +got):\n%s", diff)
		}
	})
}
