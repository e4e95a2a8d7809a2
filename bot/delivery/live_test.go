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

// status is a live message that bears a clock.
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

// A live message is edited every ten seconds at most, thirty in a group, with
// the newest text, and once a minute for its clock while a run is under way.
func TestLivePace(t *testing.T) {
	for _, c := range []struct {
		chat string
		gap  time.Duration
	}{{"1", 10 * time.Second}, {"-1", 30 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			s := &status{text: "start", ticking: true}
			w.o.Live = s
			w.begin()
			w.commit(out(c.chat, "status/shop", "start", ledger.ClassChatter))
			w.pass(30 * time.Second)
			for n := range 300 {
				s.set(fmt.Sprintf("step %d", n))
				w.post.RefreshLive("status/shop")
				w.pass(time.Second)
			}
			w.pass(time.Minute)
			m := w.far.messages("telegram:" + c.chat)[0]
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
			// No event any more: only the clock moves it, and without one nothing does.
			before := len(m.edits)
			w.pass(time.Hour)
			if len(m.edits) != before {
				t.Errorf("%s: the same text was sent %d times", c.chat, len(m.edits)-before)
			}
			s.mu.Lock()
			s.clock = true
			s.mu.Unlock()
			w.pass(time.Hour)
			if n := len(m.edits) - before; n < 59 || n > 61 {
				t.Errorf("%s: %d edits in an hour of a clock", c.chat, n)
			}
			s.mu.Lock()
			s.ticking = false
			s.mu.Unlock()
			w.pass(2 * time.Minute)
			before = len(m.edits)
			w.pass(time.Hour)
			if len(m.edits) != before {
				t.Errorf("%s: the clock went on without a run", c.chat)
			}
			if q := w.queued(); len(q) != 0 {
				t.Errorf("live edits are in the database: %q", q)
			}
		})
	}
}

// After a restart, what the outbox knows is kept up to date again.
func TestLiveAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := &status{text: "start", ticking: true}
		w.o.Live = s
		w.begin()
		w.commit(out("1", "status/shop", "start", ledger.ClassChatter))
		w.pass(time.Minute)
		w.restart()
		w.post.Show("telegram:1", "status/shop")
		w.post.Show("telegram:2", "status/shop") // shows nothing: no harm
		w.post.Show("slack:3", "status/shop")    // not ours
		w.pass(time.Minute)
		if m := w.far.messages("telegram:1")[0]; len(m.edits) != 0 {
			t.Errorf("the same text was sent again: %q", m.edits)
		}
		s.set("later")
		w.post.RefreshLive("status/shop")
		w.pass(time.Minute)
		if diff := cmp.Diff([]string{"later"}, w.far.messages("telegram:1")[0].edits); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A new status takes over: the old one is deleted, or says where it went.
func TestMovedDown(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		gone bool
		want []string
	}{
		{"deleted", nil, true, nil},
		{"too old", &bot.SendError{Fault: bot.FaultRefused, Text: "message can't be deleted"}, false, []string{"→ moved down"}},
		{"away at first", errAway, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				s := &status{text: "now", ticking: true}
				w.o.Live = s
				failed := false
				w.far.play(func(_ context.Context, kind, _, _ string) (bool, error) {
					if kind == "delete" && c.err != nil && !failed {
						failed = true
						return false, c.err
					}
					return true, nil
				})
				w.begin()
				w.commit(out("1", "status/shop", "now", ledger.ClassChatter))
				w.pass(time.Minute)
				w.commit(out("1", "status/shop", "now", ledger.ClassChatter), out("1", "", "reply", ledger.ClassReply))
				w.pass(time.Minute)
				s.set("later")
				w.post.RefreshLive("status/shop")
				w.pass(time.Minute)
				got := w.far.messages("telegram:1")
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
					t.Errorf("the reply did not come before what is tidied up: %q", w.far.texts("telegram:1"))
				}
			})
		})
	}
}

// A live message that a person deleted is left alone until the next one; one
// that the platform refuses is not tried all the time.
func TestLiveFaults(t *testing.T) {
	for _, c := range []struct {
		fault bot.Fault
		most  int
	}{{bot.FaultMessageGone, 1}, {bot.FaultRefused, 61}, {bot.FaultChatClosed, 1}} {
		t.Run(string(c.fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				s := &status{text: "now", clock: true, ticking: true}
				w.o.Live = s
				calls := 0
				w.far.play(func(_ context.Context, kind, _, _ string) (bool, error) {
					if kind == "edit" {
						calls++
						return false, &bot.SendError{Fault: c.fault}
					}
					return true, nil
				})
				w.begin()
				w.commit(out("1", "status/shop", "now", ledger.ClassChatter))
				w.pass(time.Hour)
				if calls < 1 || calls > c.most {
					t.Errorf("%d calls in an hour, want 1 to %d", calls, c.most)
				}
			})
		})
	}
}

// Replies overtake live messages, also where the platform is slow.
func TestRepliesBeforeLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := &status{text: "now", clock: true, ticking: true}
		w.o.Live = s
		w.begin()
		w.commit(out("-1", "status/shop", "now", ledger.ClassChatter))
		w.pass(2 * time.Minute)
		w.far.play(func(_ context.Context, kind, _, _ string) (bool, error) {
			if kind == "edit" {
				w.far.play(nil)
				return false, &bot.SendError{Fault: bot.FaultRateLimited, After: time.Minute}
			}
			return true, nil
		})
		w.pass(time.Minute)
		w.post.RefreshLive("status/shop")
		before := len(w.far.done)
		w.commit(out("-1", "", "reply", ledger.ClassReply))
		for len(w.far.texts("telegram:-1")) == 1 {
			w.pass(time.Second)
		}
		if w.far.done[before] != "send" {
			t.Errorf("an edit came before the reply: %q", w.far.done[before:])
		}
	})
}

// The newest live message stands above its chat; where that is not let, nothing
// else is held up, and it is not tried again for the same one.
func TestPinned(t *testing.T) {
	for _, refused := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.o.Live = &status{text: "now", ticking: true}
			tries := 0
			w.far.play(func(_ context.Context, kind, _, _ string) (bool, error) {
				if kind != "pin" {
					return true, nil
				}
				if tries++; refused {
					return false, &bot.SendError{Fault: bot.FaultRefused, Text: "not enough rights to pin a message"}
				}
				return true, nil
			})
			w.begin()
			w.commit(out("1", "status/shop", "now", ledger.ClassChatter))
			w.pass(time.Minute)
			w.commit(out("1", "status/shop", "now", ledger.ClassChatter), out("1", "", "reply", ledger.ClassReply))
			w.pass(time.Minute)
			got := w.far.messages("telegram:1")
			if tries != 2 || len(got) != 3 || got[0].pinned == refused || got[1].pinned == refused || got[2].pinned {
				t.Errorf("refused %v: %d tries, %+v", refused, tries, got)
			}
		})
	}
}
