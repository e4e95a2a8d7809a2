package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestGuidance: guidance, its receipt, and edits of both.
func TestGuidance(t *testing.T) {
	w := newFixture(t)
	text := "Wrap the <b>existing</b> code & don't\nreplace it 👨‍👩‍👧 \u202bשלום\u202c *x* _y_"
	in := w.private(mira, text)
	i, ok := w.state().Project.Guidance.Get("g1")
	if !ok || i.Text != text || i.By != "Mira" {
		t.Errorf("the words arrived as %+v", i)
	}
	s := w.newest(mira)
	if s.key != "g1" || s.replyTo != in.Message || !s.silent || s.class != ledger.ClassReply {
		t.Errorf("the receipt is %+v", s)
	}
	edit := func(text string) {
		t.Helper()
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Message: in.Message, Edited: true})
	}
	edit("/guidance Wrap it, whatever it costs")
	if i, _ := w.state().Project.Guidance.Get("g1"); i.Text != "Wrap it, whatever it costs" {
		t.Errorf("after the edit it says %q", i.Text)
	}
	if len(w.shown[mira]) != 1 || !strings.Contains(w.newest(mira).m.First(), "g1 changed") {
		t.Errorf("the receipt did not change:\n%s", w.transcript(mira))
	}
	edit("Wrap it, whatever it costs") // the platform says so when a link preview comes
	edit("/stop")                      // a command is not carried out by an edit
	edit("")
	if len(w.shown[mira]) != 1 || w.state().Project.Run.State != ledger.RunRunning {
		t.Errorf("an edit did something:\n%s", w.transcript(mira))
	}
	edit("@fixer Wrap it")
	if !strings.Contains(w.newest(mira).m.First(), "g1 not changed: it goes elsewhere") {
		t.Errorf("another address: %s", w.newest(mira).m.First())
	}
	edit("Wrap it a third time")
	if i, _ := w.state().Project.Guidance.Get("g1"); i.Text != "Wrap it a third time" {
		t.Errorf("after an edit that was refused, the next one says %q", i.Text)
	}
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "never seen", Message: "4", Edited: true})
	w.press(mira, mira, w.newestWithKey(mira, "g1"), "Drop")
	if i, _ := w.state().Project.Guidance.Get("g1"); i.State != guidance.Dropped {
		t.Errorf("dropped, it is %s", i.State)
	}
	w.private(mira, "/guidance @fixer #4 Keep it small")
	w.private(mira, strings.Repeat("long ", 2000))
	if got := w.newest(mira).m; !strings.Contains(got.Text(0), "4000 are the most") {
		t.Errorf("10 kB: %s", got.Text(0))
	}
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "Sent while off", Message: "77", Sent: w.now.Add(-150 * time.Minute)})
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Media: true, Kind: "photo", Text: "look at this", Message: "78"})
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Media: true, Kind: "voice note", Message: "79"})
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Media: true, Message: "80"})
	golden.Compare(t, "guidance.txt", w.transcript(mira))
}

// TestMedia: a caption is text like any other. An attachment without text gets
// one reply, an album gets one in total.
func TestMedia(t *testing.T) {
	w := newFixture(t)
	send := func(text, album, message string) {
		t.Helper()
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Media: true, Kind: "photo", Text: text, Album: album, Message: message})
	}
	answers := func(n int, why string) {
		t.Helper()
		if got := len(w.shown[mira]); got != n {
			t.Errorf("%s: %d messages, want %d:\n%s", why, got, n, w.transcript(mira))
		}
	}
	for _, m := range []string{"1", "2", "3"} {
		send("", "137", m)
	}
	answers(1, "an album without words")
	send("", "138", "4")
	answers(2, "another one")
	send("", "", "5")
	send("", "", "6")
	answers(4, "two alone")
	send("Wrap it", "139", "7")
	send("", "139", "8")
	answers(5, "an album with words")
	if got := w.newest(mira).m; got.Key != "guidance.queued" || !strings.Contains(got.Text(0), "The photo was not kept.") {
		t.Errorf("%s", got.Text(0))
	}
	send("/pause", "", "9")
	if r := w.state().Project.Run; r.State != ledger.RunPausing {
		t.Errorf("a command below a picture: the run is %s", r.State)
	}
	w.showQuestion("q1")
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Media: true, Kind: "photo", Text: "@fixer #4 As in the picture", ReplyTo: w.newestWithKey(mira, "q1").id, Message: "10"})
	if got := w.newest(mira).m.Text(0); !strings.Contains(got, "The photo was not kept.") {
		t.Errorf("the caption of an answer: %s", got)
	}
	w.receive(bot.Inbound{Actor: mira, Chat: group, Media: true, Kind: "photo", Text: "/status", Message: "11"})
	if got := w.newest(group).m.Text(0); !strings.Contains(got, "The photo was not kept.") {
		t.Errorf("in a group: %s", got)
	}
}

