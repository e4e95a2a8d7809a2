package chat_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/chat"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop"
)

// threadFixture is a daemon with a fake Telegram, in which shop has a topic and one
// person is paired.
type threadFixture struct {
	*daemontest.Fixture
	ctx         context.Context
	stop        func()
	connections *chat.Connections
}

var forumMira = telegram.User{ID: 1, Name: "Mira"}

func newThreadFixture(t *testing.T, at config.Topic) *threadFixture {
	t.Helper()
	f := &threadFixture{Fixture: daemontest.New(t)}
	usual := delivery.TelegramLimits
	t.Cleanup(func() { delivery.TelegramLimits = usual })
	soon := delivery.Rate{Every: time.Millisecond, Burst: 5} // the real limit of a group is one message in 3.5 s
	delivery.TelegramLimits = delivery.Limits{Private: soon, Group: soon, All: soon}
	var cancel context.CancelFunc
	f.ctx, cancel = context.WithCancel(t.Context())
	t.Cleanup(cancel)
	cfg := *f.Projects.Config()
	cfg.Projects[0].TelegramTopic = at
	cfg.Projects = append(cfg.Projects, config.Project{Name: "blog", Repo: t.TempDir()}) // a second project, so that commands have to name one
	if err := os.WriteFile(filepath.Join(cfg.Projects[0].Repo, "plan.md"), []byte("- [ ] **Task 1: One**\n  - Depends: Task 70\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Projects.Use(&cfg)
	f.Telegram.Post(telegram.UserMessage{From: forumMira, Chat: at.Chat, Thread: at.Thread, Text: "good evening"})
	for _, id := range []int64{1, 2} {
		f.Telegram.Say(telegram.User{ID: id, Name: "Mira"}, id, "/whoami") // private chats begin with the person
	}
	f.begin()
	return f
}

// begin connects to Telegram, as `nightporter up` does.
func (f *threadFixture) begin() {
	f.T.Helper()
	c := f.Hub.Connect(time.Time{})
	if err := c.Start(f.ctx); err != nil {
		f.T.Fatal(err)
	}
	f.stop, f.connections = c.Stop, c
	f.T.Cleanup(f.stop)
}

// patience returns a context for one wait.
func (f *threadFixture) patience() context.Context {
	ctx, cancel := context.WithTimeout(f.ctx, daemontest.Patience)
	f.T.Cleanup(cancel)
	return ctx
}

// failRun starts a run of shop that fails its preflight, which people are told.
func (f *threadFixture) failRun() {
	f.T.Helper()
	settings, err := f.Projects.Resolve("shop", config.Overrides{})
	if err != nil {
		f.T.Fatal(err)
	}
	f.Input(loop.Input{Actor: "console", Project: "shop", Idle: true, Body: loop.StartRun{Settings: settings, MaxSessions: 1}})
}

// waitShown waits for the bot's n-th message in a chat that begins with a text.
func (f *threadFixture) waitShown(chat int64, n int, first string) telegram.Message {
	f.T.Helper()
	var found telegram.Message
	_, err := f.Telegram.WaitFor(f.patience(), chat, func(c telegram.Chat) bool {
		left := n
		for _, m := range c.Messages {
			if m.Bot && strings.HasPrefix(m.Text, first) {
				if left--; left == 0 {
					found = m
					return true
				}
			}
		}
		return false
	})
	if err != nil {
		f.T.Fatalf("%q: %v", first, err)
	}
	return found
}

func (f *threadFixture) count(chat int64, first string) int {
	n := 0
	for _, m := range f.Telegram.Chat(chat).Messages {
		if m.Bot && strings.HasPrefix(m.Text, first) {
			n++
		}
	}
	return n
}

const shopBad = "✗ shop not started"

// TestThreadOnTelegram checks that a project's messages appear in its topic and
// that commands typed there concern the project. A deleted topic loses no message,
// and people are told once.
func TestThreadOnTelegram(t *testing.T) {
	const group = -1001234567890
	f := newThreadFixture(t, config.Topic{Chat: group, Thread: 42})
	f.failRun()
	if m := f.waitShown(group, 1, shopBad); m.Thread != 42 {
		t.Errorf("%+v", m)
	}
	// The bot does not ask for the project, and replies in the same topic.
	f.Telegram.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 42, Text: "/status"})
	status := f.waitShown(group, 1, "! shop not started")
	if status.Thread != 42 {
		t.Errorf("%+v", status)
	}
	if n := f.count(forumMira.ID, shopBad); n != 0 {
		t.Errorf("told %d times in private as well", n)
	}

	// Other readers of the topic cannot give commands.
	eve := telegram.User{ID: 99, Name: "Eve"}
	if _, err := f.Telegram.Press(eve, group, f.waitShown(group, 1, shopBad).ID, "Start"); err != nil {
		t.Fatal(err)
	}
	f.Telegram.Reply(eve, group, status.ID, "/stop now")
	if err := f.Telegram.WaitConfirmed(f.patience()); err != nil {
		t.Fatal(err)
	}
	if n := len(f.Telegram.Calls("answerCallbackQuery")); n != 0 || f.count(group, shopBad) != 1 {
		t.Errorf("a stranger is answered, %d presses", n)
	}

	// The topic is deleted: the group has it, and is told why, once.
	f.Telegram.RemoveTopic(group, 42)
	f.failRun()
	fallen := f.waitShown(group, 2, shopBad)
	if fallen.Thread != 0 {
		t.Errorf("%+v", fallen)
	}
	gone := f.waitShown(group, 1, "! shop: its topic is gone")
	if !gone.Silent || gone.Thread != 0 {
		t.Errorf("%+v", gone)
	}
	f.failRun()
	f.waitShown(group, 3, shopBad)
	if n := f.count(group, "! shop: its topic is gone"); n != 1 {
		t.Errorf("told %d times that it is gone", n)
	}
	if !strings.Contains(strings.Join(f.Projects.WarningsOf("shop"), "\n"), "topic is gone") {
		t.Errorf("remarks: %q", f.Projects.WarningsOf("shop"))
	}
	// A reply to such a message in the group works as in the topic.
	f.Telegram.Reply(forumMira, group, fallen.ID, "Keep the old names")
	if m := f.waitShown(group, 1, "○ g1 queued"); !strings.Contains(m.Text, "Keep the old names") {
		t.Errorf("%+v", m)
	}
}

