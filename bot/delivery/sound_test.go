package delivery

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A chat hears at most one sound in ten minutes, whatever comes; other chats
// have their own.
func TestSounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.begin()
		quiet := out("1", "", "told by the way", ledger.ClassNotice)
		quiet.Silent = true
		w.commit(quiet)
		for n, pause := range []time.Duration{0, time.Minute, 8 * time.Minute, 2 * time.Minute, time.Minute} {
			w.pass(pause)
			w.commit(out("1", "", fmt.Sprint("notice ", n), ledger.ClassNotice))
		}
		w.commit(out("2", "q1", "? one (q1)", ledger.ClassAsk))
		w.drained(time.Minute)
		var sounds []string
		for _, m := range w.far.shown {
			if !m.silent {
				sounds = append(sounds, m.text)
			}
		}
		if diff := cmp.Diff([]string{"notice 0", "notice 3", "? one (q1)"}, sounds); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
