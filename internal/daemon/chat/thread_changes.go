package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// What becomes of threads that change while nightporter is up: a topic is
// deleted, a chat closes, a group becomes a supergroup with another number.
// None of it keeps anything from being told; people hear of it once, and the
// status says so as long as it is so.

// lost says that a topic is not there, so that what is for it stands in its
// group.
func (h *Hub) onThreadGone(chat string) {
	project := h.Threads.exact(chat)
	if project == "" {
		return
	}
	key := threadKey(chat)
	t := threadTrouble{text: "topic is gone, its group has it all: write another one to " + key}
	if _, known := h.troubles.Swap(chat, t); known {
		return
	}
	h.CheckThreads()
	h.tellOfThread("lost:"+chat, note(chat, bot.ThreadGone(project, key)))
}

// shut says that a chat takes nothing. Where it is a thread, its project is
// told of in the people's own chats from now on.
func (h *Hub) onChatClosed(chat, why string) {
	project := h.Threads.exact(chat)
	if project == "" {
		return
	}
	h.troubles.Store(chat, threadTrouble{text: "chat takes nothing, what it is told goes to everybody's own: " + bot.Cut(bot.Clean(why), 60), shut: true})
	h.CheckThreads()
	s, _ := h.o.Engine.State(project)
	var open []string
	for _, q := range s.Project.Questions {
		open = append(open, q.ID)
	}
	var msgs []ledger.Outgoing
	for _, who := range h.o.Engine.Shared().People {
		if name, _, _ := strings.Cut(who.ID, ":"); strings.HasPrefix(chat, name+":") {
			msgs = append(msgs, note(who.ID, bot.ThreadShut(project, why, open)))
		}
	}
	// Whoever writes in another topic of the group makes it be tried again: once a
	// day is enough.
	h.tellOfThread("shut:"+chat+":"+time.Now().In(h.o.Catalog.Zone()).Format(time.DateOnly), msgs...)
}

// wrote notes that somebody wrote in a chat: the threads in that group that
// took nothing are tried again. What a thread is called may be new, too.
func (h *Hub) onMessage(in bot.Inbound) {
	if !platform.IsGroup(in.Chat) {
		return
	}
	if in.Title != "" && h.Threads.exact(in.Chat) != "" {
		h.Threads.titles.Store(in.Chat, in.Title)
	}
	h.CheckThreads()
}

// moved gives a group its new address, for good.
func (h *Hub) onChatMoved(ctx context.Context, from, to string) error {
	if err := h.o.Store.MoveChat(ctx, from, to); err != nil {
		return err
	}
	var msgs []ledger.Outgoing
	for _, pr := range h.o.Catalog.Config().Projects {
		for _, chat := range h.Threads.of(pr) {
			if platform.Group(chat) == from {
				msgs = append(msgs, note(to+strings.TrimPrefix(chat, from), bot.ThreadMoved(pr.Name, threadKey(to), setting(to))))
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

// threadTrouble is what is wrong with a thread.
type threadTrouble struct {
	text string
	shut bool // over, once the chat takes messages
}

// CheckThreads makes the warnings about threads anew.
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
				line = fmt.Sprintf("! %s's group has another number: write %s = %q", pr.Name, p.ThreadKey, setting(to))
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

// threadKey is the configuration's key for threads on the platform of a chat.
func threadKey(chat string) string {
	p, _ := platform.Of(chat)
	return p.ThreadKey
}

// setting is how an address is written in the configuration.
func setting(chat string) string {
	_, id, _ := strings.Cut(chat, ":")
	return id
}

// tellOfThread commits messages about a thread, once for each key.
func (h *Hub) tellOfThread(key string, msgs ...ledger.Outgoing) {
	if err := h.o.Engine.Say(context.Background(), key, time.Now(), msgs, nil); err != nil && !errors.Is(err, engine.ErrStopped) {
		h.o.Log.Error("tell of a thread", "key", key, "error", err)
	}
}

// note is a message that makes no sound.
func note(chat string, m bot.Message) ledger.Outgoing {
	body, err := json.Marshal(m)
	if err != nil { // strings alone: it cannot be
		return ledger.Outgoing{}
	}
	return ledger.Outgoing{Chat: chat, Class: ledger.ClassNotice, Silent: true, Body: body}
}

// migratingOutbox is an outbox whose chats move with all that is known of them.
type migratingOutbox struct {
	delivery.Outbox
	hub *Hub
}

// MoveChat gives what is queued for a chat another address.
func (o migratingOutbox) MoveChat(ctx context.Context, from, to string) error {
	return o.hub.onChatMoved(ctx, from, to)
}
