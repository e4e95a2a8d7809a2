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
	Together(ctx context.Context, chat, platformID string) ([]ledger.SentMessage, error)
	LastJoined(ctx context.Context, chat, joins string) (ledger.SentMessage, bool, error)
	ChatsWith(ctx context.Context, key string) ([]string, error)
	PruneMessages(ctx context.Context, before time.Time) (int, error)
	Cursor(ctx context.Context, name string) (ledger.Cursor, bool, error)
}

var outboxSuite = []conformance{
	{"messages come in order, replies before edits", testOrder},
	{"answers go ahead", testAhead},
	{"receipts that share a message", testTogether},
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
		if m.InDoubt > 0 {
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

func testAhead(t *testing.T, l ledgerStore) {
	ahead := func(s string) ledger.Outgoing {
		m := line(s)
		m.Ahead, m.Class = true, ledger.ClassReply
		return m
	}
	commitLines(t, l, "q1 ask", "q2 ask")
	settle(t, l, mira, "100")
	commitMessages(t, l, line("q1+ answered"), line("status/shop of the run"), line("- news"), ahead("- first"), ahead("status/shop second"))
	commitMessages(t, l, line("status/shop+ newer"))
	wantEqual(t, "queue", lines(t, l, mira), []string{" first", "status/shop newer", "q2 ask", " news", "q1+100 answered"})
	chats, err := l.Chats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "chats", chats, []string{mira})
	begin(t, l, next(t, l, mira).ID)
	wantEqual(t, "in doubt", lines(t, l, mira)[0], "? first")
	bad := line("q2+ answered")
	bad.Ahead = true
	if _, err := l.Commit(t.Context(), ledger.Batch{Time: entryTime, Messages: []ledger.Outgoing{bad}}); err == nil {
		t.Error("an edit goes ahead")
	}
}

func testTogether(t *testing.T, l ledgerStore) {
	joining := func(s string) ledger.Outgoing {
		m := line(s)
		m.Joins, m.ReplyTo = "receipts", "for "+m.Key
		return m
	}
	joined := func() string {
		t.Helper()
		m, ok, err := l.LastJoined(t.Context(), mira, "receipts")
		if err != nil || !ok {
			return fmt.Sprint(ok, err)
		}
		return m.Key + " " + m.ID
	}
	together := func(id string) (out []string) {
		t.Helper()
		all, err := l.Together(t.Context(), mira, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			out = append(out, m.Key+" "+string(m.Body)+", "+m.ReplyTo)
		}
		return out
	}
	wantEqual(t, "none", joined(), "false <nil>")
	commitMessages(t, l, joining("g1 one"), joining("g2 two"), joining("g3 three"))
	for range 3 {
		settle(t, l, mira, "100")
	}
	wantEqual(t, "last", joined(), "g3 100")
	wantEqual(t, "together", together("100"), []string{"g1 one, for g1", "g2 two, for g2", "g3 three, for g3"})
	commitLines(t, l, "g2+ changed", "g3+ long")
	wantEqual(t, "edits", lines(t, l, mira), []string{"g2+100 changed", "g3+100 long"})
	settle(t, l, mira, "100")
	settle(t, l, mira, "101") // sent as a message of its own
	wantEqual(t, "after the edits", together("100"), []string{"g1 one, for g1", "g2 changed, for g2"})
	wantEqual(t, "alone", together("101"), []string{"g3 long, "})
}

func testMessage(t *testing.T, l ledgerStore) {
	m := ledger.Outgoing{
		Chat: group + "/55", Key: "q5 \x00'", Class: ledger.ClassNotice, ReplyTo: "77", Silent: true, Ahead: true, Joins: "receipts", Body: []byte("{\"a\": \"\xff\x00\"}"),
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
		Chat: m.Chat, ID: "abc", Key: m.Key, ReplyTo: "77", Body: m.Body, Time: entryTime.Add(time.Minute),
	})
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
	wantEqual(t, "in doubt", next(t, l, mira).InDoubt, 2)
	unsent()
	wantEqual(t, "the first one is still in doubt", lines(t, l, mira), []string{"q5? ask"})
	wantEqual(t, "in doubt", next(t, l, mira).InDoubt, 1)
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
