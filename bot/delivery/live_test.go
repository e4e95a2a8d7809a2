package delivery

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// status is a live message whose text contains a clock.
type status struct {
	mu      sync.Mutex
	text    string
	clock   bool
	ticking bool
}

func (s *status) Text(string, string) (bot.Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text
	if s.clock {
		text += " · " + time.Now().UTC().Format("15:04")
	}
	return bot.Message{Lines: []bot.Line{{Text: text}}}, s.ticking
}

func (s *status) set(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

// TestLiveEditInterval checks that a live message is edited with its newest
// text at most every ten seconds, every thirty in a group, and once a minute
// for its clock while a run is in progress.
func TestLiveEditInterval(t *testing.T) {
	for _, c := range []struct {
		chat string
		gap  time.Duration
	}{{"1", 10 * time.Second}, {"-1", 30 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			s := &status{text: "start", ticking: true}
			w.o.Live = s
			w.start()
			w.commit(out(c.chat, "status/shop", "start", ledger.ClassChatter))
			w.advance(30 * time.Second)
			for n := range 300 {
				s.set(fmt.Sprintf("step %d", n))
				w.dispatcher.RefreshLive("status/shop")
				w.advance(time.Second)
			}
			w.advance(time.Minute)
			m := w.platform.messages("telegram:" + c.chat)[0]
			if len(m.edits) == 0 {
				t.Fatal("it was never edited")
			}
			for n := 1; n < len(m.edited); n++ {
				if gap := m.edited[n].Sub(m.edited[n-1]); gap < c.gap {
					t.Errorf("%s: edit %d came after %v", c.chat, n, gap)
				}
			}
			if n, want := len(m.edits), int(300*time.Second/c.gap); n < want-1 || n > want+2 {
				t.Errorf("%s: %d edits in 5 minutes, want about %d", c.chat, n, want)
			}
			if last := m.edits[len(m.edits)-1]; last != "step 299" {
				t.Errorf("%s: last shown is %q", c.chat, last)
			}
			// Without events, only the clock changes the text, and only while a
			// run is in progress.
			before := len(m.edits)
			w.advance(time.Hour)
			if len(m.edits) != before {
				t.Errorf("%s: the same text was sent %d times", c.chat, len(m.edits)-before)
			}
			s.mu.Lock()
			s.clock = true
			s.mu.Unlock()
			w.advance(time.Hour)
			if n := len(m.edits) - before; n < 59 || n > 61 {
				t.Errorf("%s: %d edits in an hour of a clock", c.chat, n)
			}
			s.mu.Lock()
			s.ticking = false
			s.mu.Unlock()
			w.advance(2 * time.Minute)
			before = len(m.edits)
			w.advance(time.Hour)
			if len(m.edits) != before {
				t.Errorf("%s: the clock went on without a run", c.chat)
			}
			if q := w.queued(); len(q) != 0 {
				t.Errorf("live edits are in the database: %q", q)
			}
		})
	}
}

// TestLiveAfterRestart checks that TrackLive keeps a live message up to date
// after a restart.
func TestLiveAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := &status{text: "start", ticking: true}
		w.o.Live = s
		w.start()
		w.commit(out("1", "status/shop", "start", ledger.ClassChatter))
		w.advance(time.Minute)
		w.restart()
		w.dispatcher.TrackLive("telegram:1", "status/shop")
		w.dispatcher.TrackLive("telegram:2", "status/shop") // not in the outbox: ignored
		w.dispatcher.TrackLive("slack:3", "status/shop")    // another platform's: ignored
		w.advance(time.Minute)
		if m := w.platform.messages("telegram:1")[0]; len(m.edits) != 0 {
			t.Errorf("the same text was sent again: %q", m.edits)
		}
		s.set("later")
		w.dispatcher.RefreshLive("status/shop")
		w.advance(time.Minute)
		if diff := cmp.Diff([]string{"later"}, w.platform.messages("telegram:1")[0].edits); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestLiveMessageReplaced checks that a new status replaces the old one, which
