package chat_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop"
)

// TestMemberLeavesBeforeQuestion checks that a person who left the group within the
// hour is asked a question in their own chat as soon as it is asked.
func TestMemberLeavesBeforeQuestion(t *testing.T) {
	const group = -1001234567890
	f := newThreadFixture(t, config.Topic{Chat: group, Thread: 42})
	f.stop()
	plan := "- [ ] **Task 1: One**\n- [ ] **Task 2: Two**\n  - Depends on: Task 1\n"
	if err := os.WriteFile(filepath.Join(f.Projects.Config().Projects[0].Repo, "plan.md"), []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Telegram.SetPinRight(group, true)
	f.Telegram.Post(telegram.UserMessage{From: telegram.User{ID: 2, Name: "Ben"}, Chat: group, Thread: 42, Text: "hello"})
	f.begin()
	asked := len(f.Telegram.Calls("getChatMember"))
	if err := f.Telegram.WaitCalls(f.patience(), "getChatMember", asked+2); err != nil {
		t.Fatal(err)
	}
	f.failRun()
	f.waitShown(group, 1, shopBad)

	f.Telegram.Leave(telegram.User{ID: 2}, group)
	f.Input(loop.Input{Actor: daemontest.Admin, Project: "shop", Idle: true, Body: loop.SkipTask{Task: "Task 1"}})
	f.waitShown(group, 1, "? ")
	m := f.waitShown(2, 1, "? ")
	if !strings.Contains(m.Text, "(q1)") {
		t.Errorf("%+v", m)
	}
	if n := f.count(forumMira.ID, "? "); n != 0 {
		t.Errorf("who reads there is asked %d times besides", n)
	}
}
