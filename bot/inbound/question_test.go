package inbound_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestQuestions: the ways to answer a question, in time and late.
func TestQuestions(t *testing.T) {
	cases := map[string]string{}
	for _, c := range []struct {
		name   string
		do     func(w *fixture, q *shown)
		choice string // of the settled question, "" = still open
	}{
		{"typed", func(w *fixture, _ *shown) { w.private(mira, "q1 retry") }, "retry, Mira"},
		{"reply", func(w *fixture, q *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "retry", ReplyTo: q.id})
		}, "retry, Mira"},
		{"reply in words", func(w *fixture, q *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "guide Refund by line", ReplyTo: q.id})
		}, "guide Refund by line, Mira"},
		{"pressed", func(w *fixture, q *shown) { w.press(mira, mira, q, "Skip") }, "skip, Mira"},
		{"pressed for words", func(w *fixture, q *shown) {
			w.press(mira, mira, q, "Guide…")
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "Refund by line", ReplyTo: w.newest(mira).id, Message: "900"})
		}, "guide Refund by line, Mira"},
		{"a command in a reply", func(w *fixture, q *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "/tasks", ReplyTo: q.id})
		}, ""},
		{"a misspelt choice", func(w *fixture, q *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "rtry", ReplyTo: q.id})
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.showQuestion("q1")
			c.do(w, w.newestWithKey(mira, "q1"))
			got := ""
			for _, s := range w.state().Project.Answered {
				if s.ID == "q1" {
					got = s.Text
				}
			}
			if got != c.choice {
				t.Errorf("q1 is settled as %q, want %q", got, c.choice)
			}
			answers := slices.DeleteFunc(slices.Clone(w.newestWithKey(ana, "q1").m.Buttons), func(b bot.Button) bool { return b.Command == "q1 undo" })
			if c.choice != "" && len(answers) > 0 {
				t.Errorf("Ana still has buttons:\n%s", w.transcript(ana))
			}
			cases[c.name] = w.transcript(mira) + strings.Join(w.toasts, "\n")
		})
	}
	golden.Sections(t, "questions", cases)
}

// TestLatePresses: buttons whose subject is over.
func TestLatePresses(t *testing.T) {
	w := newFixture(t)
	w.showQuestion("q1")
	old := *w.newestWithKey(ana, "q1")
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Retry")
	w.press(ana, ana, &old, "Skip")
	w.pressData(mira, mira, "5001", "9.q1.retry.ffff")
	w.pressData(mira, mira, "none", "1.@2.ffff")
	w.queue(mira, "r0", bot.Message{Key: "run.started", Project: "shop", Lines: []bot.Line{{Text: "● shop r0 started"}, {Text: "Works alone from here."}}, Buttons: []bot.Button{{Label: "Stop", Command: "/stop"}, {Label: "Log", Command: "/log"}}})
	s := w.newest(mira)
	w.press(mira, mira, s, "Stop")
	if r := w.state().Project.Run; r.State != ledger.RunRunning {
		t.Errorf("a button of r0 made r1 %s", r.State)
	}
	if len(s.m.Buttons) > 0 {
		t.Error("a dead button stays")
	}
	golden.Compare(t, "late-presses.txt", strings.Join(w.toasts, "\n")+"\n")
	if n := w.entries("question.answered"); n != 1 {
		t.Errorf("q1 was answered %d times", n)
	}
}

// TestUndo: its button takes an answer back and reopens the question in every
// chat; a second press says so.
func TestUndo(t *testing.T) {
	w := newFixture(t)
	w.showQuestion("q1")
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Skip")
	if got, _ := w.state().Project.Find("Task 2"); got.Status != ledger.Skipped {
		t.Fatalf("it is %s", got.Status)
	}
	settled := *w.newestWithKey(mira, "q1")
	w.press(mira, mira, &settled, "Undo")
	if got, _ := w.state().Project.Find("Task 2"); got.Status != ledger.Blocked || got.Question != "q1" {
		t.Errorf("taken back: %s %q", got.Status, got.Question)
	}
	for _, who := range []string{mira, ana} {
		if b := w.newestWithKey(who, "q1").m.Buttons; len(b) == 0 || b[0].Command != "q1 retry" {
			t.Errorf("%s has %v", who, b)
		}
	}
	w.press(mira, mira, &settled, "Undo")
	if got, _ := w.state().Project.Find("Task 2"); got.Status != ledger.Blocked {
		t.Errorf("pressed again: %s", got.Status)
	}
}

// TestUndoSkip: Undo of a skip restores the dependents that were skipped too,
// and every message about them says so.
func TestUndoSkip(t *testing.T) {
	w := newFixture(t)
	w.showQuestion("q1")
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Skip")
	w.press(ana, ana, w.newestWithKey(ana, "q3"), "Skip")
	status := func(id string) ledger.Status { t, _ := w.state().Project.Find(id); return t.Status }
	if status("Task 2") != ledger.Skipped || status("Task 6") != ledger.Skipped {
		t.Fatalf("they are %s and %s", status("Task 2"), status("Task 6"))
	}
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Undo")
	if status("Task 2") != ledger.Blocked || status("Task 6") != ledger.Pending {
		t.Errorf("taken back: %s and %s", status("Task 2"), status("Task 6"))
	}
	for _, who := range []string{mira, ana} {
		if got := w.newestWithKey(who, "q3").m; got.First() != "↻ q3 taken back with q1 · 23:17" || len(got.Buttons) > 0 {
			t.Errorf("%s reads of q3:\n%s", who, chattest.Screen(got))
		}
	}
	golden.Compare(t, "undo-skip.txt", w.transcript(mira))
}