// is deleted or says that it moved.
func TestLiveMessageReplaced(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		gone bool
		want []string
	}{
		{"deleted", nil, true, nil},
		{"too old", &bot.SendError{Reason: bot.ErrRejected, Text: "message can't be deleted"}, false, []string{"→ moved down"}},
		{"away at first", errOffline, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				s := &status{text: "now", ticking: true}
				w.o.Live = s
				failed := false
				w.platform.setScript(func(_ context.Context, kind, _, _ string) (bool, error) {
					if kind == "delete" && c.err != nil && !failed {
						failed = true
						return false, c.err
					}
					return true, nil
				})
				w.start()
				w.commit(out("1", "status/shop", "now", ledger.ClassChatter))
				w.advance(time.Minute)
				w.commit(out("1", "status/shop", "now", ledger.ClassChatter), out("1", "", "reply", ledger.ClassReply))
				w.advance(time.Minute)
				s.set("later")
				w.dispatcher.RefreshLive("status/shop")
				w.advance(time.Minute)
				got := w.platform.messages("telegram:1")
				if got[0].gone != c.gone || strings.Join(got[0].edits, "|") != strings.Join(c.want, "|") {
					t.Errorf("the old one: gone %v, edits %q", got[0].gone, got[0].edits)
				}
				if diff := cmp.Diff([]string{"later"}, got[1].edits); diff != "" {
					t.Errorf("the new one (-want +got):\n%s", diff)
				}
				if (got[0].pinned && !got[0].gone) || !got[1].pinned {
					t.Errorf("pinned: the old one %v, the new one %v", got[0].pinned, got[1].pinned)
				}
				if got[2].text != "reply" {
					t.Errorf("the reply did not come before what is tidied up: %q", w.platform.texts("telegram:1"))
				}
			})
		})
	}
}

// TestLiveEditErrors checks that a live message that a person deleted stays
// deleted until the next one, and that a rejected edit is not repeated all the
// time.
func TestLiveEditErrors(t *testing.T) {
	for _, c := range []struct {
		reason error
		most   int
	}{{bot.ErrMessageGone, 1}, {bot.ErrRejected, 61}, {bot.ErrChatClosed, 1}} {
		t.Run(c.reason.Error(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				s := &status{text: "now", clock: true, ticking: true}
				w.o.Live = s
				calls := 0
				w.platform.setScript(func(_ context.Context, kind, _, _ string) (bool, error) {
					if kind == "edit" {
						calls++
						return false, &bot.SendError{Reason: c.reason}
					}
					return true, nil
				})
				w.start()
				w.commit(out("1", "status/shop", "now", ledger.ClassChatter))
				w.advance(time.Hour)
				if calls < 1 || calls > c.most {
					t.Errorf("%d calls in an hour, want 1 to %d", calls, c.most)
				}
			})
		})
	}
}

// TestRepliesOvertakeLiveEdits checks that replies overtake edits of live
// messages even if the platform is slow.
func TestRepliesOvertakeLiveEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := &status{text: "now", clock: true, ticking: true}
		w.o.Live = s
		w.start()
		w.commit(out("-1", "status/shop", "now", ledger.ClassChatter))
		w.advance(2 * time.Minute)
		w.platform.setScript(func(_ context.Context, kind, _, _ string) (bool, error) {
			if kind == "edit" {
				w.platform.setScript(nil)
				return false, &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: time.Minute}
			}
			return true, nil
		})
		w.advance(time.Minute)
		w.dispatcher.RefreshLive("status/shop")
		before := len(w.platform.arrived)
		w.commit(out("-1", "", "reply", ledger.ClassReply))
		for len(w.platform.texts("telegram:-1")) == 1 {
			w.advance(time.Second)
		}
		if w.platform.arrived[before] != "send" {
			t.Errorf("an edit came before the reply: %q", w.platform.arrived[before:])
		}
	})
}

// TestPinLiveMessage checks that the newest live message is pinned. If pinning
// is not permitted, it delays no other call, and the same message is not tried
// again.
func TestPinLiveMessage(t *testing.T) {
	for _, refused := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.o.Live = &status{text: "now", ticking: true}
			tries := 0
			w.platform.setScript(func(_ context.Context, kind, _, _ string) (bool, error) {
				if kind != "pin" {
					return true, nil
				}
				if tries++; refused {
					return false, &bot.SendError{Reason: bot.ErrRejected, Text: "not enough rights to pin a message"}
				}
				return true, nil
			})
			w.start()
			w.commit(out("1", "status/shop", "now", ledger.ClassChatter))
			w.advance(time.Minute)
			w.commit(out("1", "status/shop", "now", ledger.ClassChatter), out("1", "", "reply", ledger.ClassReply))
			w.advance(time.Minute)
			got := w.platform.messages("telegram:1")
			if tries != 2 || len(got) != 3 || got[0].pinned == refused || got[1].pinned == refused || got[2].pinned {
				t.Errorf("refused %v: %d tries, %+v", refused, tries, got)
			}
		})
	}
}
