package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func testEditIntoSend(t *testing.T, l ledgerStore) {
	ask := line("q5 ask")
	ask.ReplyTo = "7"
	commitMessages(t, l, ask)
	commitLines(t, l, "- between")
	was := next(t, l, mira)
	e := line("q5+ answered")
	e.Class, e.Silent, e.ReplyTo = ledger.ClassChatter, true, "9"
	commitMessages(t, l, e)
	got := next(t, l, mira)
	if got.ID == was.ID {
		t.Error("another text has the same id: whoever read the first one would settle the second")
	}
	ask.Body, ask.Class = e.Body, e.Class
	wantEqual(t, "next", got, ledger.QueuedMessage{Outgoing: ask, ID: got.ID, Time: entryTime})
	wantEqual(t, "queue", lines(t, l, mira), []string{"q5 answered", " between"})
}

func testNewestEdit(t *testing.T, l ledgerStore) {
	commitLines(t, l, "q1 ask", "q2 ask")
	settle(t, l, mira, "100")
	settle(t, l, mira, "101")
	commitLines(t, l, "q1+ one", "q2+ one", "q1+ two")
	wantEqual(t, "queue", lines(t, l, mira), []string{"q2+101 one", "q1+100 two"})
	// A message in delivery can still be settled.
	on := next(t, l, mira)
	begin(t, l, on.ID)
	commitLines(t, l, "q2+ two")
	wantEqual(t, "queue", lines(t, l, mira), []string{"q1+100 two", "q2+101 two"})
	if err := l.BeginDelivery(t.Context(), on.ID); !errors.Is(err, ledger.ErrReplaced) {
		t.Errorf("the older one again: %v, want ErrReplaced", err)
	}
	wantEqual(t, "before", sentAs(t, l, on.ID, "101"), "")
	wantEqual(t, "shown", shown(t, l, mira, "q2"), "101 one")
	settle(t, l, mira, "100")
	wantEqual(t, "before", settle(t, l, mira, "101"), "")
	wantEqual(t, "shown at last", shown(t, l, mira, "q2"), "101 two")
	wantEqual(t, "queue at last", lines(t, l, mira), []string(nil))
}

func testSendTakesKey(t *testing.T, l ledgerStore) {
	commitLines(t, l, "status first")
	wantEqual(t, "before", settle(t, l, mira, "100"), "")
	commitLines(t, l, "status+ old", "status second", "status+ new")
	wantEqual(t, "queue", lines(t, l, mira), []string{"status new"})
	wantEqual(t, "before", settle(t, l, mira, "101"), "100")
	wantEqual(t, "shown", shown(t, l, mira, "status"), "101 new")
	wantEqual(t, "old", string(shownAt(t, l, mira, "100").Body), "first")
	commitLines(t, l, "status+ newer")
	wantEqual(t, "queue", lines(t, l, mira), []string{"status+101 newer"})
	// Two sends that were never tried remain two messages.
	commitLines(t, l, "status third", "status fourth", "status+ fifth")
	wantEqual(t, "queue", lines(t, l, mira), []string{"status third", "status fifth"})
	wantEqual(t, "before third", settle(t, l, mira, "102"), "101")
	wantEqual(t, "before fourth", settle(t, l, mira, "103"), "102")
}

func testEditBehindTried(t *testing.T, l ledgerStore) {
	commitLines(t, l, "q5 ask", "q6 ask")
	first := next(t, l, mira)
	begin(t, l, first.ID)
	commitLines(t, l, "q5+ one", "q5+ two")
	wantEqual(t, "queue", lines(t, l, mira), []string{"q5? ask", "q6 ask", "q5+ two"})
	sentAs(t, l, first.ID, "100")
	wantEqual(t, "sent", lines(t, l, mira), []string{"q6 ask", "q5+100 two"})

	// The delivery failed: edit and send become one message again.
	second := next(t, l, mira)
	begin(t, l, second.ID)
	commitLines(t, l, "q6+ answered")
	if err := l.AbortDelivery(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "unsent", lines(t, l, mira), []string{"q6 answered", "q5+100 two"})

	// The platform refused the send: the chat only gets the edit, as a send.
	third := next(t, l, mira)
	begin(t, l, third.ID)
	commitLines(t, l, "q6+ over")
	if err := l.Drop(t.Context(), third.ID, "refused"); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "refused", lines(t, l, mira), []string{"q6 over", "q5+100 two"})
}

