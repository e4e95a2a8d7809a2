package inbound_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestViewAnswersNothing checks that a person with RoleView cannot answer a
// question with a line whose task id is an answer.
func TestViewAnswersNothing(t *testing.T) {
	for _, line := range []string{"/answer 8", "/answer #letters_only", "/answer NO-1", "/answer_8", "shop: /answer #yes", "/answer Task 3"} {
		w := newWorld(t)
		w.private(mira, "q1 retry") // q2, the agent's question, is then the only open one
		before := w.entries("question.answered")
		w.private(ben, line)
		if n := w.entries("question.answered") - before; n != 0 {
			t.Errorf("%s, whose role is view, answered with %q:\n%s", "Ben", line, w.transcript(ben))
		}
	}
}

// TestSecondPress checks that Ana's chat shows the outcome of a question if she
// presses after Mira, before her phone shows Mira's answer.
func TestSecondPress(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	q := w.newestWithKey(ana, "q1")
	w.held = ana
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Retry")
	w.press(ana, ana, q, "Skip")
	w.held = ""
	w.deliver()
	if got := q.m.First(); !strings.HasPrefix(got, "✓ q1 Retry, by Mira") {
		t.Errorf("Ana's question says %q", got)
	}
	if last := w.toasts[len(w.toasts)-1]; last != "p1: Mira was first: Retry, 23:17. Nothing changed. To overrule: /skip 2" {
		t.Errorf("Ana is told %q", last)
	}
}

// TestOldCopy checks that a press of the first copy of a question leaves the
// second copy unchanged, after the question was repeated and settled.
func TestOldCopy(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	old := *w.newestWithKey(mira, "q1")
	w.showQuestion("q1")
	w.private(mira, "q1 retry")
	w.press(mira, mira, &old, "Skip")
	w.pressData(mira, mira, old.id, "9.q1.skip.ffff")
	if got := w.newestWithKey(mira, "q1").m.First(); !strings.HasPrefix(got, "✓ q1 retry, by Mira") && !strings.HasPrefix(got, "✓ q1 Retry, by Mira") {
		t.Errorf("the second copy says %q", got)
	}
}

// TestLivePress checks that the buttons of the live status work although its
// edits are not stored, and that a press of a removed button does not change
// the status.
func TestLivePress(t *testing.T) {
	w := newWorld(t)
	idle := bot.Message{Key: "status.idle", Project: "shop", Lines: []bot.Line{{Text: "○ shop idle · 23:00"}}, Buttons: []bot.Button{{Label: "Start", Command: "/run shop"}}}
	w.queue(mira, bot.LiveKey("shop"), idle)
	live := w.newest(mira)
	now := bot.Message{Key: "status.running", Buttons: []bot.Button{{Label: "Pause", Command: "/pause"}}}
	w.pressData(mira, mira, live.id, telegram.Data(now, 0))
	if r := w.state().Project.Run; r.State != ledger.RunPausing {
		t.Errorf("pressed Pause, the run is %s: %v", r.State, w.toasts)
	}
	w.pressData(mira, mira, live.id, "9.stop.ffff")
	if len(live.m.Buttons) == 0 {
		t.Error("the live status was replaced by what it said long ago")
	}
}

// TestTakenOut checks that a removed person gets no message of any kind.
func TestTakenOut(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	w.private(ana, "/guidance Keep the names")
	q, receipt := w.newestWithKey(ana, "q1"), w.newestWithKey(ana, "g1")
	before, _ := json.Marshal([]bot.Message{q.m, receipt.m})
	n := len(w.shown[ana])
	w.private(mira, "/unpair 5")
	w.private(mira, "q1 retry")
	w.private(mira, "/drop g1")
	after, _ := json.Marshal([]bot.Message{q.m, receipt.m})
	if len(w.shown[ana]) != n || string(before) != string(after) {
		t.Errorf("Ana was told:\n%s", w.transcript(ana))
	}
	w.press(ana, ana, q, "Skip")
	w.receive(bot.Inbound{Actor: ana, Chat: ana, Private: true, Text: "/guidance Other words", Message: "103", Edited: true})
	if len(w.shown[ana]) != n || w.entries("question.answered") != 1 || w.entries("guidance.changed") != 0 {
		t.Errorf("Ana did something:\n%s", w.transcript(ana))
	}
}

// TestPressFromNowhere checks that a press without its message is answered in
// the sender's private chat, and that the following inputs are handled.
func TestPressFromNowhere(t *testing.T) {
	w := newWorld(t)
	w.receive(bot.Inbound{Actor: mira, Press: "1./tasks.ffff", PressID: "p"})
	if got := w.newest(mira).m.Key; got != "tasks" {
		t.Errorf("Mira is told %q", got)
	}
	w.receive(bot.Inbound{Actor: mira, Press: "1.q1.guide.WORDS.ffff", PressID: "p"})
	w.receive(bot.Inbound{Actor: "telegram:99", Press: "1./stop.ffff", PressID: "p"})
}

