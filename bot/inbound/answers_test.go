package inbound_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestQuickAnswer checks that a reply that arrives before the platform's id of
// the message is stored is delivered again, and does not count as a reply to
// another message.
func TestQuickAnswer(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	w.update++
	in := bot.Inbound{
		Key: fmt.Sprintf("telegram:%d", w.update), Cursor: &ledger.Cursor{Name: "telegram:1", Value: strconv.Itoa(w.update + 1)},
		Actor: mira, Name: "Mira", Chat: mira, Private: true, Sent: w.now, Message: "900",
		Text: "retry", ReplyTo: "777", ReplyToText: "■ shop #8 blocked, 2 attempts (q1)",
	}
	if err := w.r.Receive(t.Context(), in); err == nil {
		t.Fatal("it was handled although nobody knows what it answers")
	}
	in.ReplyTo = w.newestWithKey(mira, "q1").id // stored meanwhile
	w.redeliver(in)
	if s := w.state().Project.Answered; len(s) != 1 || s[0].Text != "retry, Mira" {
		t.Errorf("settled: %+v", s)
	}
}

// TestAnswerToDoubt checks that a reply to a question whose message id is
// unknown, because a restart left its delivery in doubt, is matched by the
// question's first line.
func TestAnswerToDoubt(t *testing.T) {
	for text, want := range map[string]string{
		"retry": "retry, Mira", "Refund by line, never the order": "guide Refund by line, never the order, Mira", "hm": "",
	} {
		w := newWorld(t)
		w.showQuestion("q1")
		w.update++
		in := bot.Inbound{
			Key: fmt.Sprintf("telegram:%d", w.update), Cursor: &ledger.Cursor{Name: "telegram:1", Value: strconv.Itoa(w.update + 1)},
			Actor: mira, Name: "Mira", Chat: mira, Private: true, Sent: w.now, Message: "900",
			Text: text, ReplyTo: "777", ReplyToText: "■ shop #8 blocked, 2 attempts (q1)",
		}
		for range 2 {
			if err := w.r.Receive(t.Context(), in); err == nil {
				t.Fatal("it did not wait for the note")
			}
		}
		w.redeliver(in)
		got := ""
		for _, s := range w.state().Project.Answered {
			got = s.Text
		}
		if got != want {
			t.Errorf("%q settles as %q, want %q", text, got, want)
		}
		if items := w.state().Project.Guidance.Items; want == "" && len(items) > 0 {
			t.Errorf("%q became guidance: %+v", text, items)
		}
	}
}
