package inbound_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// TestEditedTypo checks that a line which was not understood is carried out when its
// author corrects it, as people do on a phone, and one that was carried out is not.
func TestEditedTypo(t *testing.T) {
	w := newFixture(t)
	edit := func(message, text string) {
		t.Helper()
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Message: message, Text: text, Edited: true})
	}
	typo := w.private(mira, "/guidence Wrap it").Message
	edit(typo, "/guidance Wrap it")
	if items := w.state().Project.Guidance.Items; len(items) != 1 || items[0].Text != "Wrap it" {
		t.Fatalf("%+v\n%s", items, w.transcript(mira))
	}
	edit(typo, "/guidance Wrap it, don't replace it")
	if items := w.state().Project.Guidance.Items; len(items) != 1 || items[0].Text != "Wrap it, don't replace it" {
		t.Errorf("a second edit: %+v", items)
	}
	hat := w.private(mira, "@bulder Mention the variables").Message
	edit(hat, "@builder Mention the variables")
	if n := w.entries("guidance.queued"); n != 2 {
		t.Errorf("%d items\n%s", n, w.transcript(mira))
	}
	skip := w.private(mira, "/skip 2").Message
	edit(skip, "/skip 1")
	edit(skip, "/pause")
	if r := w.state().Project.Run; r.State != "running" {
		t.Errorf("the edit of a command that was done made the run %s", r.State)
	}
}

// TestEditedAnswer checks that who edits an answer in words is told that it stands, and can
// send the new words on.
func TestEditedAnswer(t *testing.T) {
	w := newFixture(t)
	w.showQuestion("q2")
	asked := w.newestWithKey(mira, "q2")
	w.reply(mira, asked, "Letters oly")
	message := w.newest(mira).replyTo
	edit := func(text string) {
		t.Helper()
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Message: message, ReplyTo: asked.id, Text: text, Edited: true})
	}
	n := len(w.shown[mira])
	if edit("Letters oly"); len(w.shown[mira]) != n {
		t.Errorf("an edit that changes nothing is answered:\n%s", w.transcript(mira))
	}
	edit("Letters only")
	m := w.newest(mira)
	if m.m.Key != "press.second" || m.replyTo != message {
		t.Fatalf("%s", w.transcript(mira))
	}
	w.press(mira, mira, m, "Overrule")
	if items := w.state().Project.Guidance.Items; len(items) != 1 || items[0].Text != "Letters only" {
		t.Errorf("%+v", items)
	}
}
