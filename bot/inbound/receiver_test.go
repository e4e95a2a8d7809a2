package inbound_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestStrangers checks that an input of a person who is not paired leads to an
// entry in the ledger and to no reply.
func TestStrangers(t *testing.T) {
	w := newWorld(t)
	before := w.entries("stranger.wrote")
	for _, in := range []bot.Inbound{
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "/stop"},
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "hello"},
		{Actor: "telegram:99", Chat: group, Text: "/stop@night_porter_bot"}, // a group of which Mira is a member
		{Actor: "telegram:99", Chat: group, Press: "1.q1.retry.aaaa", PressID: "p"},
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "/pair"},
		{Actor: mira, Chat: group, Text: "/stop", Unpairable: "anonymous"},
		{Actor: "telegram:1087968824", Chat: group, Text: "/pair " + code, Unpairable: "anonymous"},
		{Actor: "telegram:777", Chat: group, Text: "/pair " + code},
		{Actor: "", Chat: "telegram:-77", Text: "/stop", Unpairable: "a channel"},
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Text: "edited", Edited: true},
		{Actor: "telegram:99", Chat: "telegram:99", Private: true, Media: true},
	} {
		w.receive(in)
	}
	if len(w.shown) > 0 || len(w.toasts) > 0 {
		t.Errorf("strangers were answered: %v %v", w.shown, w.toasts)
	}
	if r := w.state().Project.Run; r.State != ledger.RunRunning {
		t.Errorf("a stranger made the run %s", r.State)
	}
	// telegram:99, Mira without her name, the anonymous admin, 777 and the
	// channel.
	if n := w.entries("stranger.wrote") - before; n != 5 {
		t.Errorf("%d audit entries, want one each: 5", n)
	}
	if n := w.entries("pairing.tried"); n != 0 {
		t.Errorf("a code in a group was tried %d times", n)
	}
}

// TestPairing checks that a code pairs one person, once, in a private chat.
func TestPairing(t *testing.T) {
	w := newWorld(t)
	offer := func() {
		t.Helper()
		a, err := w.engine.Do(t.Context(), loop.Input{Actor: "console", Body: people.OfferPairing{Hash: "hash of " + code, Role: ledger.RoleSteer}})
		if err != nil || !a.OK {
			t.Fatal(a, err)
		}
	}
	w.receive(bot.Inbound{Actor: "telegram:8", Name: "Eve", Chat: "telegram:8", Private: true, Text: "/pair " + code, Message: "1"})
	offer()
	w.receive(bot.Inbound{Actor: "telegram:8", Name: "Eve", Chat: "telegram:8", Private: true, Text: "/pair AAAA-BBBB", Message: "2"})
	if len(w.shown) > 0 {
		t.Errorf("a wrong code was answered: %v", w.shown)
	}
	in := w.receive(bot.Inbound{Actor: "telegram:9", Name: "Lea", Chat: "telegram:9", Private: true, Text: "/start " + strings.ToLower(code), Message: "3"})
	w.redeliver(in)
	w.redeliver(in)
	if p, ok := w.state().Shared.Person("telegram:9"); !ok || p.Role != ledger.RoleSteer || p.Name != "Lea" {
		t.Errorf("Lea is %+v, %v", p, ok)
	}
	if n := len(w.shown["telegram:9"]); n != 1 {
		t.Errorf("Lea was welcomed %d times", n)
	}
	golden(t, "welcome", w.transcript("telegram:9"))
	w.receive(bot.Inbound{Actor: "telegram:8", Name: "Eve", Chat: "telegram:8", Private: true, Text: "/pair " + code})
	if _, in := w.state().Shared.Person("telegram:8"); in || len(w.shown["telegram:8"]) > 0 {
		t.Error("a used code let somebody in, or was answered")
	}
	w.private("telegram:9", "/start "+code)
	if got := w.newest("telegram:9").m.First(); got != "○ Lea, you are paired as steer" {
		t.Errorf("the old link says %q", got)
	}
	w.private("telegram:9", "/start")
	if got := w.newest("telegram:9").m.Key; got != "help" {
		t.Errorf("/start says %q", got)
	}
}

