package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLateLooks checks that ten looks that were typed in an outage get one answer, and
// that another look, and one that is typed afterwards, gets its own.
func TestLateLooks(t *testing.T) {
	w := newFixture(t)
	late := func(text string, ago time.Duration) {
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Message: w.message(), Sent: w.now.Add(-ago)})
	}
	for n := range 10 {
		late("/tasks", 11*time.Minute-time.Duration(n)*time.Minute)
	}
	if n := len(w.shown[mira]); n != 1 {
		t.Errorf("ten looks got %d answers:\n%s", n, w.transcript(mira))
	}
	if s := w.newest(mira); s.class != ledger.ClassLook || s.m.Look != "/tasks" {
		t.Errorf("delivery cannot tell that later looks say the same: %s, %q", s.class, s.m.Look)
	}
	late("/queue", 5*time.Minute)
	late("/tasks", 0)
	if n := len(w.shown[mira]); n != 3 {
		t.Errorf("%d answers:\n%s", n, w.transcript(mira))
	}
	late("/guidance Wrap it", 5*time.Minute)
	late("/guidance Wrap it", 4*time.Minute)
	if n := w.entries("guidance.queued"); n != 2 {
		t.Errorf("what changes something was taken %d times", n)
	}
}

// TestReplyToWaitingStatus checks that a reply to a live status that waits for a
// question is asked about: as guidance it would go to another task.
func TestReplyToWaitingStatus(t *testing.T) {
	w := newFixture(t)
	w.commit(ledger.Entry{Time: w.now, Stream: ledger.ProjectStream("shop"), Run: w.state().Project.Run.ID, Body: ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitQuestion}})
	w = w.reopened()
	w.queue(mira, bot.LiveKey("shop"), bot.Status(w.state(), w.now))
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "Letters only", ReplyTo: w.newest(mira).id, Message: w.message()})
	m := w.newest(mira).m
	if m.Key != "cmd.unclear" || w.entries("guidance.queued") != 0 || w.entries("question.answered") != 0 {
		t.Fatalf("%s", w.transcript(mira))
	}
	if last := m.Buttons[len(m.Buttons)-1]; last.Command != "shop: /guidance Letters only" || !strings.HasSuffix(m.Buttons[0].Command, " Letters only") {
		t.Errorf("%+v", m.Buttons)
	}
	w.press(mira, mira, w.newest(mira), "Guidance")
	if n := w.entries("guidance.queued"); n != 1 {
		t.Errorf("%d items after the press:\n%s", n, w.transcript(mira))
	}
}
