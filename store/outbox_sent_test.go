package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

func testShown(t *testing.T, l ledgerStore) {
	for _, ask := range []func() bool{
		func() bool { _, ok, _ := l.SentAt(t.Context(), mira, ""); return ok },
		func() bool { _, ok, _ := l.SentFor(t.Context(), mira, ""); return ok },
		func() bool { _, ok, _ := l.SentFor(t.Context(), mira, "q5"); return ok },
	} {
		commitLines(t, l, "- queued", "q5 queued")
		if ask() {
			t.Error("something is shown that was not sent")
		}
	}
	for i := range 6 {
		settle(t, l, mira, fmt.Sprint(100+i))
	}
	wantEqual(t, "q5", shown(t, l, mira, "q5"), "105 queued")
	wantEqual(t, "nobody's", shown(t, l, group, "q5"), "")
	if _, ok, _ := l.SentAt(t.Context(), group, "105"); ok {
		t.Error("another chat shows it too")
	}
	wantEqual(t, "no key", shown(t, l, mira, ""), "")
	commitLines(t, l, "q5+ changed")
	settle(t, l, mira, "105")
	m := shownAt(t, l, mira, "105")
	wantEqual(t, "changed", m, ledger.SentMessage{Chat: mira, ID: "105", Key: "q5", Body: []byte("changed"), Time: m.Time})
}

func testAnswerTo(t *testing.T, l ledgerStore) {
	answer := func() string {
		t.Helper()
		m, ok, err := l.AnswerTo(t.Context(), mira, "7")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(m.ID, " ", m.Key, " ", string(m.Body), " ", ok)
	}
	wantEqual(t, "none", answer(), "   false")
	reply := func(s string) ledger.Outgoing {
		m := line(s)
		m.ReplyTo = "7"
		return m
	}
	commitMessages(t, l, reply("g17 queued"))
	wantEqual(t, "queued", answer(), " g17 queued true")
	commitLines(t, l, "g17+ bound")
	wantEqual(t, "coalesced", answer(), " g17 bound true")
	settle(t, l, mira, "100")
	wantEqual(t, "sent", answer(), "100 g17 bound true")
	commitMessages(t, l, reply("- changed"))
	wantEqual(t, "with a later one without key", answer(), "100 g17 bound true")
	commitMessages(t, l, reply("g18 other"))
	wantEqual(t, "with a later one", answer(), " g18 other true")
	m := line("- x")
	m.ReplyTo = "8"
	commitMessages(t, l, m)
	if _, ok, err := l.AnswerTo(t.Context(), mira, "8"); !ok || err != nil {
		t.Errorf("an answer without key was not found: %v", err)
	}
	if _, ok, err := l.AnswerTo(t.Context(), mira, ""); ok || err != nil {
		t.Errorf("what answers nothing was found: %v", err)
	}
}

func testMoveChat(t *testing.T, l ledgerStore) {
	at := func(chat, s string) ledger.Outgoing {
		m := line(s)
		m.Chat, m.ReplyTo = chat, "7"
		return m
	}
	const to = "telegram:-200"
	commitMessages(t, l, at(group, "q1 ask"), at(group, "q2 ask"))
	settle(t, l, group, "100")
	settle(t, l, group, "101")
	commitMessages(t, l, at(to, "q2 asked here"))
	settle(t, l, to, "1")
	commitMessages(t, l, at(to, "q3 queued here"), at(group, "q3+ moved"), at(group, "q1+ over"), at(group, "q2+ over"), at(group, "- text"),
		at(group+"/55", "- topic"), at(group+"5", "- other"), at(group+"5/55", "- other topic"))
	if err := l.MoveChat(t.Context(), group, to); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "from", lines(t, l, group), []string(nil))
	// q3: the moved message is newer; q1: shown in the old chat only; q2: shown
	// here too.
	wantEqual(t, "to", lines(t, l, to), []string{"q3 queued here", "q3 moved", "q1 over", " text", "q2+1 over"})
	wantEqual(t, "topic", lines(t, l, to+"/55"), []string{" topic"})
	wantEqual(t, "other", lines(t, l, group+"5"), []string{" other"})
	wantEqual(t, "other's topic", lines(t, l, group+"5/55"), []string{" other topic"})
	for _, m := range queue(t, l, to)[1:] {
		if m.ReplyTo != "" {
			t.Errorf("%q answers %s, which is another message here", m.Body, m.ReplyTo)
		}
	}
	wantEqual(t, "old message", string(shownAt(t, l, group, "100").Body), "ask")

	// A newer send here ends an edit from the old chat; of two edits the newer
	// stays.
	commitMessages(t, l, at(group, "q1+ from there"), at(to, "q2+ here"), at(group, "q2+ from there"), at(to, "q1 anew"))
	if err := l.MoveChat(t.Context(), group, to); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "again", lines(t, l, to), []string{"q3 queued here", "q3 moved", "q1 over", " text", "q1 anew", "q2+1 from there"})
	if l.MoveChat(t.Context(), "", to) == nil || l.MoveChat(t.Context(), to, "") == nil {
		t.Error("a chat moved from or to nowhere")
	}
	if err := l.MoveChat(t.Context(), to, to); err != nil {
		t.Error(err)
	}
	wantEqual(t, "onto itself", len(lines(t, l, to)), 6)
}