// TestThreadCloses checks that the news of a closed topic goes to private chats
// until it opens again.
func TestThreadCloses(t *testing.T) {
	const group = -1001234567890
	f := newThreadFixture(t, config.Topic{Chat: group, Thread: 42})
	f.Telegram.Topic(group, 42, false)
	f.failRun() // finds out
	shut := f.waitShown(forumMira.ID, 1, "! shop: its chat takes nothing")
	if !shut.Silent || !strings.Contains(shut.Text, "TOPIC_CLOSED") {
		t.Errorf("%+v", shut)
	}
	f.waitShown(2, 1, "! shop: its chat takes nothing")
	f.waitShown(forumMira.ID, 1, shopBad)
	f.failRun()
	f.waitShown(forumMira.ID, 2, shopBad)
	if got := strings.Join(f.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, "takes nothing") {
		t.Errorf("remarks: %q", got)
	}
	// After the topic opens and a message arrives in it, delivery to it is
	// tried again.
	f.Telegram.Topic(group, 42, true)
	f.Telegram.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 7, Text: "open again"})
	if err := f.Telegram.WaitConfirmed(f.patience()); err != nil {
		t.Fatal(err)
	}
	f.failRun()
	if m := f.waitShown(group, 1, shopBad); m.Thread != 42 {
		t.Errorf("%+v", m)
	}
	if n := f.count(forumMira.ID, shopBad); n != 2 {
		t.Errorf("told %d times in private", n)
	}
	if got := strings.Join(f.Projects.WarningsOf("shop"), "\n"); strings.Contains(got, "takes nothing") {
		t.Errorf("remarks: %q", got)
	}
}

