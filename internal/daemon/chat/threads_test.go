package chat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

const shopTopic = "telegram:-1001234567890/42"

// TestThreads checks which chats belong to a project, and to which of them
// messages go.
func TestThreads(t *testing.T) {
	cfg := daemontest.Config(t, "manual")
	cfg.Telegram = &config.Telegram{}
	cfg.Projects[0].TelegramTopic = config.Topic{Chat: -1001234567890, Thread: 42}
	for name, at := range map[string]config.Topic{"blog": {Chat: -1001234567890}, "wiki": {}, "home": {Chat: -987654321}} {
		cfg.Projects = append(cfg.Projects, config.Project{Name: name, Repo: cfg.Projects[0].Repo, TelegramTopic: at})
	}
	p, _ := daemontest.Open(t, cfg)
	got := map[string][]string{}
	for _, name := range []string{"shop", "blog", "wiki", "home", "unknown", ""} {
		got[name] = p.Hub.Threads.Of(name)
	}
	want := map[string][]string{"shop": {shopTopic}, "blog": {"telegram:-1001234567890"}, "wiki": nil, "home": {"telegram:-987654321"}, "unknown": nil, "": nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("threads (-want +got):\n%s", diff)
	}
	for chat, want := range map[string]string{
		shopTopic: "shop", "telegram:-1001234567890": "blog", "telegram:-1001234567890/7": "blog", // a topic of blog's group that no project has
		"telegram:-987654321": "home", "telegram:48213377": "", "telegram:-1007": "", "telegram:-1007/42": "", "slack:C0123456": "", "": "",
	} {
		if got := p.Hub.Threads.Project(chat); got != want {
			t.Errorf("%q is of %q, want %q", chat, got, want)
		}
	}

	// A thread's title is known after its first message.
	p.Hub.Threads.Title(shopTopic, "the shop")
	places := func(actor, chat string) (out []string) {
		for _, name := range []string{"shop", "blog", "wiki", "home"} {
			out = append(out, p.Operator.Host().Place(name, bot.Request{Actor: actor, Chat: chat}))
		}
		return out
	}
	for _, c := range []struct {
		actor, chat string
		want        []string
	}{
		{"telegram:1", "", []string{`topic "the shop"`, "group -1001234567890", "this chat", "group -987654321"}},
		{"telegram:1", shopTopic, []string{"this chat", "group -1001234567890", "in private", "group -987654321"}},
		{"slack:U0MIRA", "", []string{"this chat", "this chat", "this chat", "this chat"}},
		{"console", "", []string{`topic "the shop"`, "group -1001234567890", "", "group -987654321"}},
	} {
		if diff := cmp.Diff(c.want, places(c.actor, c.chat)); diff != "" {
			t.Errorf("places for %s in %q (-want +got):\n%s", c.actor, c.chat, diff)
		}
	}

	// The outbox has the message about a decision once, addressed to the topic.
	for _, id := range []string{"telegram:1", "telegram:2"} {
		for _, in := range []loop.Input{{Actor: "console", Body: people.OfferPairing{Hash: "h", Role: ledger.RoleAdmin}}, {Actor: id, Name: "Mira", Body: people.TryPairing{Hash: "h"}}} {
			if a, err := p.Engine.Do(t.Context(), in); err != nil || !a.OK {
				t.Fatal(a, err)
			}
		}
	}
	settings, err := p.Projects.Resolve("shop", config.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	plan := "- [ ] **Task 1: One**\n  - Depends: Task 70\n"
	if err := os.WriteFile(filepath.Join(cfg.Projects[0].Repo, "plan.md"), []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := p.Engine.Do(t.Context(), loop.Input{Actor: "console", Project: "shop", Idle: true, Body: loop.StartRun{Settings: settings, MaxSessions: 1}}); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	told := func(chat string) (first []string) {
		queue, err := p.Store.Queued(t.Context(), chat)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range queue {
			var m bot.Message
			if err := json.Unmarshal(o.Body, &m); err != nil {
				t.Fatal(err)
			}
			first = append(first, m.First())
		}
		return first
	}
	for late := time.After(daemontest.Patience); len(told(shopTopic)) == 0; {
		rung := p.Changes.Next()
		if len(told(shopTopic)) > 0 {
			break
		}
		select {
		case <-rung:
		case <-late:
			t.Fatal("nothing is told of a preflight that fails")
		}
	}
	chats, err := p.Store.Chats(t.Context())
	if diff := cmp.Diff([]string{shopTopic}, chats); diff != "" || err != nil {
		t.Errorf("chats (-want +got):\n%s%v", diff, err)
	}
	if got := told(shopTopic); len(got) != 1 || !strings.HasPrefix(got[0], "✗ shop not started") {
		t.Errorf("%q", got)
	}
}
