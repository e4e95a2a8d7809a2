package inbound_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
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

// TestQuietUntil checks that everybody sets the quiet hours of their own chat, also
// once, up to a moment, and that those of a group need an admin.
func TestQuietUntil(t *testing.T) {
	w := newFixture(t) // it is 23:10 or later, the configured hours are 23:00-07:00
	hours := func(chat string) ledger.Hours { return w.engine.Shared().QuietHours(chat, "23:00-07:00") }
	at := func(clock string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", "2026-11-20 "+clock, zone)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	w.private(ben, "/quiet until 9")
	w.private(ben, "/quiet")
	if got := w.newest(ben).m; got.First() != "✓ Quiet until 09:00" || !strings.Contains(got.Text(0), "Then quiet 23:00-07:00 as before.") || len(got.Buttons) != 1 {
		t.Errorf("%s", got.Text(0))
	}
	if h := hours(ben); !h.Has(at("08:59")) || h.Has(at("09:00")) || !h.Has(at("23:30")) {
		t.Errorf("hours %q", h)
	}
	w.press(ben, ben, w.newest(ben), "Ring again")
	if h := hours(ben); h.Has(at("08:59")) || !h.Has(at("06:59")) {
		t.Errorf("hours %q", h)
	}
	w.private(ana, "/quiet 22:00-06:00")
	w.private(ana, "/quiet bis 7:30 Uhr")
	if h := hours(ana); !h.Has(at("07:29")) || h.Has(at("07:30")) || !h.Has(at("22:30")) || h.Has(at("21:59")) {
		t.Errorf("hours %q", h)
	}
	w.receive(bot.Inbound{Actor: ana, Chat: group, Text: "/quiet off", Message: w.message()})
	if got := w.newest(group).m; got.Key != "cmd.forbidden" {
		t.Errorf("in a group: %s", got.Text(0))
	}
	w.receive(bot.Inbound{Actor: mira, Chat: group, Text: "/quiet until 9am", Message: w.message()})
	if !hours(group).Has(at("08:00")) {
		t.Errorf("by an admin: %s", w.newest(group).m.Text(0))
	}
	w.private(ana, "/quiet until later")
	if got := w.newest(ana).m; !strings.Contains(got.Text(0), "not a part of the") {
		t.Errorf("%s", got.Text(0))
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

// TestRetryOfDoneTask checks that /retry of a done task asks back, alone and among
// others.
func TestRetryOfDoneTask(t *testing.T) {
	w := newFixture(t)
	done, blocked := "", ""
	for _, x := range w.state().Project.Tasks.All() {
		switch x.Status {
		case ledger.Done:
			done = strings.TrimPrefix(ledger.ShortID(x.Task.ID), "#")
		case ledger.Blocked:
			blocked = strings.TrimPrefix(ledger.ShortID(x.Task.ID), "#")
		}
	}
	if done == "" || blocked == "" {
		t.Fatal("the night has no such tasks")
	}
	status := func(id string) ledger.Status {
		x, _ := bot.FindTask(w.state(), id)
		return x.Status
	}
	for _, line := range []string{"/retry " + done, "/retry " + blocked + " " + done} {
		w.private(mira, line)
		if m := w.newest(mira).m; m.Key != "cmd.again" || status(done) != ledger.Done || status(blocked) != ledger.Blocked {
			t.Errorf("%s: %s", line, m.Text(0))
		}
	}
	w.press(mira, mira, w.newest(mira), "Do it again")
	if status(done) == ledger.Done || status(blocked) == ledger.Blocked {
		t.Errorf("after the press: %s", w.transcript(mira))
	}
}

// TestNowOvertaken checks that the words of a /now have a receipt when their session
// ends before anybody answers.
func TestNowOvertaken(t *testing.T) {
	w := newFixture(t)
	w.private(mira, "/now Keep the old names")
	q := ledger.Question{}
	for _, x := range w.state().Project.Questions {
		if x.Kind == ledger.AskNow {
			q = x
		}
	}
	if q.ID == "" {
		t.Fatalf("nothing is asked:\n%s", w.transcript(mira))
	}
	w.later.Store(int64(q.Expires.Add(time.Minute).Sub(w.now)))
	if _, err := w.engine.Do(t.Context(), loop.Input{Time: w.clock(), Actor: "daemon", Project: "shop", Body: loop.Tick{}}); err != nil {
		t.Fatal(err)
	}
	w.deliver()
	items := w.state().Project.Guidance.Items
	if len(items) == 0 {
		t.Fatal("the words are queued nowhere")
	}
	id := items[len(items)-1].ID
	if got := w.newestWithKey(mira, id).m; !strings.Contains(got.First(), fmt.Sprintf("%s queued", id)) || !strings.Contains(got.Text(0), "Keep the old names") {
		t.Errorf("%s", got.Text(0))
	}
}
