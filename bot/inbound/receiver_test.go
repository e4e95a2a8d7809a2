package inbound_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// TestRedelivery: an input delivered five times has its effect and its reply once,
// also if the state has changed in between.
func TestRedelivery(t *testing.T) {
	for _, line := range []string{"/guidance Wrap it", "Wrap it", "/pause", "/status", "/tasks", "q1 retry", "/skip 3 6", "/frob", "/now Keep names", "/drop g9", "/run", "/guidance"} {
		w := newFixture(t)
		in := w.private(mira, line)
		n, records := len(w.shown[mira]), w.entries("guidance.queued")+w.entries("question.answered")+w.entries("run.state")+w.entries("task.set")
		for range 4 {
			w.redeliver(in)
		}
		w.private(mira, "/tasks") // something else in between
		in2 := in
		in2.Cursor = &ledger.Cursor{Name: "telegram:1", Value: fmt.Sprint(w.update + 1)}
		if err := w.r.Receive(t.Context(), in2); err != nil {
			t.Error(err)
		}
		w.deliver()
		if got := len(w.shown[mira]); got != n+1 {
			t.Errorf("%s: %d messages after six deliveries, want %d:\n%s", line, got-1, n, w.transcript(mira))
		}
		if got := w.entries("guidance.queued") + w.entries("question.answered") + w.entries("run.state") + w.entries("task.set"); got != records {
			t.Errorf("%s was done again: %d entries, then %d", line, records, got)
		}
	}
}

// TestLate: inputs sent while nightporter was off.
func TestLate(t *testing.T) {
	for _, c := range []struct {
		line     string
		ago      time.Duration
		deferred ledger.DeferredCommand // asked about; "" = done or refused at once
	}{
		{"/stop", 150 * time.Minute, ledger.DeferStop}, {"/stop now", 2 * time.Hour, ledger.DeferStopNow}, {"/pause", time.Hour, ledger.DeferPause},
		{"/pause now", 3 * time.Hour, ledger.DeferPauseNow}, {"/resume", 24 * time.Hour, ledger.DeferResume}, {"shop: /stop", 2 * time.Hour, ledger.DeferStop},
		{"/now", 2 * time.Hour, ledger.DeferNow}, {"/now Keep names", 2 * time.Hour, ""}, {"/now", time.Minute, ""},
		{"/stop", 59 * time.Minute, ""}, {"/status", 3 * time.Hour, ""}, {"q1 retry", 3 * time.Hour, ""}, {"/skip 6", 3 * time.Hour, ""},
	} {
		w := newFixture(t)
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: c.line, Message: "3", Sent: w.now.Add(-c.ago)})
		var got ledger.DeferredCommand
		for _, q := range w.state().Project.Questions {
			if q.Kind == ledger.AskLate {
				got = q.Do
			}
		}
		if got != c.deferred {
			t.Errorf("%s from %s ago: asked about %q, want %q", c.line, c.ago, got, c.deferred)
		}
		if c.deferred != "" && w.state().Project.Run.State != ledger.RunRunning {
			t.Errorf("%s from %s ago was done", c.line, c.ago)
		}
	}
	w := newFixture(t)
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "/stop", Message: "3", Sent: w.now.Add(-150 * time.Minute)})
	w.press(mira, mira, w.newest(mira), "Stop")
	if r := w.state().Project.Run; r.State != ledger.RunStopping {
		t.Errorf("said yes to, the run is %s", r.State)
	}
	golden.Compare(t, "late.txt", w.transcript(mira))
}

// TestCommitFails: an input that cannot be committed is delivered again; one
// that can never be decided is put aside in the end.
func TestCommitFails(t *testing.T) {
	w := newFixture(t)
	fault := errors.New("the database is locked")
	w.decideErr = func(loop.Input) error { return fault }
	in := bot.Inbound{Key: "telegram:1", Cursor: &ledger.Cursor{Name: "telegram:1", Value: "2"}, Actor: mira, Chat: mira, Private: true, Text: "/pause", Message: "1", Sent: w.now}
	for n := range 2 {
		if err := w.r.Receive(t.Context(), in); !errors.Is(err, fault) {
			t.Fatalf("delivery %d: %v", n, err)
		}
	}
	if _, ok, _ := w.store.Cursor(t.Context(), "telegram:1"); ok {
		t.Error("the cursor moved without the effect")
	}
	w.redeliver(in)
	golden.Compare(t, "fault.txt", w.transcript(mira))
	w.decideErr = nil
	w.redeliver(in)
	if r := w.state().Project.Run; r.State != ledger.RunRunning || len(w.shown[mira]) != 1 {
		t.Errorf("what was put away was done: %s", r.State)
	}

	w.decideErr = func(loop.Input) error { return fmt.Errorf("not saved: %w", store.ErrDisk) } // and there is space for less, such as a reply
	in.Key, in.Cursor.Value = "telegram:3", "3"
	for n := range 5 {
		if err := w.r.Receive(t.Context(), in); !errors.Is(err, store.ErrDisk) {
			t.Fatalf("delivery %d with a full disk: %v", n, err)
		}
	}
	w.decideErr = nil

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in.Key, in.Cursor.Value = "telegram:2", "3"
	for range 5 {
		if err := w.r.Receive(ctx, in); err == nil {
			t.Fatal("a nightporter that stops took something")
		}
	}
	w.redeliver(in)
	if r := w.state().Project.Run; r.State != ledger.RunPausing {
		t.Errorf("after all, the run is %s", r.State)
	}

	w.update, w.diffErr = 2, errors.New("git: exit 128")
	w.private(mira, "/diff 1")
	if m := w.newest(mira).m; m.Key != "fault" {
		t.Errorf("a look that fails says %q", m.First())
	}
}

