package inbound_test

import (
	"errors"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestGroup: in a group, only commands and replies to nightporter's messages are
// for it.
func TestGroup(t *testing.T) {
	w := newFixture(t)
	for _, c := range []struct {
		text, replyTo string
		changes       bool
	}{
		{"pause", "", false}, {"Wrap it", "", false}, {"shop: wrap it", "", false}, {"g1 is nice", "", false}, {"stop", "", false}, {"", "", false}, {"Wrap it", "31", false},
		{"/pause@other_bot", "", false}, {"q1", "", true}, {"q1 what", "", true}, {"q1 retry", "", true},
		{"/pause", "", true}, {"/pause@night_porter_bot", "", true}, {"/pause@Night_Porter_Bot", "", true}, {"shop: /pause", "", true},
	} {
		before := len(w.shown[group])
		w.receive(bot.Inbound{Actor: mira, Chat: group, Text: c.text, ReplyTo: c.replyTo, Message: "30"})
		if got := len(w.shown[group]) > before; got != c.changes {
			t.Errorf("%q in a group: answered %v, want %v", c.text, got, c.changes)
		}
		if !c.changes && (w.entries("guidance.queued") > 0 || w.state().Project.Run.State != ledger.RunRunning) {
			t.Errorf("%q in a group did something", c.text)
		}
	}
	w = newFixture(t)
	w.receive(bot.Inbound{Actor: mira, Chat: group, Text: "/task 4", Message: "30"})
	w.receive(bot.Inbound{Actor: ana, Chat: group, Text: "Keep the names", ReplyTo: w.newest(group).id, Message: "31"})
	if i, ok := w.state().Project.Guidance.Get("g1"); !ok || i.Task != "task 4" || i.By != "Ana" {
		t.Errorf("a reply to a task's message: %+v", i)
	}
	w.receive(bot.Inbound{Actor: ana, Chat: group, Text: "And the order", ReplyTo: w.newest(group).id, Message: "32"})
	if i, ok := w.state().Project.Guidance.Get("g2"); !ok || i.Task != "task 4" {
		t.Errorf("a reply to a receipt: %+v", i)
	}
	w.receive(bot.Inbound{Actor: ana, Chat: group, Text: "#6 instead", ReplyTo: w.newest(group).id, Message: "33"})
	if i, ok := w.state().Project.Guidance.Get("g3"); !ok || i.Task != "task 6" || i.Text != "instead" {
		t.Errorf("a reply with an address of its own: %+v", i)
	}
	w.receive(bot.Inbound{Actor: ana, Chat: group, Text: "drop", ReplyTo: w.newestWithKey(group, "g1").id, Message: "34"})
	if i, _ := w.state().Project.Guidance.Get("g1"); i.State != guidance.Dropped {
		t.Errorf("drop as a reply: %s", i.State)
	}
	w.receive(bot.Inbound{Actor: ana, Chat: group, Text: "/now Keep the names", Message: "35"})
	if got := w.newest(group).m.First(); got != "? q3 asks you in private" || w.newestWithKey(ana, "q3") == nil {
		t.Errorf("/now in a group: %s", got)
	}
	w.receive(bot.Inbound{Actor: ana, Chat: group, Media: true, Message: "36"})
	if w.newest(group).replyTo == "36" {
		t.Error("a picture in a group is answered")
	}
}

// TestProjects: the project that an input is for.
func TestProjects(t *testing.T) {
	w := newFixture(t)
	w.daemon.Names = []string{"shop", "blog"}
	w.private(mira, "/guidance Wrap\nit \u200d👍")
	ask := *w.newest(mira)
	w.press(mira, mira, &ask, "shop")
	if i, ok := w.state().Project.Guidance.Get("g1"); !ok || i.Text != "Wrap\nit \u200d👍" {
		t.Errorf("to shop: %+v", i)
	}
	w.press(mira, mira, &ask, "shop")
	w.press(mira, mira, &ask, "blog")
	if n := w.entries("guidance.queued"); n != 1 {
		t.Errorf("queued %d times", n)
	}
	w.private(mira, "/status")
	w.press(mira, mira, w.newest(mira), "shop")
	if w.newest(mira).key != "status/shop" {
		t.Errorf("%+v", w.newest(mira))
	}
	w.press(mira, mira, w.newest(mira), "Pause") // the message belongs to shop, so no project is asked for
	if r := w.state().Project.Run; r.State != ledger.RunPausing {
		t.Errorf("shop is %s", r.State)
	}
	w.private(mira, "q1") // ids need no project
	w.private(mira, "blog: /status")
	w.private(mira, "/run blog review")
	w.private(mira, "/projects")
	w.private(mira, "/whoami")
	w.private(mira, "/people")
	w.private(mira, "/run shop")
	golden.Compare(t, "projects.txt", w.transcript(mira))
}

// TestRun: the offer of a run, the reasons against it, and its answer.
func TestRun(t *testing.T) {
	w := newFixture(t)
	w.daemon.Names = []string{"shop", "blog"}
	w.offerErr = &ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: "/srv/blog/checkout.md", Line: 41, Text: "Task 7 depends on Task 70, which this plan lacks", Remedy: "Fix the line."}}}
	w.private(mira, "/run blog")
	w.offerErr = errors.New("input/output error")
	w.private(mira, "/run blog")
	w.offerErr = nil
	w.private(mira, "/run blog from Task 5")
	w.press(mira, mira, w.newestWithKey(mira, "q3"), "Cancel")
	w.private(mira, "/run blog")
	w.private(ana, "/run blog") // the offers before hers give way
	w.private(mira, "/run blog review")
	if b := w.newestWithKey(mira, "q6").m.Buttons; len(b) != 2 {
		t.Errorf("what is of profile review is offered as %v", b)
	}
	w.private(mira, "/run blog overnight from 5")
	offer := w.newestWithKey(mira, "q7").m
	if offer.Twins() != "q7 start · q7 review · q7 cancel" {
		t.Errorf("twins: %s", offer.Twins())
	}
	golden.Compare(t, "run.txt", w.transcript(mira))
	if len(w.shown[ana]) != 1 || w.newest(ana).key != "q5" {
		t.Errorf("Ana is asked back about her own run only:\n%s", w.transcript(ana))
	}
}