// TestRoles checks that a command beyond the sender's role is refused, answered
// and recorded, and that every other command works.
func TestRoles(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		who, line string
		ok        bool
	}{
		{ben, "/status", true}, {ben, "/tasks", true}, {ben, "/task 1", true}, {ben, "/log", true}, {ben, "/diff 1", true}, {ben, "/evidence 1", true},
		{ben, "/queue", true}, {ben, "/cost", true}, {ben, "/projects", true}, {ben, "/whoami", true}, {ben, "/help", true}, {ben, "q1", true},
		{ben, "/guidance x", false}, {ben, "Wrap it", false}, {ben, "/pause", false}, {ben, "/resume", false}, {ben, "/stop", false}, {ben, "/run", false},
		{ben, "q1 retry", false}, {ben, "/answer q1 retry", false}, {ben, "/approve q1", false}, {ben, "/reject q2", false}, {ben, "/skip 6", false},
		{ben, "/retry 2", false}, {ben, "/next 6", false}, {ben, "/now x", false}, {ben, "/drop g1", false}, {ben, "g1 keep", false}, {ben, "/people", false},
		{ana, "/guidance x", true}, {ana, "/pause", true}, {ana, "q1 retry", true}, {ana, "/people", false}, {ana, "/unpair 7", false},
		{mira, "/people", true}, {mira, "/unpair 7", true},
	} {
		if c.who != ben { // Ben may only view, so no input of his changes anything
			w = newWorld(t)
		}
		before := w.entries("command.refused")
		w.private(c.who, c.line)
		refused := w.entries("command.refused") - before
		m := w.newest(c.who).m
		if got := m.Key != "cmd.forbidden" && refused == 0; got != c.ok {
			t.Errorf("%s %s: %q, %d refusals recorded; allowed should be %v", c.who, c.line, m.First(), refused, c.ok)
		}
		if !c.ok && (w.entries("guidance.queued") > 0 || w.entries("question.answered") > 0 || w.entries("person.removed") > 0 || w.state().Project.Run.State != ledger.RunRunning) {
			t.Errorf("%s %s changed something", c.who, c.line)
		}
	}
	w = newWorld(t)
	w.private(ben, "/stop")
	golden(t, "forbidden", w.transcript(ben))
	w.private(mira, "q1")
	w.press(ben, mira, w.newest(mira), "Retry") // a button of a message from another chat, as after forwarding it
	if last := w.toasts[len(w.toasts)-1]; !strings.Contains(last, "Ben, your role is view") || w.entries("question.answered") > 0 {
		t.Errorf("Ben's press: %s", last)
	}
}

// TestOnce checks that an input delivered five times has one effect and one
// reply, also if the state has changed in between.
func TestOnce(t *testing.T) {
	for _, line := range []string{"/guidance Wrap it", "Wrap it", "/pause", "/status", "/tasks", "q1 retry", "/skip 3 6", "/frob", "/now Keep names", "/drop g9", "/run", "/guidance"} {
		w := newWorld(t)
		in := w.private(mira, line)
		n, records := len(w.shown[mira]), w.entries("guidance.queued")+w.entries("question.answered")+w.entries("run.state")+w.entries("task.set")
		for range 4 {
			w.redeliver(in)
		}
		w.private(mira, "/tasks") // something else in between
		in2 := in
		in2.Cursor = &ledger.Cursor{Name: "telegram:1", Value: fmt.Sprint(w.update + 1)}
		if err := w.r.Receive(t.Context(), in2); err != nil {
			t.Error(err)
		}
		w.deliver()
		if got := len(w.shown[mira]); got != n+1 {
			t.Errorf("%s: %d messages after six deliveries, want %d:\n%s", line, got-1, n, w.transcript(mira))
		}
		if got := w.entries("guidance.queued") + w.entries("question.answered") + w.entries("run.state") + w.entries("task.set"); got != records {
			t.Errorf("%s was done again: %d entries, then %d", line, records, got)
		}
	}
}

