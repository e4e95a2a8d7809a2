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
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop"
)

// threadWorld is a daemon with a fake Telegram, in which shop has a topic and one
// person is paired.
type threadWorld struct {
	*daemontest.World
	ctx  context.Context
	stop func()
}

var forumMira = telegram.User{ID: 1, Name: "Mira"}

func newThreadWorld(t *testing.T, at config.Topic) *threadWorld {
	t.Helper()
	f := &threadWorld{World: daemontest.New(t)}
	usual := delivery.TelegramLimits
	t.Cleanup(func() { delivery.TelegramLimits = usual })
	soon := delivery.Rate{Every: time.Millisecond, Burst: 5} // the real limit of a group is one message in 3.5 s
	delivery.TelegramLimits = delivery.Limits{Private: soon, Group: soon, All: soon}
	var cancel context.CancelFunc
	f.ctx, cancel = context.WithTimeout(t.Context(), daemontest.Patience)
	t.Cleanup(cancel)
	cfg := *f.Projects.Config()
	cfg.Projects[0].TelegramTopic = at
	cfg.Projects = append(cfg.Projects, config.Project{Name: "blog", Repo: t.TempDir()}) // a second project, so that commands have to name one
	if err := os.WriteFile(filepath.Join(cfg.Projects[0].Repo, "plan.md"), []byte("- [ ] **Task 1: One**\n  - Depends: Task 70\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Projects.Use(&cfg)
	f.Far.Post(telegram.UserMessage{From: forumMira, Chat: at.Chat, Thread: at.Thread, Text: "good evening"})
	for _, id := range []int64{1, 2} {
		f.Far.Say(telegram.User{ID: id, Name: "Mira"}, id, "/whoami") // a bot cannot open a private chat by itself
	}
	f.begin()
	return f
}

// begin connects to Telegram, as `nightporter up` does.
func (f *threadWorld) begin() {
	f.T.Helper()
	c := f.Hub.Connect(time.Time{})
	if err := c.Start(f.ctx); err != nil {
		f.T.Fatal(err)
	}
	f.stop = c.Stop
	f.T.Cleanup(f.stop)
}

// sendNews makes shop send a message: a run that fails at its preflight.
func (f *threadWorld) sendNews() {
	f.T.Helper()
	settings, err := f.Projects.Resolve("shop", config.Overrides{})
	if err != nil {
		f.T.Fatal(err)
	}
	f.Input(loop.Input{Actor: "console", Project: "shop", Idle: true, Body: loop.StartRun{Settings: settings, MaxSessions: 1}})
}

// waitShown waits for the bot's n-th message in a chat that begins with a text.
func (f *threadWorld) waitShown(chat int64, n int, first string) telegram.Message {
	f.T.Helper()
	var found telegram.Message
	_, err := f.Far.WaitFor(f.ctx, chat, func(c telegram.Chat) bool {
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

func (f *threadWorld) count(chat int64, first string) int {
	n := 0
	for _, m := range f.Far.Chat(chat).Messages {
		if m.Bot && strings.HasPrefix(m.Text, first) {
			n++
		}
	}
	return n
}

const shopBad = "✗ shop not started"

// TestThreadOnTelegram checks that a project's messages appear in its topic and
// that commands typed there concern the project. A deleted or closed topic
// loses no message, and people are told once.
func TestThreadOnTelegram(t *testing.T) {
	const group = -1001234567890
	f := newThreadWorld(t, config.Topic{Chat: group, Thread: 42})
	f.sendNews()
	if m := f.waitShown(group, 1, shopBad); m.Thread != 42 {
		t.Errorf("%+v", m)
	}
	// The bot does not ask for the project, and replies in the same topic.
	f.Far.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 42, Text: "/status"})
	status := f.waitShown(group, 1, "○ shop idle")
	if status.Thread != 42 {
		t.Errorf("%+v", status)
	}
	if n := f.count(forumMira.ID, shopBad); n != 0 {
		t.Errorf("told %d times in private as well", n)
	}

	// Other readers of the topic cannot give commands.
	eve := telegram.User{ID: 99, Name: "Eve"}
	if _, err := f.Far.Press(eve, group, f.waitShown(group, 1, shopBad).ID, "Start"); err != nil {
		t.Fatal(err)
	}
	f.Far.Reply(eve, group, status.ID, "/stop now")
	if err := f.Far.WaitConfirmed(f.ctx); err != nil {
		t.Fatal(err)
	}
	if n := len(f.Far.Calls("answerCallbackQuery")); n != 0 || f.count(group, shopBad) != 1 {
		t.Errorf("a stranger is answered, %d presses", n)
	}

	// The topic is deleted: the messages go to the group, with one explanation.
	f.Far.RemoveTopic(group, 42)
	f.sendNews()
	fallen := f.waitShown(group, 2, shopBad)
	if fallen.Thread != 0 {
		t.Errorf("%+v", fallen)
	}
	gone := f.waitShown(group, 1, "! shop: its topic is gone")
	if !gone.Silent || gone.Thread != 0 {
		t.Errorf("%+v", gone)
	}
	f.sendNews()
	f.waitShown(group, 3, shopBad)
	if n := f.count(group, "! shop: its topic is gone"); n != 1 {
		t.Errorf("told %d times that it is gone", n)
	}
	if !strings.Contains(strings.Join(f.Projects.WarningsOf("shop"), "\n"), "topic is gone") {
		t.Errorf("remarks: %q", f.Projects.WarningsOf("shop"))
	}
	// A reply to such a message in the group works as in the topic.
	f.Far.Reply(forumMira, group, fallen.ID, "Keep the old names")
	if m := f.waitShown(group, 1, "○ g1 queued"); !strings.Contains(m.Text, "Keep the old names") {
		t.Errorf("%+v", m)
	}

	// The topic closes: news goes to private chats.
	f.Far.Topic(group, 42, false)
	f.sendNews() // finds out
	shut := f.waitShown(forumMira.ID, 1, "! shop: its chat takes nothing")
	if !shut.Silent || !strings.Contains(shut.Text, "TOPIC_CLOSED") {
		t.Errorf("%+v", shut)
	}
	f.waitShown(2, 1, "! shop: its chat takes nothing")
	f.sendNews()
	f.waitShown(forumMira.ID, 1, shopBad)
	if got := strings.Join(f.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, "takes nothing") {
		t.Errorf("remarks: %q", got)
	}
	// After the topic opens and a message arrives in it, delivery to it is
	// tried again.
	f.Far.Topic(group, 42, true)
	f.Far.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 7, Text: "open again"})
	if err := f.Far.WaitConfirmed(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.sendNews()
	if m := f.waitShown(group, 4, shopBad); m.Thread != 42 {
		t.Errorf("%+v", m)
	}
	if n := f.count(forumMira.ID, shopBad); n != 1 {
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
	f := newThreadWorld(t, config.Topic{Chat: old})
	f.sendNews()
	f.waitShown(old, 1, shopBad)
	f.Far.Migrate(old, group)
	if m := f.waitShown(group, 1, "! shop: another group number"); !m.Silent || !strings.Contains(m.Text, `telegram_topic = "-1009876543210"`) {
		t.Errorf("%+v", m)
	}
	check := func(when string, n int) {
		t.Helper()
		f.sendNews()
		f.waitShown(group, n, shopBad)
		f.Far.Say(forumMira, group, "/status")
		f.waitShown(group, 1, "○ shop idle")
		if got := strings.Join(f.Projects.WarningsOf("shop"), "\n"); !strings.Contains(got, `write telegram_topic = "-1009876543210"`) {
			t.Errorf("%s, remarks: %q", when, got)
		}
	}
	check("moved", 1)
	f.stop()
	f.Hub.Threads.Forget() // a restarted process has no cached address
	f.Projects.Warn("shop", project.AboutThread, "")
	f.begin()
	before := len(f.Far.Calls("sendMessage"))
	check("after a restart", 2)
	for _, c := range f.Far.Calls("sendMessage")[before:] {
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
	f := newThreadWorld(t, config.Topic{Chat: group, Thread: 42})
	say := func(text string) {
		f.Far.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 42, Text: text})
	}
	say("/projects")
	if m := f.waitShown(group, 1, "○ 2 projects"); !strings.Contains(m.Text, "shop idle, no run yet · this chat") || !strings.Contains(m.Text, "blog idle, no run yet · in private") {
		t.Errorf("%s", m.Text)
	}
	f.Far.Say(forumMira, forumMira.ID, "/projects")
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
	f := newThreadWorld(t, config.Topic{Chat: group, Thread: 42})
	if err := f.Far.WaitCalls(f.ctx, "getChatMember", 2); err != nil {
		t.Fatal(err)
	}
	f.sendNews() // the platform has not reported members yet
	f.waitShown(group, 1, shopBad)
	f.stop()
	f.Far.SetPinRight(group, true)
	f.begin()
	if err := f.Far.WaitCalls(f.ctx, "getChatMember", 4); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(daemontest.Patience); f.Hub.Reads(shopTopic, daemontest.Viewer) && time.Now().Before(end); {
		runtime.Gosched() // its answer has not been handled yet
	}
	f.sendNews()
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
	f := newThreadWorld(t, config.Topic{Chat: group, Thread: 42})
	asks := 0
	status := func() telegram.Message {
		t.Helper()
		asks++
		f.Far.Post(telegram.UserMessage{From: forumMira, Chat: group, Thread: 42, Text: "/status"})
		if err := f.Far.WaitCalls(f.ctx, "pinChatMessage", asks); err != nil {
			t.Fatal(err)
		}
		shown, _ := f.Far.Chat(group).Find(func(m telegram.Message) bool { return strings.HasPrefix(m.Text, first) })
		return shown
	}
	one := status()
	two := status()
	if one.Pinned || two.Pinned || one.ID == two.ID || f.count(group, first) != 1 || two.Thread != 42 {
		t.Errorf("without the right to pin: %+v\n%+v", one, two)
	}
	f.Far.SetPinRight(group, true)
	three := status()
	if !three.Pinned || f.count(group, first) != 1 {
		t.Errorf("%+v", three)
	}
	f.Far.Fault("deleteMessage", telegram.BadRequest("message can't be deleted"))
	four := status()
	if err := f.Far.WaitCalls(f.ctx, "unpinChatMessage", 1); err != nil {
		t.Fatal(err)
	}
	old, _ := f.Far.Chat(group).Find(func(m telegram.Message) bool { return m.ID == three.ID })
	if !four.Pinned || old.Pinned || old.Text != "→ moved down" || len(old.Buttons) > 0 {
		t.Errorf("%+v\n%+v", old, four)
	}
}
