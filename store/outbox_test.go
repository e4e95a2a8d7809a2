package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// outbox has the methods of Store and Memory that concern messages.
type outbox interface {
	Chats(ctx context.Context) ([]string, error)
	NextMessage(ctx context.Context, chat string) (ledger.QueuedMessage, bool, error)
	Queued(ctx context.Context, chat string) ([]ledger.QueuedMessage, error)
	BeginDelivery(ctx context.Context, id int64) error
	Sent(ctx context.Context, id int64, platformID string, at time.Time) (string, error)
	AbortDelivery(ctx context.Context, id int64) error
	Drop(ctx context.Context, id int64, why string) error
	Forget(ctx context.Context, chat string, classes ...ledger.MessageClass) (int, error)
	MoveChat(ctx context.Context, from, to string) error
	SentAt(ctx context.Context, chat, platformID string) (ledger.SentMessage, bool, error)
	SentFor(ctx context.Context, chat, key string) (ledger.SentMessage, bool, error)
	AnswerTo(ctx context.Context, chat, replyTo string) (ledger.SentMessage, bool, error)
	ChatsWith(ctx context.Context, key string) ([]string, error)
	PruneMessages(ctx context.Context, before time.Time) (int, error)
	Cursor(ctx context.Context, name string) (ledger.Cursor, bool, error)
}

var outboxSuite = []conformance{
	{"messages come in order, replies before edits", testOrder},
	{"a message comes back as it was", testMessage},
	{"an edit takes the place of an untried send", testEditIntoSend},
	{"only the newest edit stays", testNewestEdit},
	{"a send takes the key over", testSendTakesKey},
	{"an edit waits for a send that was begun", testEditBehindTried},
	{"an edit of nothing is a send", testEditOfNothing},
	{"an edit that must be sent anew", testEditGone},
	{"an edit inherits the doubt of dropped chatter", testInheritedDoubt},
	{"what was replaced is not tried", testReplaced},
	{"a doubt stays until it is settled", testDoubt},
	{"settling", testSettling},
	{"an outage's chatter is forgotten", testForget},
	{"what a chat shows", testShown},
	{"what a person was answered", testAnswerTo},
	{"a group becomes another one", testMoveChat},
	{"chats with a key", testChatsWith},
	{"old messages are pruned", testPrune},
	{"the cursor", testCursor},
}

const mira, group = "telegram:48213377", "telegram:-1001234"

// line returns a message to mira: "q5 text", "q5+ text" for an edit, "- text"
// without a key.
func line(s string) ledger.Outgoing {
	key, text, _ := strings.Cut(s, " ")
	m := ledger.Outgoing{Chat: mira, Key: key, Class: ledger.ClassAsk, Body: []byte(text)}
	if m.Key, m.Edit = strings.CutSuffix(key, "+"); m.Key == "-" {
		m.Key = ""
	}
	return m
}

// commitMessages commits messages, each in a batch of its own.
func commitMessages(t testing.TB, l ledgerStore, messages ...ledger.Outgoing) {
	t.Helper()
	for _, m := range messages {
		mustCommit(t, l, ledger.Batch{Time: entryTime, Messages: []ledger.Outgoing{m}})
	}
}

func commitLines(t testing.TB, l ledgerStore, lines ...string) {
	t.Helper()
	for _, s := range lines {
		commitMessages(t, l, line(s))
	}
}

func queue(t testing.TB, l ledgerStore, chat string) []ledger.QueuedMessage {
	t.Helper()
	all, err := l.Queued(t.Context(), chat)
	if err != nil {
		t.Fatal(err)
	}
	next, ok, err := l.NextMessage(t.Context(), chat)
	if err != nil || ok != (len(all) > 0) {
		t.Fatalf("NextMessage = %v, %v; %d are queued", ok, err, len(all))
	}
	if ok {
		wantEqual(t, "next of "+chat, next, all[0])
		if next.Edit != (next.Target != "") {
			t.Errorf("next of %s: edit %v of %q", chat, next.Edit, next.Target)
		}
	}
	return all
}

