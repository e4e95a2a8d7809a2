package inbound_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestReactions: a thumb is an answer where yes would be one, shows the buttons where a
// press is needed, and is nothing elsewhere.
func TestReactions(t *testing.T) {
	react := func(w *fixture, who, text, to string) {
		t.Helper()
		w.receive(bot.Inbound{Actor: who, Chat: mira, Private: true, Text: text, Reaction: true, Message: to, ReplyTo: to})
	}
	w := newFixture(t)
	w.showQuestion("q1") // blocked
	w.showQuestion("q2") // an agent's
	w.private(mira, "/status")
	shown := len(w.shown[mira])
	for _, text := range []string{"👍", "❤️", ""} {
		react(w, mira, text, w.newest(mira).id)
	}
	react(w, mira, "🎉", w.newestWithKey(mira, "q2").id)
	react(w, "telegram:99", "👍", w.newestWithKey(mira, "q2").id)
	react(w, mira, "👍", "404")
	if n := len(w.shown[mira]); n != shown {
		t.Errorf("%d messages answer reactions without a meaning:\n%s", n-shown, w.transcript(mira))
	}
	react(w, mira, "👍", w.newestWithKey(mira, "q1").id)
	if m := w.newest(mira).m; m.Key != "plain.press" || w.entries("question.answered") != 0 {
		t.Errorf("a thumb on a blocked task: %s", m.Text(0))
	}
	react(w, ben, "👎", w.newestWithKey(mira, "q2").id)
	if n := w.entries("question.answered"); n != 0 {
		t.Error("who may only look answered")
	}
	react(w, mira, "👎", w.newestWithKey(mira, "q2").id)
	if a := w.state().Project.Answered; len(a) != 1 || a[0].Choice != "b" {
		t.Errorf("a thumb down on yes or no: %+v", a)
	}
}

// TestNotGuidance: the button takes plain words back and offers what they may have
// been meant as, once.
func TestNotGuidance(t *testing.T) {
	w := newFixture(t)
	w.private(mira, "status and then stop")
	w.press(mira, mira, w.newestWithKey(mira, "g1"), "Not guidance")
	if i, _ := w.state().Project.Guidance.Get("g1"); i.Open() {
		t.Errorf("g1 is %s", i.State)
	}
	m := w.newest(mira)
	want := []string{"/status", "/stop", "q2 status and then stop"}
	for n, b := range m.m.Buttons {
		if n >= len(want) || b.Command != want[n] {
			t.Errorf("button %d is %q", n, b.Command)
		}
	}
	w.press(mira, mira, m, "Stop")
	if r := w.state().Project.Run; r.State != ledger.RunStopping || len(w.newestWithKey(mira, m.key).m.Buttons) > 0 {
		t.Errorf("pressed: %s, %v", r.State, w.newestWithKey(mira, m.key).m.Buttons)
	}
	w.private(mira, "/guidance Keep it")
	if b := w.newestWithKey(mira, "g2").m.Buttons; len(b) != 2 || b[1].Label != "Now" {
		t.Errorf("words behind /guidance are asked about: %v", b)
	}
}

// TestPlainInGroups: in a project's thread commands are understood without a mention;
// what people say to each other is not for the bot.
func TestPlainInGroups(t *testing.T) {
	w := newFixture(t)
	o := w.options()
	o.ProjectOf = func(chat string) string {
		if chat == group {
			return "shop"
		}
		return ""
	}
	w.r = inbound.New(o)
	say := func(chat, text string, named bool) int {
		n := len(w.shown[chat])
		w.receive(bot.Inbound{Actor: mira, Chat: chat, Text: text, Named: named, Message: w.message()})
		return len(w.shown[chat]) - n
	}
	const other = "telegram:-1002"
	for _, c := range []struct {
		chat, text string
		named      bool
		want       int
	}{
		{group, "how is it going?", false, 1}, {group, "stop after this task", false, 1}, {group, "thanks", false, 0}, {group, "use B", false, 0},
		{group, "Wrap it, don't replace it", false, 0}, {group, "Wrap it, don't replace it", true, 1}, {group, "@night_porter_bot wie läuft's?", false, 1},
		{group, "@somebody wie läuft's?", false, 0}, {other, "stop", false, 0}, {other, "@Night_Porter_Bot, stop", false, 1},
	} {
		if got := say(c.chat, c.text, c.named); got != c.want {
			t.Errorf("%s: %q: %d messages, want %d\n%s", c.chat, c.text, got, c.want, w.transcript(c.chat))
		}
	}
	if r := w.state().Project.Run; r.State != ledger.RunRunning || w.entries("guidance.queued") != 1 {
		t.Errorf("the run is %s, %d guidance", r.State, w.entries("guidance.queued"))
	}
}
