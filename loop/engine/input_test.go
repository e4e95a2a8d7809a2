package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

const mira = "telegram:48213377"

func saying(text string) func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
	return func(a ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
		return []ledger.Outgoing{{Chat: mira, Class: ledger.ClassReply, Body: []byte(text + ": " + a.Text)}}, &ledger.Cursor{Name: "telegram:1", Value: "8124"}
	}
}

// queued returns the bodies of the messages queued for a chat.
func (w *world) queued() []string {
	w.t.Helper()
	all, err := w.ledger.Queued(w.t.Context(), mira)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, m := range all {
		out = append(out, string(m.Body))
	}
	return out
}

// TestReplyIsCommittedWithItsEffect checks that reply, notices and cursor are
// in one transaction with the decision, and are committed once however often
// the input comes.
func TestReplyIsCommittedWithItsEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		w.stop()
		w.compose = func(_ loop.State, d loop.Decision, _ loop.Input) []ledger.Outgoing {
			return []ledger.Outgoing{{Chat: mira, Class: ledger.ClassNotice, Body: []byte("told of " + d.Entries[len(d.Entries)-1].Body.EntryType())}}
		}
		w.open()
		in := loop.Input{Key: "telegram:8123", Project: "p", Actor: mira, Name: "Mira", Body: loop.Guide{Text: "Keep it small"}}
		for range 5 {
			a, err := w.engine.DoWith(t.Context(), in, saying("reply"))
			if err != nil || a.ID != "g1" {
				t.Fatalf("%+v, %v", a, err)
			}
			w.restart()
		}
		want := []string{"reply: g1 queued → the next run", "told of guidance.queued"}
		if diff := cmp.Diff(want, w.queued()); diff != "" {
			t.Error(diff)
		}
		c, ok, err := w.ledger.Cursor(t.Context(), "telegram:1")
		if err != nil || !ok || c.Value != "8124" {
			t.Errorf("cursor %+v %v %v", c, ok, err)
		}
		if diff := cmp.Diff([][]string{{mira}}, w.woken); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSharedInput checks that paired people belong to no project, and that they
// are the same after a restart.
func TestSharedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		do := func(in loop.Input) ledger.Answer {
			t.Helper()
			a, err := w.engine.Do(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		do(loop.Input{Key: "pair", Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleAdmin}})
		if a := do(loop.Input{Key: "telegram:1", Actor: mira, Name: "Mira", Body: people.TryPairing{Hash: "h"}}); a.Code != "paired" {
			t.Fatalf("%+v", a)
		}
		w.restart()
		if p, ok := w.engine.Shared().Person(mira); !ok || p.Role != ledger.RoleAdmin {
			t.Errorf("after a restart: %+v %v", p, ok)
		}
		if names := w.engine.Projects(); len(names) > 0 {
			t.Errorf("the shared state has become a project: %q", names)
		}
	})
}

// TestPairingEndsByItself checks that an unused code expires, and that the
// ledger records this without any project.
func TestPairingEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		if _, err := w.engine.Do(t.Context(), loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleView}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(people.PairingTime)
		synctest.Wait()
		if p := w.engine.Shared().Pairing; p != nil {
			t.Errorf("still open: %+v", p)
		}
	})
}

// TestOfferedRunOpensItsAdapters checks that the answer to an offer starts a
// run in a project that has had none.
func TestOfferedRunOpensItsAdapters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		ask, err := w.engine.Do(t.Context(), loop.Input{Project: "p", Actor: mira, Body: loop.OfferRun{Settings: settings(), Tasks: 2}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := w.engine.Do(t.Context(), loop.Input{Project: "p", Actor: mira, Body: loop.AnswerQuestion{Question: ask.ID, Choice: "start"}})
		if err != nil || !strings.Contains(a.Text, "r1 starts") {
			t.Fatalf("%+v, %v", a, err)
		}
		synctest.Wait()
		if s, _ := w.engine.State("p"); s.Project.Run.Ended.Reason != ledger.ReasonDone {
			t.Errorf("ended: %+v", s.Project.Run.Ended)
		}
	})
}

// TestSaidOnce checks that an input that at first only got a reply is not
// carried out when it is delivered again, even if it now could be.
func TestSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		say := func() {
			t.Helper()
			m := []ledger.Outgoing{{Chat: mira, Class: ledger.ClassChatter, Body: []byte("status")}}
			if err := w.engine.Say(t.Context(), "telegram:8123", time.Now(), m, &ledger.Cursor{Name: "telegram:1", Value: "8124"}); err != nil {
				t.Fatal(err)
			}
		}
		say()
		say()
		a, err := w.engine.DoWith(t.Context(), loop.Input{Key: "telegram:8123", Project: "p", Actor: mira, Body: loop.Guide{Text: "x"}}, saying("reply"))
		if err != nil || !a.OK {
			t.Errorf("%+v, %v", a, err)
		}
		if diff := cmp.Diff([]string{"status"}, w.queued()); diff != "" {
			t.Error(diff)
		}
		if s, ok := w.engine.State("p"); ok && len(s.Project.Guidance.Items) > 0 {
			t.Errorf("it was carried out after all: %+v", s.Project.Guidance)
		}
	})
}