// TestThreadMoves checks that a group that becomes a supergroup continues to
// work under its new id, also after a restart, and that the status shows the
// new setting.
func TestThreadMoves(t *testing.T) {
	const old, group = -987654321, -1009876543210
	f := newThreadFixture(t, config.Topic{Chat: old})
	f.failRun()
	f.waitShown(old, 1, shopBad)
	f.Telegram.Migrate(old, group)
	if m := f.waitShown(group, 1, "! shop: another group number"); !m.Silent || !strings.Contains(m.Text, `telegram_topic = "-1009876543210"`) {
		t.Errorf("%+v", m)
	}
	check := func(when string, n int) {
		t.Helper()
		f.failRun()
		f.waitShown(group, n, shopBad)
		f.Telegram.Say(forumMira, group, "/status")
		f.waitShown(group, 1, "! shop not started")
		if got := strings.Join(f.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, `write telegram_topic = "-1009876543210"`) {
			t.Errorf("%s, remarks: %q", when, got)
		}
	}
	check("moved", 1)
	f.stop()
	f.Hub.Threads.Forget() // a restarted process has no cached address
	f.Projects.Warn("shop", project.AboutThread, "")
	f.begin()
	before := len(f.Telegram.Calls("sendMessage"))
	check("after a restart", 2)
	for _, c := range f.Telegram.Calls("sendMessage")[before:] {
		if c.Params["chat_id"] == "-987654321" {
			t.Error("the old number is still tried")
		}
	}
	if n := f.count(group, "! shop: another group number"); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// TestThreadLooks checks the queries about a topic that are typed in it.
func TestThreadLooks(t *testing.T) {
	const group = -1001234567890
	f := newThreadFixture(t, config.Topic{Chat: group, Thread: 42})
	say := func(text string) {
		f.Telegram.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 42, Text: text})
	}
	say("/projects")
	if m := f.waitShown(group, 1, "○ 2 projects"); !strings.Contains(m.Text, "shop idle, no run yet · this chat") || !strings.Contains(m.Text, "blog idle, no run yet · in private") {
		t.Errorf("%s", m.Text)
	}
	f.Telegram.Say(forumMira, forumMira.ID, "/projects")
	if m := f.waitShown(forumMira.ID, 1, "○ 2 projects"); !strings.Contains(m.Text, `shop idle, no run yet · topic "night of the shop"`) || !strings.Contains(m.Text, "blog idle, no run yet · this chat") {
		t.Errorf("%s", m.Text)
	}
	say("/whoami")
	if m := f.waitShown(group, 1, "Mira · admin"); !strings.Contains(m.Text, "This chat: Telegram -1001234567890/42") {
		t.Errorf("%s", m.Text)
	}
	say("/quiet 22:00-06:30")
	f.waitShown(group, 1, "○ Quiet 22:00-06:30")
	quiet := f.Engine.Shared().Quiet
	if len(quiet) != 1 || quiet["telegram:-1001234567890/42"] != "22:00-06:30" {
		t.Errorf("quiet hours %v", quiet)
	}
}

// TestThreadMembers checks that a person outside of the group gets the news in
// private as soon as the platform has reported that.
func TestThreadMembers(t *testing.T) {
	const group = -1001234567890
	f := newThreadFixture(t, config.Topic{Chat: group, Thread: 42})
	if err := f.Telegram.WaitCalls(f.patience(), "getChatMember", 2); err != nil {
		t.Fatal(err)
	}
	f.failRun() // the platform does not list members
	f.waitShown(group, 1, shopBad)
	f.stop()
	f.Telegram.SetPinRight(group, true)
	f.begin()
	if err := f.Telegram.WaitCalls(f.patience(), "getChatMember", 4); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(daemontest.Patience); f.Hub.Reads(shopTopic, daemontest.Viewer) && time.Now().Before(end); {
		runtime.Gosched() // its answer has not been handled yet
	}
	f.failRun()
	f.waitShown(group, 2, shopBad)
	f.waitShown(2, 1, shopBad)
	if n := f.count(forumMira.ID, shopBad); n != 0 {
		t.Errorf("who reads there is told %d times besides", n)
	}
}

// TestThreadStatus checks that /status posts the topic's live status anew. A
// group that forbids pinning delays nothing. A status too old to be deleted
// points to the new one and is unpinned.
func TestThreadStatus(t *testing.T) {
	const group, first = -1001234567890, "○ shop idle"
	f := newThreadFixture(t, config.Topic{Chat: group, Thread: 42})
	asks := 0
	status := func() telegram.Message {
		t.Helper()
		asks++
		f.Telegram.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 42, Text: "/status"})
		if err := f.Telegram.WaitCalls(f.patience(), "pinChatMessage", asks); err != nil {
			t.Fatal(err)
		}
		shown, _ := f.Telegram.Chat(group).Find(func(m telegram.Message) bool { return strings.HasPrefix(m.Text, first) })
		return shown
	}
	one := status()
	two := status()
	if one.Pinned || two.Pinned || one.ID == two.ID || f.count(group, first) != 1 || two.Thread != 42 {
		t.Errorf("without the right to pin: %+v\n%+v", one, two)
	}
	f.Telegram.SetPinRight(group, true)
	three := status()
	if !three.Pinned || f.count(group, first) != 1 {
		t.Errorf("%+v", three)
	}
	f.Telegram.Fault("deleteMessage", telegram.BadRequest("message can't be deleted"))
	four := status()
	if err := f.Telegram.WaitCalls(f.patience(), "unpinChatMessage", 1); err != nil {
		t.Fatal(err)
	}
	old, _ := f.Telegram.Chat(group).Find(func(m telegram.Message) bool { return m.ID == three.ID })
	if !four.Pinned || old.Pinned || old.Text != "→ moved down" || len(old.Buttons) > 0 {
		t.Errorf("%+v\n%+v", old, four)
	}
}
