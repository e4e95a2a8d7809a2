package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// reply sends a person's reply to a message of their own chat.
func (w *fixture) reply(who string, to *shown, text string) {
	w.t.Helper()
	w.receive(bot.Inbound{Actor: who, Chat: who, Private: true, Text: text, ReplyTo: to.id, Message: w.message()})
}

// TestLateAnswerInWords checks that an answer in words that comes too late is shown to
// its sender as it was typed, and that its button hands on the same words.
func TestLateAnswerInWords(t *testing.T) {
	const words = "Orders_V2, and letters to `PO boxes`"
	w := newFixture(t)
	w.showQuestion("q2")
	w.press(ana, ana, w.newestWithKey(ana, "q2"), "A")
	w.reply(mira, w.newestWithKey(mira, "q2"), words)
	late := w.newest(mira)
	if late.m.Key != "press.second" || !strings.Contains(chattest.Screen(late.m), "┃ Orders_V2, and letters to") {
		t.Errorf("the words are not there:\n%s", chattest.Screen(late.m))
	}
	w.press(mira, mira, late, "Overrule")
	items := w.state().Project.Guidance.Items
	if len(items) == 0 || items[len(items)-1].Text != words {
		t.Errorf("overruled with %+v, want %q", items, words)
	}
}

// TestAnswerToExpired checks that an answer to an expired question reaches its task as it
// was typed, and that its receipt shows the same words.
func TestAnswerToExpired(t *testing.T) {
	for text, want := range map[string]string{
		"Orders_V2 is its name":   "Orders_V2 is its name",
		"Orders_V2":               "Orders_V2",
		"A man should look at it": "A man should look at it",
		"a":                       "Yes, letters only",
		"q2 a":                    "Yes, letters only",
		"ok":                      "", // agrees with what is done
		"yes":                     "",
	} {
		w := newFixture(t)
		w.showQuestion("q2")
		asked := w.newestWithKey(mira, "q2")
		w.commit(ledger.Entry{Time: w.now, Stream: ledger.ProjectStream("shop"), Run: w.state().Project.Run.ID, Task: "Task 3", Body: ledger.QuestionExpired{ID: "q2", Choice: "b", Then: "b"}})
		w.later.Add(int64(time.Minute))
		w = w.reopened()
		w.reply(mira, asked, text)
		said := w.newest(mira).m
		items := w.state().Project.Guidance.Items
		if want == "" {
			if len(items) > 0 || said.Key != "plain.settled" {
				t.Errorf("%q: %+v\n%s", text, items, chattest.Screen(said))
			}
			continue
		}
		if len(items) != 1 || !strings.HasSuffix(items[0].Text, ", answered late: "+want) {
			t.Errorf("%q: %+v", text, items)
		}
		if said.Key != "guidance.queued" || !strings.Contains(chattest.Screen(said), "┃ #3 "+want+"\n") {
			t.Errorf("%q is received as\n%s", text, chattest.Screen(said))
		}
	}
}

// TestAgreeingWithSettled checks that yes, no and a thumb in reply to a settled question
// say that it is settled, and that disagreeing in time offers to take the answer back.
func TestAgreeingWithSettled(t *testing.T) {
	w := newFixture(t)
	w.showQuestion("q2")
	w.press(ana, ana, w.newestWithKey(ana, "q2"), "A")
	asked := w.newestWithKey(mira, "q2")
	for _, text := range []string{"ok", "yes", "no", "👍", "a", "b"} {
		w.reply(mira, asked, text)
		if m := w.newest(mira).m; !strings.Contains(m.First(), "Ana was first: A") {
			t.Errorf("%q:\n%s", text, chattest.Screen(m))
		}
	}
	w.reply(mira, asked, "nein")
	w.press(mira, mira, w.newest(mira), "Undo")
	if _, open := w.state().Project.Question("q2"); !open {
		t.Errorf("Undo does nothing:\n%s", w.transcript(mira))
	}
	w.reply(mira, asked, "yes")
	w.later.Add(int64(2 * time.Minute))
	w.reply(ana, w.newestWithKey(ana, "q2"), "no")
	if m := w.newest(ana).m; len(m.Buttons) > 0 {
		t.Errorf("too late, and still:\n%s", chattest.Screen(m))
	}
	if n := w.entries("guidance.queued"); n != 0 {
		t.Errorf("%d became guidance", n)
	}
}

// TestUndoTooLate checks that an Undo which comes too late says so in one line and goes.
func TestUndoTooLate(t *testing.T) {
	w := newFixture(t)
	w.showQuestion("q1")
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Skip")
	settled, before := w.newestWithKey(mira, "q1"), len(w.shown[mira])
	w.later.Add(int64(2 * time.Minute))
	w.toasts = nil
	w.press(mira, mira, settled, "Undo")
	if len(w.shown[mira]) != before || len(w.toasts) != 1 || !strings.Contains(w.toasts[0], "an answer can be taken back for a minute") {
		t.Errorf("toasts %q\n%s", w.toasts, w.transcript(mira))
	}
	if len(settled.m.Buttons) > 0 {
		t.Errorf("a dead button stays:\n%s", chattest.Screen(settled.m))
	}
	w.private(mira, "q1 undo")
	if m := w.newest(mira).m; m.First() != "✗ q1 is settled since 23:17" {
		t.Errorf("typed:\n%s", chattest.Screen(m))
	}
}
