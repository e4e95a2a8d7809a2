package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// look returns the reply to a line that only reads.
func look(chat, line, text string) ledger.Outgoing {
	m := out(chat, "", text, ledger.ClassLook)
	m.Ahead, m.Silent = true, true
	var msg bot.Message
	if err := json.Unmarshal(m.Body, &msg); err != nil {
		panic(err)
	}
	msg.Look = line
	b, err := json.Marshal(msg)
	if err != nil {
		panic(err)
	}
	m.Body = b
	return m
}

// statusLook returns the reply to /status.
func statusLook(chat, text string) ledger.Outgoing {
	m := out(chat, "status/shop", text, ledger.ClassLook)
	m.Ahead, m.Silent = true, true
	return m
}

// TestLookInDoubt checks that a look whose sending has no answer is sent again
// once when the connection is back, and says so; and that it holds up nothing.
func TestLookInDoubt(t *testing.T) {
	for _, c := range []struct {
		name    string
		arrives bool
		fails   int           // how many copies have no answer
		away    time.Duration // how long nothing is heard of the platform afterwards
		want    []string
	}{
		{"it arrived", true, 1, 0, []string{"▸ tasks", "↻ ▸ tasks\nSent again: the first is in doubt."}},
		{"it did not", false, 1, 0, []string{"↻ ▸ tasks\nSent again: the first is in doubt."}},
		{"after a minute", false, 1, 5 * time.Minute, []string{"↻ ▸ tasks\nSent again: the first is in doubt.\nAs of 00:01."}},
		{"once only", false, 9, 0, nil},
		{"once only, both arrived", true, 9, 0, []string{"▸ tasks", "↻ ▸ tasks\nSent again: the first is in doubt."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				w.start()
				w.advance(time.Minute)
				copies := 0
				w.platform.setScript(func(_ context.Context, _, _, text string) (bool, error) {
					if !strings.Contains(text, "tasks") {
						return true, nil
					}
					if copies++; copies <= c.fails {
						return c.arrives, errUnclear
					}
					return true, nil
				})
				w.commit(look("1", "/tasks", "▸ tasks"))
				w.advance(time.Second + c.away)
				if c.away > 0 && copies > 1 {
					t.Fatal("it was sent again before anything showed that the connection is back")
				}
				w.commit(out("1", "", "notice", ledger.ClassNotice))
				w.advance(time.Second)
				if got := w.platform.texts("telegram:1"); c.away == 0 && !slices.Contains(got, "notice") {
					t.Errorf("the notice waits behind the look: %q", got)
				}
				w.waitDrained(3 * time.Minute)
				w.advance(2 * time.Hour)
				got := slices.DeleteFunc(w.platform.texts("telegram:1"), func(text string) bool { return text == "notice" })
				if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if copies > 2 {
					t.Errorf("%d copies", copies)
				}
			})
		})
	}
}

// TestLookInDoubtCrashes checks that also a process that dies each time sends a look
// twice at most, and that a look that certainly arrived comes once.
func TestLookInDoubtCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		copies := 0
		w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
			copies++
			w.outbox.dead.Store(true)
			return true, nil
		})
		w.start()
		w.commit(look("1", "/tasks", "▸ tasks"))
		for range 5 {
			w.advance(30 * time.Second)
			w.restart()
		}
		w.platform.setScript(nil)
		w.waitDrained(time.Minute)
		w.commit(look("1", "/queue", "▸ queue"))
		w.waitDrained(time.Minute)
		w.restart()
		w.advance(time.Hour)
		want := []string{"▸ tasks", "↻ ▸ tasks\nSent again: the first is in doubt.", "▸ queue"}
		if diff := cmp.Diff(want, w.platform.texts("telegram:1")); diff != "" || copies != 2 {
			t.Errorf("%d copies (-want +got):\n%s", copies, diff)
		}
	})
}

// TestLookAskedAgain checks that a look in doubt does not come after a later one of its
// kind was answered, and that a look of another kind does.
func TestLookAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.platform.setScript(failing(errUnclear))
		w.start()
		w.commit(look("1", "/tasks", "▸ tasks 1"), look("1", "/queue", "▸ queue"), statusLook("1", "● shop 1/3"))
		w.advance(2 * time.Second)
		w.platform.setScript(nil)
		w.commit(look("1", "/tasks", "▸ tasks 2"), statusLook("1", "● shop 2/3"))
		w.waitDrained(time.Minute)
		want := []string{"▸ tasks 2", "● shop 2/3", "↻ ▸ queue\nSent again: the first is in doubt."}
		if diff := cmp.Diff(want, w.platform.texts("telegram:1")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestLooksOfLongOutage checks that after a long outage the newest look of each kind is
// answered, with the state of now where the message is live and with its time
// otherwise.
func TestLooksOfLongOutage(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				s := &status{text: "● shop 1/3", ticking: true}
				w.o.Live = s
				w.start()
				w.advance(time.Minute)
				w.platform.setScript(failing(errOffline))
				for n := range 4 {
					w.commit(look("1", "/tasks", fmt.Sprintf("▸ tasks %d", n)), statusLook("1", fmt.Sprintf("● shop %d/9", n)))
					w.advance(5 * time.Minute)
				}
				w.commit(look("1", "/queue", "▸ queue"), out("1", "", "news", ledger.ClassChatter))
				w.advance(9 * time.Minute)
				if restart {
					w.restart()
				}
				s.set("● shop 2/3")
				w.platform.setScript(nil)
				w.waitDrained(2 * time.Minute)
				got := w.platform.texts("telegram:1")
				late := "! Telegram out of reach 00:01–00:30\nWork went on. 3 messages follow; what is over is left out. The rest is in /status."
				if restart { // what the process before left out is not counted any more
					late = "! Sent late: held up since 00:16\n3 messages follow. The rest is in /status."
				}
				want := []string{
					late, "▸ tasks 3\nAs of 00:16.", "● shop 2/3", "▸ queue\nAs of 00:21.",
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}