// TestTooLate: guidance that a session already has does not change by an edit.
func TestTooLate(t *testing.T) {
	w := newFixture(t)
	in := w.private(mira, "Wrap it")
	w.commit(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: w.now, Task: "Task 4", Session: "r1-9", Body: ledger.GuidanceBound{Hat: "builder", Writes: true, Binding: guidance.Binding{Bound: []string{"g1"}}}})
	w = w.reopened()
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "Replace\nit", Message: in.Message, Edited: true})
	late := w.newest(mira)
	if edit := len(w.shown[mira]); edit != 2 {
		t.Fatalf("%d messages", edit)
	}
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "Replace it all", Message: in.Message, Edited: true})
	if got := w.newest(mira).m; got.Key != "guidance.toolate" || len(w.shown[mira]) != 3 {
		t.Errorf("the next edit says %q", got.First())
	}
	w.press(mira, mira, late, "Send as new")
	if i, _ := w.state().Project.Guidance.Get("g2"); i.Text != "Replace\nit" {
		t.Errorf("sent as new: %+v", i)
	}
	w.press(mira, mira, &shown{id: late.id, m: bot.Message{Key: late.m.Key, Buttons: []bot.Button{{Label: "Send as new", Command: "/guidance Replace\nit"}}}}, "Send as new")
	if n := w.entries("guidance.queued"); n != 2 {
		t.Errorf("pressed twice it was queued %d times", n-1)
	}
	golden.Compare(t, "in-use.txt", w.transcript(mira))
}

// TestDropAll: all that waits is dropped by one press, which names the items: what came
// after the question stays, and a second press does nothing.
func TestDropAll(t *testing.T) {
	w := newFixture(t)
	w.private(mira, "Wrap the code")
	w.private(mira, "!sticky No new dependencies")
	w.private(mira, "Plain text only")
	w.private(mira, "/drop all")
	ask := w.newest(mira)
	w.private(mira, "Mention the env vars")
	w.press(mira, mira, ask, "Drop 2")
	var states []string
	for _, i := range w.state().Project.Guidance.Items {
		states = append(states, i.ID+" "+i.State.Word())
	}
	if got, want := strings.Join(states, ", "), "g1 dropped, g2 queued, g3 dropped, g4 queued"; got != want {
		t.Errorf("after the press %s, want %s\n%s", got, want, w.transcript(mira))
	}
	if len(ask.m.Buttons) != 0 {
		t.Errorf("the question keeps %+v", ask.m.Buttons)
	}
	dropped := w.entries("guidance.dropped")
	w.pressData(mira, mira, ask.id, "1."+"/drop.g1.g3"+".0000")
	if w.entries("guidance.dropped") != dropped || !strings.Contains(w.toasts[len(w.toasts)-1], "answered already") {
		t.Errorf("the second press says %q", w.toasts)
	}
}

// TestBurstOfEachPerson: in a group the receipts of one person's burst share a message,
// in each thread, so that it replies to who said all of it (docs/spec 23.4).
func TestBurstOfEachPerson(t *testing.T) {
	w := newFixture(t)
	w.held = group
	said := func(who, thread string, unseen bool) string {
		t.Helper()
		w.receive(bot.Inbound{Actor: who, Chat: group, Thread: thread, Unseen: unseen, Text: "/guidance Wrap the code", Message: w.message()})
		queued, err := w.store.Queued(t.Context(), group)
		if err != nil || len(queued) == 0 {
			t.Fatalf("%d messages wait, %v", len(queued), err)
		}
		return queued[len(queued)-1].Joins
	}
	first := said(mira, "", false)
	if first == "" || said(mira, "", false) != first {
		t.Errorf("Mira's receipts do not share %q", first)
	}
	seen := map[string]string{first: "Mira's"}
	for name, joins := range map[string]string{"Ana's": said(ana, "", false), "a thread's": said(mira, "17.1", false), "a command without a message": said(mira, "", true)} {
		if other, is := seen[joins]; is || joins == "" {
			t.Errorf("%s receipt joins %q, as %s do", name, joins, other)
		}
		seen[joins] = name
	}
}
