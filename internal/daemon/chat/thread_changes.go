package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A thread can change while the daemon runs: a topic is deleted, a chat closes, a
// group becomes a supergroup with another number. Every message is still
// delivered; people are told once, and the status shows a warning meanwhile.
// redirect.go has the messages that are queued at that moment.

// onThreadGone handles a deleted topic, which may have been closed before. Its
// messages go to the group from now on, and people are told once.
func (h *Hub) onThreadGone(chat string) {
	project := h.Threads.exact(chat)
	if project == "" {
		return
	}
	key := threadKey(chat)
	t := threadTrouble{text: "topic is gone, its group has it all: write another one to " + key}
	if _, known := h.Threads.gone.Swap(chat, true); known {
		return
	}
	h.troubles.Store(chat, t)
	h.CheckThreads()
	h.tellOfThread("lost:"+chat, silentMessage(platform.Group(chat), bot.ThreadGone(project, key)))
}

// onChatClosed handles a chat that refuses messages. If it is a thread, the
// project's messages go to private chats from now on. again reports that people
// know of it: each message in another topic of the group makes the dispatcher try
// again.
func (h *Hub) onChatClosed(chat, why string, again bool) {
	project := h.Threads.exact(chat)
	if project == "" {
		return
	}
	h.troubles.Store(chat, threadTrouble{text: "chat takes nothing, what it is told goes to everybody's own: " + bot.Cut(bot.Clean(why), 60), shut: true})
	h.CheckThreads()
	if again {
		return
	}
	s, _ := h.o.Engine.State(project)
	var open []string
	for _, q := range s.Project.Questions {
		open = append(open, q.ID)
	}
	var msgs []ledger.Outgoing
	for _, who := range h.peopleOn(chat) {
		msgs = append(msgs, silentMessage(who.ID, bot.ThreadShut(project, why, open)))
	}
	h.tellOfThread(fmt.Sprintf("shut:%s:%d", chat, time.Now().UnixNano()), msgs...)
}

// peopleOn returns the paired people of a chat's platform.
func (h *Hub) peopleOn(chat string) []ledger.Person {
	name, _, _ := strings.Cut(chat, ":")
	return slices.DeleteFunc(slices.Clone(h.o.Engine.Shared().People), func(p ledger.Person) bool { return !strings.HasPrefix(p.ID, name+":") })
}

// onMessage handles activity in a chat: delivery to the group's threads is
// tried again, and the message may contain a new title of the thread.
func (h *Hub) onMessage(in bot.Inbound) {
	if !platform.IsGroup(in.Chat) {
		return
	}
	if in.Title != "" && h.Threads.exact(in.Chat) != "" {
		h.Threads.titles.Store(in.Chat, in.Title)
	}
	h.CheckThreads()
}

// onChatMoved gives a group its new address permanently.
func (h *Hub) onChatMoved(ctx context.Context, from, to string) error {
	if err := h.o.Store.MoveChat(ctx, from, to); err != nil {
		return err
	}
	var msgs []ledger.Outgoing
	for _, pr := range h.o.Catalog.Config().Projects {
		for _, chat := range h.Threads.of(pr) {
			if platform.Group(chat) == from {
				msgs = append(msgs, silentMessage(to+strings.TrimPrefix(chat, from), bot.ThreadMoved(pr.Name, threadKey(to), configAddress(to))))
			}
		}
	}
	now := time.Now()
	if err := h.o.Engine.Say(ctx, "moved:"+from, now, msgs, &ledger.Cursor{Name: movedKey + from, Value: to, Time: now}); err != nil {
		return fmt.Errorf("note the new address of %s: %w", from, err)
	}
	h.Threads.moves.forget()
	h.CheckThreads()
	return nil
}

// threadTrouble is a problem of a thread.
type threadTrouble struct {
	text string
	shut bool // the problem ends when the chat accepts messages again
}

// CheckThreads recomputes the warnings about threads.
func (h *Hub) CheckThreads() {
	if h == nil {
		return
	}
	for _, pr := range h.o.Catalog.Config().Projects {
		line := ""
		for _, p := range platform.All {
			thread := p.Thread(pr)
			if thread == "" {
				continue
			}
			group := p.Group(thread)
			if to := h.Threads.moves.of(group); to != group {
				line = fmt.Sprintf("! %s's group has another number: write %s = %q", pr.Name, p.ThreadKey, configAddress(to))
			}
		}
		for _, chat := range h.Threads.of(pr) {
			t, is := h.troubles.Load(chat)
			if trouble, _ := t.(threadTrouble); is && !(trouble.shut && h.accepts(chat)) {
				line = "! " + pr.Name + "'s " + trouble.text
			}
		}
		h.o.Catalog.Warn(pr.Name, project.AboutThread, line)
	}
}

// threadKey returns the configuration key that sets threads on the chat's
// platform.
func threadKey(chat string) string {
	p, _ := platform.Of(chat)
	return p.ThreadKey
}

// configAddress returns an address in the form of the configuration.
func configAddress(chat string) string {
	_, id, _ := strings.Cut(chat, ":")
	return id
}

// tellOfThread commits messages about a thread, once for each key.
func (h *Hub) tellOfThread(key string, msgs ...ledger.Outgoing) {
	if err := h.o.Engine.Say(context.Background(), key, time.Now(), msgs, nil); err != nil && !errors.Is(err, engine.ErrStopped) {
		h.o.Log.Error("tell of a thread", "key", key, "error", err)
	}
}

// silentMessage returns a message that makes no sound.
func silentMessage(chat string, m bot.Message) ledger.Outgoing {
	body, err := json.Marshal(m)
	if err != nil { // cannot happen: the message consists of strings
		return ledger.Outgoing{}
	}
	return ledger.Outgoing{Chat: chat, Class: ledger.ClassNotice, Silent: true, Body: body}
}

// migratingOutbox is an outbox that migrates a group together with its thread
// and warnings.
type migratingOutbox struct {
	delivery.Outbox
	hub *Hub
}

// MoveChat changes the address of a chat and of its queued messages.
func (o migratingOutbox) MoveChat(ctx context.Context, from, to string) error {
	return o.hub.onChatMoved(ctx, from, to)
}
