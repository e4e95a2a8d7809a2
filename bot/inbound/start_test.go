package inbound_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAnnouncementInConfirmation: the message that confirmed a start and now announces
// the run is about the run. A reply to it is guidance and answers no question, and its
// buttons end with the run.
func TestAnnouncementInConfirmation(t *testing.T) {
	w := newFixture(t)
	announce := func(run string) *shown {
		w.queue(mira, "q9", bot.Message{Key: "run.started", Project: "shop", Run: run, Lines: []bot.Line{{Text: "● shop " + run + " started"}, {Text: "Works alone from here."}}, Buttons: []bot.Button{{Label: "Pause", Command: "/pause"}}})
		return w.newest(mira)
	}
	s := announce("r1")
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "Keep the old function names", Message: w.message(), ReplyTo: s.id})
	if n := w.entries("guidance.queued"); n != 1 {
		t.Errorf("a reply became guidance %d times:\n%s", n, w.transcript(mira))
	}
	w.press(mira, mira, s, "Pause")
	if r := w.state().Project.Run; r.State != ledger.RunPausing {
		t.Errorf("Pause made r1 %s: %q", r.State, w.toasts)
	}
	w.private(mira, "/resume")
	old := announce("r0")
	w.press(mira, mira, old, "Pause")
	if r := w.state().Project.Run; r.State != ledger.RunRunning || !strings.Contains(w.toasts[len(w.toasts)-1], "r0 is over") {
		t.Errorf("a button of r0 made r1 %s: %q", r.State, w.toasts)
	}
	if len(old.m.Buttons) > 0 {
		t.Error("a dead button stays")
	}
}