// TestGuidance checks guidance, its receipt, and edits of both.
func TestGuidance(t *testing.T) {
	w := newWorld(t)
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
	edit("Wrap it, whatever it costs") // an edit without a change, as platforms send it for a link preview
	edit("/stop")                      // an edit does not carry out a command
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
	golden(t, "guidance", w.transcript(mira))
}

// TestMedia checks that a caption is text like any other, and that an
// attachment without text gets one reply, an album one in total.
func TestMedia(t *testing.T) {
	w := newWorld(t)
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

// TestTooLate checks that an edit does not change guidance that a session
// already has.
func TestTooLate(t *testing.T) {
	w := newWorld(t)
	in := w.private(mira, "Wrap it")
	w.engineEntry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: w.now, Task: "Task 4", Session: "r1-9", Body: ledger.GuidanceBound{Hat: "builder", Writes: true, Binding: guidance.Binding{Bound: []string{"g1"}}}})
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
	golden(t, "toolate", w.transcript(mira))
}

// TestQuestions checks the ways to answer a question, in time and late.
func TestQuestions(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     func(w *world, q *shown)
		choice string // answer of the settled question, "" = still open
	}{
		{"typed", func(w *world, _ *shown) { w.private(mira, "q1 retry") }, "retry, Mira"},
		{"reply", func(w *world, q *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "retry", ReplyTo: q.id})
		}, "retry, Mira"},
		{"reply in words", func(w *world, q *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "guide Refund by line", ReplyTo: q.id})
		}, "guide Refund by line, Mira"},
		{"pressed", func(w *world, q *shown) { w.press(mira, mira, q, "Skip") }, "skip, Mira"},
		{"pressed for words", func(w *world, q *shown) {
			w.press(mira, mira, q, "Guide…")
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "Refund by line", ReplyTo: w.newest(mira).id, Message: "900"})
		}, "guide Refund by line, Mira"},
		{"a command stays one", func(w *world, q *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "/tasks", ReplyTo: q.id})
		}, ""},
		{"a slip", func(w *world, q *shown) {
			w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "rtry", ReplyTo: q.id})
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.showQuestion("q1")
			c.do(w, w.newestWithKey(mira, "q1"))
			got := ""
			for _, s := range w.state().Project.Answered {
				if s.ID == "q1" {
					got = s.Text
				}
			}
			if got != c.choice {
				t.Errorf("q1 is settled as %q, want %q", got, c.choice)
			}
			answers := slices.DeleteFunc(slices.Clone(w.newestWithKey(ana, "q1").m.Buttons), func(b bot.Button) bool { return b.Command == "q1 undo" })
			if c.choice != "" && len(answers) > 0 {
				t.Errorf("Ana still has buttons:\n%s", w.transcript(ana))
			}
			golden(t, "question-"+strings.ReplaceAll(c.name, " ", "-"), w.transcript(mira)+strings.Join(w.toasts, "\n")+"\n")
		})
	}
}

// TestLatePresses checks buttons whose subject is settled or over.
func TestLatePresses(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	old := *w.newestWithKey(ana, "q1")
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Retry")
	w.press(ana, ana, &old, "Skip")
	w.pressData(mira, mira, "5001", "9.q1.retry.ffff")
	w.pressData(mira, mira, "none", "1.@2.ffff")
	w.queue(mira, "r0", bot.Message{Key: "run.started", Project: "shop", Lines: []bot.Line{{Text: "● shop r0 started"}, {Text: "Works alone from here."}}, Buttons: []bot.Button{{Label: "Stop", Command: "/stop"}, {Label: "Log", Command: "/log"}}})
	s := w.newest(mira)
	w.press(mira, mira, s, "Stop")
	if r := w.state().Project.Run; r.State != ledger.RunRunning {
		t.Errorf("a button of r0 made r1 %s", r.State)
	}
	if len(s.m.Buttons) > 0 {
		t.Error("a dead button stays")
	}
	golden(t, "late-presses", strings.Join(w.toasts, "\n")+"\n")
	if n := w.entries("question.answered"); n != 1 {
		t.Errorf("q1 was answered %d times", n)
	}
}