func testChatsWith(t *testing.T, l ledgerStore) {
	in := func(chat, s string) ledger.Outgoing {
		m := line(s)
		m.Chat = chat
		return m
	}
	where := func(key string, want ...string) {
		t.Helper()
		chats, err := l.ChatsWith(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "where "+key, chats, want)
	}
	commitMessages(t, l, in(mira, "q5 ask"), in(mira, "q5 again"), in(group, "q5 ask"), in(group+"/55", "q5 ask"), in(group, "q6 ask"), in(mira, "- text"))
	settle(t, l, mira, "100")
	where("q5", group, group+"/55", mira)
	where("q6", group)
	where("q7")
	where("")
	if err := l.Drop(t.Context(), next(t, l, group+"/55").ID, "closed"); err != nil {
		t.Fatal(err)
	}
	where("q5", group, mira)
}

func testPrune(t *testing.T, l ledgerStore) {
	commitLines(t, l, "status one", "- text", "status two", "q5 ask", "- dropped", "- queued")
	for i := range 4 {
		settle(t, l, mira, fmt.Sprint(100+i))
	}
	if err := l.Drop(t.Context(), next(t, l, mira).ID, "refused"); err != nil {
		t.Fatal(err)
	}
	prune := func(before time.Time, want int) {
		t.Helper()
		if n, err := l.PruneMessages(t.Context(), before); err != nil || n != want {
			t.Errorf("PruneMessages(%v) = %d, %v, want %d", before, n, err, want)
		}
	}
	prune(entryTime, 0)
	prune(entryTime.Add(time.Second), 1) // the dropped message
	prune(entryTime.Add(time.Hour), 2)   // status one, text
	prune(entryTime.Add(time.Hour), 0)
	for id, want := range map[string]bool{"100": false, "101": false, "102": true, "103": true} {
		if _, ok, err := l.SentAt(t.Context(), mira, id); ok != want || err != nil {
			t.Errorf("%s is there: %v, %v", id, ok, err)
		}
	}
	wantEqual(t, "queue", lines(t, l, mira), []string{" queued"})
}

func testCursor(t *testing.T, l ledgerStore) {
	cursor := func() ledger.Cursor {
		t.Helper()
		c, ok, err := l.Cursor(t.Context(), "telegram:1")
		if err != nil || ok != (c != ledger.Cursor{}) {
			t.Fatalf("Cursor = %+v, %v, %v", c, ok, err)
		}
		return c
	}
	wantEqual(t, "none", cursor(), ledger.Cursor{})
	for _, value := range []string{"12", "3", ""} { // platforms may restart their numbering
		c := ledger.Cursor{Name: "telegram:1", Value: value, Time: entryTime}
		mustCommit(t, l, ledger.Batch{Cursor: &c, Key: "tg:" + value})
		mustCommit(t, l, ledger.Batch{Cursor: &ledger.Cursor{Name: "telegram:2", Value: "other" + value}})
		if other, ok, err := l.Cursor(t.Context(), "telegram:2"); !ok || err != nil || other.Value != "other"+value {
			t.Errorf("the other cursor: %+v, %v", other, err)
		}
		wantEqual(t, "cursor", cursor(), c)
	}
}
