package chat_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ask commits a question for the topic, as a decision does that was made before
// anybody knew that the topic is shut.
func (f *threadFixture) ask(id string) {
	f.T.Helper()
	body, err := json.Marshal(bot.Message{
		Key: "ask.agent", Project: "shop", Lines: []bot.Line{{Text: "? shop #4 asks (" + id + ")"}},
		Buttons: []bot.Button{{Label: "A", Command: id + " a"}, {Label: "Tasks", Command: "/tasks"}},
	})
	if err != nil {
		f.T.Fatal(err)
	}
	r, err := f.Store.Commit(f.ctx, ledger.Batch{Time: time.Now(), Messages: []ledger.Outgoing{{Chat: shopTopic, Key: id, Class: ledger.ClassAsk, Body: body}}})
	if err != nil {
		f.T.Fatal(err)
	}
	f.Hub.Sent(r.Chats)
}

// TestQuestionFindsThreadShut checks that a question which itself discovers that the
// bot was removed from its group arrives in people's own chats, with its words, its
// sound and the buttons of each reader, and that it does so the second time on a
// day, too.
func TestQuestionFindsThreadShut(t *testing.T) {
	const group = -1001234567890
	f := newThreadFixture(t, config.Topic{Chat: group, Thread: 42})
	f.ask("q1")
	f.waitShown(group, 1, "? shop #4 asks (q1)")

	f.Telegram.Block(group)
	f.ask("q2")
	m := f.waitShown(forumMira.ID, 1, "? shop #4 asks (q2)")
	if m.Silent || len(m.Buttons) != 1 || len(m.Buttons[0]) != 2 {
		t.Errorf("the admin's: %+v", m)
	}
	if m := f.waitShown(2, 1, "? shop #4 asks (q2)"); m.Silent || len(m.Buttons) != 1 || len(m.Buttons[0]) != 1 {
		t.Errorf("the viewer's: %+v", m)
	}
	f.waitShown(forumMira.ID, 1, "! shop: its chat takes nothing")

	// Let in again, but with a closed topic: nothing arrived meanwhile, so people
	// know it already. The question moves all the same.
	f.Telegram.LetIn(group)
	f.Telegram.Topic(group, 42, false)
	f.Telegram.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 7, Text: "nothing to do with it"})
	if err := f.Telegram.WaitConfirmed(f.patience()); err != nil {
		t.Fatal(err)
	}
	f.ask("q3")
	f.waitShown(forumMira.ID, 1, "? shop #4 asks (q3)")
	if n := f.count(forumMira.ID, "! shop: its chat takes nothing"); n != 1 {
		t.Errorf("told %d times that it is shut", n)
	}

	// The topic is open, and the bot removed once more on the same day.
	f.Telegram.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 42, Text: "welcome back"})
	if err := f.Telegram.WaitConfirmed(f.patience()); err != nil {
		t.Fatal(err)
	}
	f.ask("q4")
	f.waitShown(group, 1, "? shop #4 asks (q4)")
	f.Telegram.Block(group)
	f.failRun() // a notice moves, too
	f.waitShown(forumMira.ID, 1, shopBad)
	f.waitShown(forumMira.ID, 2, "! shop: its chat takes nothing")
	if n := f.count(forumMira.ID, "? shop #4 asks (q4)"); n != 0 {
		t.Errorf("a question that arrived in the group is asked in private, too")
	}
}

// TestClosedTopicIsDeleted checks that a topic which was closed and is deleted later
// is told as gone, and that it is not tried first for ever.
func TestClosedTopicIsDeleted(t *testing.T) {
	const group = -1001234567890
	f := newThreadFixture(t, config.Topic{Chat: group, Thread: 42})
	f.Telegram.Topic(group, 42, false)
	f.failRun()
	f.waitShown(forumMira.ID, 1, "! shop: its chat takes nothing")
	f.Telegram.RemoveTopic(group, 42)
	f.Telegram.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 7, Text: "gone now"})
	if err := f.Telegram.WaitConfirmed(f.patience()); err != nil {
		t.Fatal(err)
	}
	f.failRun() // finds out
	f.waitShown(group, 1, shopBad)
	f.waitShown(group, 1, "! shop: its topic is gone")
	if got := strings.Join(f.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, "topic is gone") {
		t.Errorf("warnings: %q", got)
	}
	before := len(f.Telegram.Calls("sendMessage"))
	f.failRun()
	f.waitShown(group, 2, shopBad)
	for _, c := range f.Telegram.Calls("sendMessage")[before:] {
		if c.Params["message_thread_id"] == "42" {
			t.Error("the deleted topic is still tried first")
		}
	}
}