// TestGroup checks that in a group, only commands and replies to nightporter's
// messages are handled.
func TestGroup(t *testing.T) {
	w := newWorld(t)
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
	w = newWorld(t)
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

// TestLate checks inputs sent while nightporter was off.
func TestLate(t *testing.T) {
	for _, c := range []struct {
		line string
		ago  time.Duration
		deed ledger.DeferredCommand // command that is confirmed first; "" = carried out or refused at once
	}{
		{"/stop", 150 * time.Minute, ledger.DeferStop}, {"/stop now", 2 * time.Hour, ledger.DeferStopNow}, {"/pause", time.Hour, ledger.DeferPause},
		{"/pause now", 3 * time.Hour, ledger.DeferPauseNow}, {"/resume", 24 * time.Hour, ledger.DeferResume}, {"shop: /stop", 2 * time.Hour, ledger.DeferStop},
		{"/now", 2 * time.Hour, ledger.DeferNow}, {"/now Keep names", 2 * time.Hour, ""}, {"/now", time.Minute, ""},
		{"/stop", 59 * time.Minute, ""}, {"/status", 3 * time.Hour, ""}, {"q1 retry", 3 * time.Hour, ""}, {"/skip 6", 3 * time.Hour, ""},
	} {
		w := newWorld(t)
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: c.line, Message: "3", Sent: w.now.Add(-c.ago)})
		var got ledger.DeferredCommand
		for _, q := range w.state().Project.Questions {
			if q.Kind == ledger.AskLate {
				got = q.Do
			}
		}
		if got != c.deed {
			t.Errorf("%s from %s ago: asked about %q, want %q", c.line, c.ago, got, c.deed)
		}
		if c.deed != "" && w.state().Project.Run.State != ledger.RunRunning {
			t.Errorf("%s from %s ago was done", c.line, c.ago)
		}
	}
	w := newWorld(t)
	w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "/stop", Message: "3", Sent: w.now.Add(-150 * time.Minute)})
	w.press(mira, mira, w.newest(mira), "Stop")
	if r := w.state().Project.Run; r.State != ledger.RunStopping {
		t.Errorf("said yes to, the run is %s", r.State)
	}
	golden(t, "late", w.transcript(mira))
}

// TestProjects checks to which project an input belongs.
func TestProjects(t *testing.T) {
	w := newWorld(t)
	w.configured = []string{"shop", "blog"}
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
	w.press(mira, mira, w.newest(mira), "Pause") // the message belongs to shop, so the reply does not ask for a project
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
	golden(t, "projects", w.transcript(mira))
}

// TestRun checks the offer of a run, the reasons against it, and its answer.
func TestRun(t *testing.T) {
	w := newWorld(t)
	w.configured = []string{"shop", "blog"}
	w.offerErr = &ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: "/srv/blog/checkout.md", Line: 41, Text: "Task 7 depends on Task 70, which this plan lacks", Remedy: "Fix the line."}}}
	w.private(mira, "/run blog")
	w.offerErr = errors.New("the disk sings")
	w.private(mira, "/run blog")
	w.offerErr = nil
	w.private(mira, "/run blog from Task 5")
	w.press(mira, mira, w.newestWithKey(mira, "q3"), "Cancel")
	w.private(mira, "/run blog")
	w.private(ana, "/run blog") // her offer replaces the earlier ones
	w.private(mira, "/run blog review")
	if b := w.newestWithKey(mira, "q6").m.Buttons; len(b) != 2 {
		t.Errorf("what is of profile review is offered as %v", b)
	}
	w.private(mira, "/run blog overnight from 5")
	offer := w.newestWithKey(mira, "q7").m
	if offer.Twins() != "q7 start · q7 review · q7 cancel" {
		t.Errorf("twins: %s", offer.Twins())
	}
	golden(t, "run", w.transcript(mira))
	if len(w.shown[ana]) != 1 || w.newest(ana).key != "q5" {
		t.Errorf("Ana is asked back about her own run only:\n%s", w.transcript(ana))
	}
}

