package delivery

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSounds checks that a chat gets at most one sound in ten minutes, whatever
// arrives, and that chats are independent.
func TestSounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		quiet := out("1", "", "told by the way", ledger.ClassNotice)
		quiet.Silent = true
		w.commit(quiet)
		for n, pause := range []time.Duration{0, time.Minute, 8 * time.Minute, 2 * time.Minute, time.Minute} {
			w.advance(pause)
			w.commit(out("1", "", fmt.Sprint("notice ", n), ledger.ClassNotice))
		}
		w.commit(out("2", "q1", "? one (q1)", ledger.ClassAsk))
		w.waitDrained(time.Minute)
		var sounds []string
		for _, m := range w.platform.messagesShown {
			if !m.silent {
				sounds = append(sounds, m.text)
			}
		}
		if diff := cmp.Diff([]string{"notice 0", "notice 3", "? one (q1)"}, sounds); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
