package inbound_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSpentButtons: a button whose command can do nothing any more does nothing, says so
// in one line, and goes. The others of its message stay.
func TestSpentButtons(t *testing.T) {
	for _, c := range []struct {
		name, command string
		before        func(w *fixture)
		toast         string
	}{
		{"start", "/run shop", nil, "shop runs already: r1"},
		{"retry", "/retry 1", nil, "#1 is done already"},
		{"skip", "/skip 1", nil, "#1 is done already"},
		{"skip of what is at work", "/skip 4", nil, "#4 is at work"},
		{"run next", "/next 1", nil, "#1 is done already"},
		{"keep going", "/resume", nil, "shop is at work already"},
		{"pause", "/pause", func(w *fixture) { w.private(mira, "/pause") }, "shop pauses already"},
		{"stop", "/stop", func(w *fixture) { w.private(mira, "/stop") }, "shop ends already"},
		{"drop", "/drop g1", func(w *fixture) { w.private(mira, "Wrap the code"); w.private(mira, "/drop g1") }, "g1 is dropped already"},
		{"not guidance", "g1 not guidance", func(w *fixture) { w.private(mira, "Wrap the code"); w.private(mira, "/drop g1") }, "g1 is dropped already"},
		{"keep", "g1 keep", func(w *fixture) { w.private(mira, "Wrap the code") }, "g1 is queued already"},
		{"answer", "q1 retry", func(w *fixture) { w.private(mira, "q1 skip") }, "q1 is settled: Skip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			if c.before != nil {
				c.before(w)
			}
			w.queue(mira, "digest/d/shop", bot.Message{Key: "digest", Project: "shop", Lines: []bot.Line{{Text: "✓ shop 1/5 done"}, {Text: "Goes on by itself."}}, Buttons: []bot.Button{{Label: "Spent", Command: c.command}, {Label: "Tasks", Command: "/tasks"}}})
			offer, messages, state := w.newest(mira), len(w.shown[mira]), w.state().Project.Run.State
			w.press(mira, mira, offer, "Spent")
			if n := len(w.shown[mira]); n != messages {
				t.Errorf("the press brought a message:\n%s", w.transcript(mira))
			}
			if len(w.toasts) == 0 || !strings.Contains(w.toasts[len(w.toasts)-1], c.toast) {
				t.Errorf("the press says %q, want %q", w.toasts, c.toast)
			}
			if len(offer.m.Buttons) != 1 || offer.m.Buttons[0].Label != "Tasks" {
				t.Errorf("afterwards:\n%s", chattest.Screen(offer.m))
			}
			if now := w.state().Project.Run.State; now != state {
				t.Errorf("the press made the run %s", now)
			}
		})
	}
}

// TestSpentReply: the buttons of a reply go, too.
func TestSpentReply(t *testing.T) {
	w := newFixture(t)
	w.private(mira, "/task 2")
	card := w.newest(mira)
	w.private(mira, "/skip 2")
	w.press(mira, mira, card, "Skip")
	for _, b := range card.m.Buttons {
		if b.Label == "Skip" {
			t.Errorf("the button stays:\n%s", chattest.Screen(card.m))
		}
	}
	if task, _ := w.state().Project.Find("Task 2"); task.Status != ledger.Skipped {
		t.Errorf("Task 2 is %s", task.Status)
	}
}