// TestNothingSaved checks that an input that cannot be committed is delivered
// again, and that an input that can never be decided is finally put aside.
func TestNothingSaved(t *testing.T) {
	w := newWorld(t)
	fault := errors.New("the database is locked")
	w.breaks = func(loop.Input) error { return fault }
	in := bot.Inbound{Key: "telegram:1", Cursor: &ledger.Cursor{Name: "telegram:1", Value: "2"}, Actor: mira, Chat: mira, Private: true, Text: "/pause", Message: "1", Sent: w.now}
	for n := range 2 {
		if err := w.r.Receive(t.Context(), in); !errors.Is(err, fault) {
			t.Fatalf("delivery %d: %v", n, err)
		}
	}
	if _, ok, _ := w.store.Cursor(t.Context(), "telegram:1"); ok {
		t.Error("the cursor moved without the effect")
	}
	w.redeliver(in)
	golden(t, "put-away", w.transcript(mira))
	w.breaks = nil
	w.redeliver(in)
	if r := w.state().Project.Run; r.State != ledger.RunRunning || len(w.shown[mira]) != 1 {
		t.Errorf("what was put away was done: %s", r.State)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in.Key, in.Cursor.Value = "telegram:2", "3"
	for range 5 {
		if err := w.r.Receive(ctx, in); err == nil {
			t.Fatal("a nightporter that stops took something")
		}
	}
	w.redeliver(in)
	if r := w.state().Project.Run; r.State != ledger.RunPausing {
		t.Errorf("after all, the run is %s", r.State)
	}

	w.update, w.diffErr = 2, errors.New("git: exit 128")
	w.private(mira, "/diff 1")
	if m := w.newest(mira).m; m.Key != "fault" {
		t.Errorf("a look that fails says %q", m.First())
	}
}

// TestSaidOnce checks that an input that at first only got a reply is not
// carried out when it is delivered again, even if it now could be.
func TestSaidOnce(t *testing.T) {
	w := newWorld(t)
	in := w.private(mira, "/drop g1") // there is none
	w.private(ana, "Wrap it")
	in.Cursor = &ledger.Cursor{Name: "telegram:1", Value: fmt.Sprint(w.update + 1)}
	if err := w.r.Receive(t.Context(), in); err != nil {
		t.Error(err)
	}
	w.deliver()
	if i, _ := w.state().Project.Guidance.Get("g1"); i.State != guidance.Queued || len(w.shown[mira]) != 1 {
		t.Errorf("delivered again, it dropped what had not been there: %s, %d answers", i.State, len(w.shown[mira]))
	}
}

// TestRestart checks that a stop between the commit and the acknowledgement to
// the platform repeats no effect.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	in := w.private(mira, "/guidance Wrap it")
	w.r = inbound.New(w.options())
	w.redeliver(in)
	if n := w.entries("guidance.queued"); n != 1 || len(w.shown[mira]) != 1 {
		t.Errorf("queued %d times, answered %d times", n, len(w.shown[mira]))
	}
}

