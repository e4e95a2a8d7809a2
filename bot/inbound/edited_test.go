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