// TestReplyOnce: an input that only got a reply at first is not carried out when
// it is delivered again, even if it now could be.
func TestReplyOnce(t *testing.T) {
	w := newFixture(t)
	in := w.private(mira, "/drop g1") // there is none
	w.private(ana, "Wrap it")
	in.Cursor = &ledger.Cursor{Name: "telegram:1", Value: fmt.Sprint(w.update + 1)}
	if err := w.r.Receive(t.Context(), in); err != nil {
		t.Error(err)
	}
	w.deliver()
	if i, _ := w.state().Project.Guidance.Get("g1"); i.State != guidance.Queued || len(w.shown[mira]) != 1 {
		t.Errorf("delivered again, it dropped what had not been there: %s, %d answers", i.State, len(w.shown[mira]))
	}
}

// TestRestart checks that a stop between the commit and the acknowledgement to
// the platform repeats no effect.
func TestRestart(t *testing.T) {
	w := newFixture(t)
	in := w.private(mira, "/guidance Wrap it")
	w.r = inbound.New(w.options())
	w.redeliver(in)
	if n := w.entries("guidance.queued"); n != 1 || len(w.shown[mira]) != 1 {
		t.Errorf("queued %d times, answered %d times", n, len(w.shown[mira]))
	}
}

// TestHostileInputs checks that every input of a paired person is handled, and that
// every message keeps its form.
func TestHostileInputs(t *testing.T) {
	w := newFixture(t)
	w.showQuestion("q1")
	nasty := "\x1b[2J\u202e<b>&*x*\n\r✓ #9 done \xff\xfe\x00" + strings.Repeat("日本語 ", 7000)
	for _, text := range []string{nasty, "/" + nasty, "/guidance " + nasty, "/guidance @" + nasty, "q1 " + nasty, "q1 guide " + nasty, "/task " + nasty, "/run " + nasty, nasty + ": /stop", "/unpair " + nasty, "/pair " + nasty, "\x00", "\n/pause now now", "/pause\nnow what", "/start@" + nasty} {
		w.private(mira, text)
		w.receive(bot.Inbound{Actor: mira, Name: nasty, Chat: group, Text: text, ReplyTo: w.newestWithKey(mira, "q1").id, Message: nasty[:40]})
		w.receive(bot.Inbound{Actor: mira, Name: nasty, Chat: mira, Private: true, Text: text, ReplyTo: w.newestWithKey(mira, "q1").id, Message: "7"})
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Edited: true, Message: "7"})
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Media: true, Message: "7"})
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Press: text, PressID: "p", Message: w.newest(mira).id})
		w.receive(bot.Inbound{Actor: "telegram:66", Name: nasty, Chat: "telegram:66", Private: true, Text: text})
	}
	for _, data := range []string{"", "1", "1.", "1..", "1.@", "1.@99999999999999999999.aaaa", "1.@0.aaaa", "1./stop now.aaaa.aaaa", strings.Repeat("1.", 5000)} {
		if data != "" {
			w.pressData(mira, mira, w.newestWithKey(mira, "q1").id, data)
		}
	}
	for _, toast := range w.toasts {
		if _, text, _ := strings.Cut(toast, ": "); len([]rune(text)) > 200 || strings.ContainsAny(text, "\x00\x1b\n") {
			t.Errorf("a notice of %d characters: %q", len([]rune(text)), text)
		}
	}
	if r := w.state().Project.Run; r.State != ledger.RunRunning && r.State != ledger.RunPausing {
		t.Errorf("the run is %s", r.State)
	}
}

// TestOvertaking: an update that overtook another one is committed without a cursor, and
// its repetition commits that alone.
func TestOvertaking(t *testing.T) {
	w := newFixture(t)
	in := bot.Inbound{Key: "telegram:1:8", Actor: mira, Chat: mira, Private: true, Text: "Wrap the code", Message: "8", Sent: w.now}
	if err := w.r.Receive(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if c, found, err := w.store.Cursor(t.Context(), "telegram:1"); found || err != nil {
		t.Errorf("the cursor is %+v, %v", c, err)
	}
	in.Cursor, in.Repeated = &ledger.Cursor{Name: "telegram:1", Value: "9"}, true
	w.redeliver(in)
	if n := w.entries("guidance.queued"); n != 1 {
		t.Errorf("the words are queued %d times", n)
	}
}