// lines describes the queue: "q5 text", "q5+100 text" for an edit of message
// 100, with "?" for a message in doubt.
func lines(t testing.TB, l ledgerStore, chat string) []string {
	t.Helper()
	var out []string
	for _, m := range queue(t, l, chat) {
		s := m.Key
		if m.Edit {
			s += "+" + m.Target
		}
		if m.Tried {
			s += "?"
		}
		out = append(out, s+" "+string(m.Body))
	}
	return out
}

func next(t testing.TB, l ledgerStore, chat string) ledger.QueuedMessage {
	t.Helper()
	m, ok, err := l.NextMessage(t.Context(), chat)
	if err != nil || !ok {
		t.Fatalf("NextMessage(%s) = %v, %v", chat, ok, err)
	}
	return m
}

func begin(t testing.TB, l ledgerStore, id int64) {
	t.Helper()
	if err := l.BeginDelivery(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// settle records that the next message was sent under the given id, and returns
// before.
func settle(t testing.TB, l ledgerStore, chat, platformID string) string {
	t.Helper()
	m := next(t, l, chat)
	begin(t, l, m.ID)
	return sentAs(t, l, m.ID, platformID)
}

func sentAs(t testing.TB, l ledgerStore, id int64, platformID string) string {
	t.Helper()
	before, err := l.Sent(t.Context(), id, platformID, entryTime.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return before
}

func shownAt(t testing.TB, l ledgerStore, chat, platformID string) ledger.SentMessage {
	t.Helper()
	m, ok, err := l.SentAt(t.Context(), chat, platformID)
	if err != nil || !ok {
		t.Fatalf("SentAt(%s, %s) = %v, %v", chat, platformID, ok, err)
	}
	return m
}

// shown describes the message that a key stands for: "100 text", "" for none.
func shown(t testing.TB, l ledgerStore, chat, key string) string {
	t.Helper()
	m, ok, err := l.SentFor(t.Context(), chat, key)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return ""
	}
	return m.ID + " " + string(m.Body)
}

func testOrder(t *testing.T, l ledgerStore) {
	commitLines(t, l, "q1 ask", "- one")
	settle(t, l, mira, "100")
	settle(t, l, mira, "101")
	commitLines(t, l, "q1+ answered", "- two", "- three")
	commitMessages(t, l, ledger.Outgoing{Chat: group, Class: ledger.ClassNotice})
	wantEqual(t, "queue", lines(t, l, mira), []string{" two", " three", "q1+100 answered"})
	chats, err := l.Chats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "chats", chats, []string{mira, group})
	for _, id := range []string{"102", "103", "100"} {
		settle(t, l, mira, id)
	}
	wantEqual(t, "queue at last", lines(t, l, mira), []string(nil))
	if chats, err = l.Chats(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "chats at last", chats, []string{group})

	r := mustCommit(t, l, ledger.Batch{Messages: []ledger.Outgoing{
		{Chat: group, Class: ledger.ClassReply}, line("- a"), {Chat: group, Class: ledger.ClassReply},
	}})
	wantEqual(t, "receipt", r.Chats, []string{group, mira})
}

func testMessage(t *testing.T, l ledgerStore) {
	m := ledger.Outgoing{
		Chat: group + "/55", Key: "q5 \x00'", Class: ledger.ClassNotice, ReplyTo: "77", Silent: true, Body: []byte("{\"a\": \"\xff\x00\"}"),
	}
	commitMessages(t, l, m, ledger.Outgoing{Chat: mira, Class: ledger.ClassChatter, Body: []byte{}})
	got := queue(t, l, m.Chat)
	wantEqual(t, "queued", got, []ledger.QueuedMessage{{Outgoing: m, ID: got[0].ID, Time: entryTime}})
	if zone := got[0].Time.Location(); zone != time.UTC {
		t.Errorf("zone %v", zone)
	}
	wantEqual(t, "empty", queue(t, l, mira)[0].Body, []byte(nil))
	settle(t, l, m.Chat, "abc")
	wantEqual(t, "sent", shownAt(t, l, m.Chat, "abc"), ledger.SentMessage{
		Chat: m.Chat, ID: "abc", Key: m.Key, Body: m.Body, Time: entryTime.Add(time.Minute),
	})
}

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
		sends int // sends whose outcome nobody knows
		want  string
	}{
		{ledger.ClassChatter, 1, "s? later"},
		{ledger.ClassChatter, 2, "s? later"},
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
		// Take the first delivery back. If it was the only one, the edit is
		// merged into the message, which gets a new id.
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
		"BeginDelivery": l.BeginDelivery(t.Context(), read.ID), "AbortDelivery": l.AbortDelivery(t.Context(), read.ID), "Drop": l.Drop(t.Context(), read.ID, "why"),
		"BeginDelivery 0": l.BeginDelivery(t.Context(), 0),
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

func testDoubt(t *testing.T, l ledgerStore) {
	commitLines(t, l, "q5 ask")
	m := next(t, l, mira)
	unsent := func() {
		t.Helper()
		if err := l.AbortDelivery(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
	begin(t, l, m.ID)
	wantEqual(t, "tried", lines(t, l, mira), []string{"q5? ask"})
	unsent()
	wantEqual(t, "taken back", lines(t, l, mira), []string{"q5 ask"})
	unsent()
	begin(t, l, m.ID) // the delivery is in doubt a second time
	begin(t, l, m.ID)
	unsent()
	wantEqual(t, "the first one is still in doubt", lines(t, l, mira), []string{"q5? ask"})
}

func testSettling(t *testing.T, l ledgerStore) {
	commitLines(t, l, "- one", "- two")
	m := next(t, l, mira)
	if _, err := l.Sent(t.Context(), m.ID, "", entryTime); err == nil {
		t.Error("a message without an id was settled")
	}
	if _, err := l.Sent(t.Context(), m.ID, "1", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("a message of year 10000 was settled")
	}
	sentAs(t, l, m.ID, "100")
	sentAs(t, l, m.ID, "100") // repeating is no error
	if _, err := l.Sent(t.Context(), m.ID, "101", entryTime); err == nil {
		t.Error("a message became two")
	}
	if err := l.Drop(t.Context(), m.ID, "late"); err == nil {
		t.Error("a message that was sent was dropped")
	}
	if err := l.BeginDelivery(t.Context(), m.ID); !errors.Is(err, ledger.ErrReplaced) {
		t.Errorf("BeginDelivery of a sent message = %v", err)
	}
	two := next(t, l, mira)
	for range 2 {
		if err := l.Drop(t.Context(), two.ID, "refused"); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, "queue", lines(t, l, mira), []string(nil))
	// A dropped message turns out to have arrived.
	sentAs(t, l, two.ID, "101")
	wantEqual(t, "shown", string(shownAt(t, l, mira, "101").Body), "two")
}

func testForget(t *testing.T, l ledgerStore) {
	commitLines(t, l, "q1 ask")
	settle(t, l, mira, "100")
	of := func(s string, c ledger.MessageClass) {
		t.Helper()
		m := line(s)
		m.Class = c
		commitMessages(t, l, m)
	}
	of("s tried", ledger.ClassChatter)
	begin(t, l, next(t, l, mira).ID)
	of("s+ later", ledger.ClassReply)
	of("- chatter", ledger.ClassChatter)
	of("- reply", ledger.ClassReply)
	of("- notice", ledger.ClassNotice)
	of("q1+ over", ledger.ClassChatter)
	of("q2 ask", ledger.ClassAsk)
	of("q2+ over", ledger.ClassChatter)
	commitMessages(t, l, ledger.Outgoing{Chat: group, Class: ledger.ClassChatter})
	n, err := l.Forget(t.Context(), mira, ledger.ClassChatter, ledger.ClassReply)
	if err != nil || n != 3 {
		t.Errorf("Forget = %d, %v", n, err)
	}
	wantEqual(t, "queue", lines(t, l, mira), []string{"s? tried", " notice", "s+ later", "q1+100 over"})
	wantEqual(t, "group", len(lines(t, l, group)), 1)
	if n, err := l.Forget(t.Context(), mira); err != nil || n != 0 {
		t.Errorf("Forget of no class = %d, %v", n, err)
	}
	// A message whose delivery was aborted and that was forgotten does not
	// affect its edit.
	if err := l.AbortDelivery(t.Context(), next(t, l, mira).ID); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "one again", lines(t, l, mira), []string{"s later", " notice", "q1+100 over"})
}

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
	// q3: the moved message is newer; q1: shown in the old chat only; q2: also
	// shown in the new chat.
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

	// A newer send in the new chat ends an edit from the old chat; of two edits
	// the newer stays.
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