func testInheritedDoubt(t *testing.T, l ledgerStore) {
	for _, c := range []struct {
		class ledger.MessageClass
		sends int // whose outcome nobody knows
		want  string
	}{
		{ledger.ClassChatter, 1, "s? later"},
		{ledger.ClassChatter, 2, "s? later"},
		{ledger.ClassLook, 2, "s? later"},
		{ledger.ClassChatter, 0, "s later"}, // refused, for example
		{ledger.ClassAsk, 1, "s later"},
	} {
		first, edit := line("s first"), line("s+ later")
		first.Class = c.class
		commitMessages(t, l, first)
		m := next(t, l, mira)
		begin(t, l, m.ID)
		commitMessages(t, l, edit)
		for range c.sends {
			begin(t, l, m.ID)
		}
		// Takes the first sending back; without another one, the edit goes into
		// the message, which is replaced by that.
		if err := l.AbortDelivery(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		if err := l.Drop(t.Context(), m.ID, "over"); err != nil && (c.sends > 0 || !errors.Is(err, ledger.ErrReplaced)) {
			t.Fatal(err)
		}
		wantEqual(t, fmt.Sprintf("%s, %d in doubt", c.class, c.sends), lines(t, l, mira), []string{c.want})
		if err := l.Drop(t.Context(), next(t, l, mira).ID, "end of the case"); err != nil {
			t.Fatal(err)
		}
	}
}

func testEditOfNothing(t *testing.T, l ledgerStore) {
	commitLines(t, l, "g17+ bound")
	wantEqual(t, "queue", lines(t, l, mira), []string{"g17 bound"})
	commitLines(t, l, "- other", "g17+ addressed")
	wantEqual(t, "queue", lines(t, l, mira), []string{"g17 addressed", " other"})
	settle(t, l, mira, "100")
	commitLines(t, l, "g17+ done")
	wantEqual(t, "queue", lines(t, l, mira), []string{" other", "g17+100 done"})
	// Another chat is not affected.
	e := line("g17+ done")
	e.Chat = group
	commitMessages(t, l, e)
	wantEqual(t, "group", lines(t, l, group), []string{"g17 done"})
}

func testEditGone(t *testing.T, l ledgerStore) {
	commitLines(t, l, "q5 ask")
	settle(t, l, mira, "100")
	commitLines(t, l, "q5+ answered")
	wantEqual(t, "before", settle(t, l, mira, "200"), "100")
	wantEqual(t, "shown", shown(t, l, mira, "q5"), "200 answered")
	commitLines(t, l, "q5+ later")
	wantEqual(t, "queue", lines(t, l, mira), []string{"q5+200 later"})
	// The same, with the edit replaced during its delivery.
	on := next(t, l, mira)
	begin(t, l, on.ID)
	commitLines(t, l, "q5 again")
	wantEqual(t, "before", sentAs(t, l, on.ID, "300"), "200")
	wantEqual(t, "before", settle(t, l, mira, "301"), "300")
}

func testReplaced(t *testing.T, l ledgerStore) {
	commitLines(t, l, "q5 ask")
	read := next(t, l, mira)
	commitLines(t, l, "q5+ answered")
	for name, err := range map[string]error{
		"Trying": l.BeginDelivery(t.Context(), read.ID), "Unsent": l.AbortDelivery(t.Context(), read.ID), "Drop": l.Drop(t.Context(), read.ID, "why"),
		"Trying 0": l.BeginDelivery(t.Context(), 0),
	} {
		if !errors.Is(err, ledger.ErrReplaced) {
			t.Errorf("%s = %v, want ErrReplaced", name, err)
		}
	}
	if _, err := l.Sent(t.Context(), read.ID, "100", entryTime); !errors.Is(err, ledger.ErrReplaced) {
		t.Errorf("Sent = %v, want ErrReplaced", err)
	}
	wantEqual(t, "queue", lines(t, l, mira), []string{"q5 answered"})
}