// TestLastAdmin checks that the only admin who follows a pairing link meant for
// somebody else stays admin, and that the link stays valid.
func TestLastAdmin(t *testing.T) {
	w := newWorld(t)
	a, err := w.engine.Do(t.Context(), loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "hash of " + code, Role: ledger.RoleView}})
	if err != nil || !a.OK {
		t.Fatal(a, err)
	}
	w.private(mira, "/start "+code)
	if p, _ := w.state().Shared.Person(mira); p.Role != ledger.RoleAdmin {
		t.Errorf("Mira is %s, and nobody is admin", p.Role)
	}
	if got := w.newest(mira).m.First(); got != "○ Mira, you are paired as admin" {
		t.Errorf("Mira is told %q", got)
	}
	w.receive(bot.Inbound{Actor: "telegram:9", Name: "Lea", Chat: "telegram:9", Private: true, Text: "/start " + code, Message: "3"})
	if p, _ := w.state().Shared.Person("telegram:9"); p.Role != ledger.RoleView {
		t.Errorf("Lea is %q", p.Role)
	}
}

// TestLookHangs checks that a read that does not return delays no other
// command.
func TestLookHangs(t *testing.T) {
	w := newWorld(t)
	w.diffHangs, w.patience = true, 20*time.Millisecond
	w.r = inbound.New(w.options())
	w.private(ben, "/diff 1")
	if m := w.newest(ben).m; m.Key != "fault" {
		t.Errorf("the look says %q", m.First())
	}
	w.private(mira, "/stop")
	if r := w.state().Project.Run; r.State != ledger.RunStopping {
		t.Errorf("the run is %s", r.State)
	}
}

// TestWordsOfNobody checks that the placeholder in a button's command is never
// taken for text that a person typed, even if the button's message has changed
// or is unknown.
func TestWordsOfNobody(t *testing.T) {
	for _, twin := range []string{"/guidance NEW WORDS", "q1 guide WORDS", "/now YOUR WORDS"} {
		w := newWorld(t)
		w.queue(mira, "g7", bot.Message{Key: "guidance.addressed", Project: "shop", Lines: []bot.Line{{Text: "✓ g7 addressed · 23:10"}}})
		m := bot.Message{Key: "guidance.setaside", Buttons: []bot.Button{{Label: "Resend…", Command: twin}}}
		for _, message := range []string{w.newest(mira).id, "31"} {
			w.pressData(mira, mira, message, telegram.Data(m, 0))
			if got := w.newest(mira); !strings.HasPrefix(got.key, "words.") {
				t.Errorf("%s: Mira is told %q", twin, got.m.First())
			}
		}
		if n := w.entries("guidance.queued") + w.entries("question.asked") - 2; n != 0 {
			t.Errorf("%s: %d things were done", twin, n)
		}
	}
}

// TestPlaceholder: a button asks for text if it has a placeholder, not because of
// its label or of capitals that a person typed. Messages of earlier releases have
// no placeholder, but one of few labels.
func TestPlaceholder(t *testing.T) {
	for _, c := range []struct {
		button bot.Button
		asks   bool
	}{
		{bot.Button{Label: "Guide…", Command: "q1 guide WORDS", Placeholder: "WORDS"}, true},
		{bot.Button{Label: "Guide", Command: "q1 guide WORDS", Placeholder: "WORDS"}, true},
		{bot.Button{Label: "Guide…", Command: "q1 guide WORDS"}, true},
		{bot.Button{Label: "Resend…", Command: "/guidance NEW WORDS"}, true},
		{bot.Button{Label: "Use @refactor…", Command: "/guidance USE TLS"}, false},
		{bot.Button{Label: "shop", Command: "/guidance USE TLS"}, false},
	} {
		w := newWorld(t)
		w.queue(mira, "g7", bot.Message{Key: "guidance.setaside", Project: "shop", Lines: []bot.Line{{Text: "– g7 set aside · 23:10"}}, Buttons: []bot.Button{c.button}})
		before := w.entries("guidance.queued")
		w.press(mira, mira, w.newest(mira), c.button.Label)
		if got := strings.HasPrefix(w.newest(mira).key, "words."); got != c.asks {
			t.Errorf("%+v: asked %v: %q", c.button, got, w.newest(mira).m.First())
		}
		if queued := w.entries("guidance.queued") > before; queued == c.asks {
			t.Errorf("%+v: queued %v", c.button, queued)
		}
	}
}