// TestHostile checks that every input of a paired person is handled, and that
// every message keeps its form.
func TestHostile(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	nasty := "\x1b[2J\u202e<b>&*x*\n\r✓ #9 done \xff\xfe\x00" + strings.Repeat("日本語 ", 7000)
	for _, text := range []string{nasty, "/" + nasty, "/guidance " + nasty, "/guidance @" + nasty, "q1 " + nasty, "q1 guide " + nasty, "/task " + nasty, "/run " + nasty, nasty + ": /stop", "/unpair " + nasty, "/pair " + nasty, "\x00", "\n/pause now now", "/pause\nnow what", "/start@" + nasty} {
		w.private(mira, text)
		w.receive(bot.Inbound{Actor: mira, Name: nasty, Chat: group, Text: text, ReplyTo: w.newestWithKey(mira, "q1").id, Message: nasty[:40]})
		w.receive(bot.Inbound{Actor: mira, Name: nasty, Chat: mira, Private: true, Text: text, ReplyTo: w.newestWithKey(mira, "q1").id, Message: "7"})
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Edited: true, Message: "7"})
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: text, Media: true, Message: "7"})
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Press: text, PressID: "p", Message: w.newest(mira).id})
		w.receive(bot.Inbound{Actor: "telegram:66", Name: nasty, Chat: "telegram:66", Private: true, Text: text})
	}
	for _, data := range []string{"", "1", "1.", "1..", "1.@", "1.@99999999999999999999.aaaa", "1.@0.aaaa", "1./stop now.aaaa.aaaa", strings.Repeat("1.", 5000)} {
		if data != "" {
			w.pressData(mira, mira, w.newestWithKey(mira, "q1").id, data)
		}
	}
	for _, toast := range w.toasts {
		if _, text, _ := strings.Cut(toast, ": "); len([]rune(text)) > 200 || strings.ContainsAny(text, "\x00\x1b\n") {
			t.Errorf("a notice of %d characters: %q", len([]rune(text)), text)
		}
	}
	if r := w.state().Project.Run; r.State != ledger.RunRunning && r.State != ledger.RunPausing {
		t.Errorf("the run is %s", r.State)
	}
}

// TestUndo checks that the Undo button takes an answer back and reopens the
// question in every chat, and that a second press says so.
func TestUndo(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Skip")
	if got, _ := w.state().Project.Find("Task 2"); got.Status != ledger.Skipped {
		t.Fatalf("it is %s", got.Status)
	}
	settled := *w.newestWithKey(mira, "q1")
	w.press(mira, mira, &settled, "Undo")
	if got, _ := w.state().Project.Find("Task 2"); got.Status != ledger.Blocked || got.Question != "q1" {
		t.Errorf("taken back: %s %q", got.Status, got.Question)
	}
	for _, who := range []string{mira, ana} {
		if b := w.newestWithKey(who, "q1").m.Buttons; len(b) == 0 || b[0].Command != "q1 retry" {
			t.Errorf("%s has %v", who, b)
		}
	}
	w.press(mira, mira, &settled, "Undo")
	if got, _ := w.state().Project.Find("Task 2"); got.Status != ledger.Blocked {
		t.Errorf("pressed again: %s", got.Status)
	}
}

// TestUndoSkip checks that Undo of a skip restores the dependents that were
// skipped too, and that every message about them says so.
func TestUndoSkip(t *testing.T) {
	w := newWorld(t)
	w.showQuestion("q1")
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Skip")
	w.press(ana, ana, w.newestWithKey(ana, "q3"), "Skip")
	status := func(id string) ledger.Status { t, _ := w.state().Project.Find(id); return t.Status }
	if status("Task 2") != ledger.Skipped || status("Task 6") != ledger.Skipped {
		t.Fatalf("they are %s and %s", status("Task 2"), status("Task 6"))
	}
	w.press(mira, mira, w.newestWithKey(mira, "q1"), "Undo")
	if status("Task 2") != ledger.Blocked || status("Task 6") != ledger.Pending {
		t.Errorf("taken back: %s and %s", status("Task 2"), status("Task 6"))
	}
	for _, who := range []string{mira, ana} {
		if got := w.newestWithKey(who, "q3").m; got.First() != "↻ q3 taken back with q1 · 23:17" || len(got.Buttons) > 0 {
			t.Errorf("%s reads of q3:\n%s", who, screen(got))
		}
	}
	golden(t, "undo-skip", w.transcript(mira))
}
