package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/loop/ledger"
)

// What becomes of threads that change while nightporter is up: a topic is
// deleted, a chat closes, a group becomes a supergroup with another number.
// None of it keeps anything from being told; people hear of it once, and the
// status says so as long as it is so.

// lost says that a topic is not there, so that what is for it stands in its
// group.
func (p *porter) lost(chat string) {
	project := p.exactThread(chat)
	if project == "" {
		return
	}
	t := threadTrouble{text: "topic is gone, its group has it all: write another one to telegram_topic"}
	if _, known := p.troubles.Swap(chat, t); known {
		return
	}
	p.rethread()
	p.tellOfThread("lost:"+chat, note(chat, bot.ThreadGone(project)))
}

// shut says that a chat takes nothing. Where it is a thread, its project is
// told of in the people's own chats from now on.
func (p *porter) shut(chat, why string) {
	project := p.exactThread(chat)
	if project == "" {
		return
	}
	p.troubles.Store(chat, threadTrouble{text: "chat takes nothing, what it is told goes to everybody's own: " + bot.Cut(bot.Clean(why), 60), shut: true})
	p.rethread()
	s, _ := p.engine.State(project)
	var open []string
	for _, q := range s.Project.Questions {
		open = append(open, q.ID)
	}
	var msgs []ledger.Outgoing
	for _, who := range p.engine.Shared().People {
		if platform, _, _ := strings.Cut(who.ID, ":"); strings.HasPrefix(chat, platform+":") {
			msgs = append(msgs, note(who.ID, bot.ThreadShut(project, why, open)))
		}
	}
	// Whoever writes in another topic of the group makes it be tried again: once a
	// day is enough.
	p.tellOfThread("shut:"+chat+":"+time.Now().In(p.zone()).Format(time.DateOnly), msgs...)
}

// wrote notes that somebody wrote in a chat: the threads in that group that
// took nothing are tried again. What a thread is called may be new, too.
func (p *porter) wrote(in bot.Inbound) {
	if !isGroup(in.Chat) {
		return
	}
	if in.Title != "" && p.exactThread(in.Chat) != "" {
		p.titles.Store(in.Chat, in.Title)
	}
	p.rethread()
}

// moved gives a group its new address, for good.
func (p *porter) moved(ctx context.Context, from, to string) error {
	if err := p.store.MoveChat(ctx, from, to); err != nil {
		return err
	}
	var msgs []ledger.Outgoing
	for _, pr := range p.config().Projects {
		for _, chat := range p.allThreads(pr) {
			if telegram.GroupOf(chat) == from {
				msgs = append(msgs, note(to+strings.TrimPrefix(chat, from), bot.ThreadMoved(pr.Name, setting(to))))
			}
		}
	}
	now := time.Now()
	if err := p.engine.Say(ctx, "moved:"+from, now, msgs, &ledger.Cursor{Name: movedKey + from, Value: to, Time: now}); err != nil {
		return fmt.Errorf("note the new address of %s: %w", from, err)
	}
	p.moves.forget()
	p.rethread()
	return nil
}

// threadTrouble is what is wrong with a thread.
type threadTrouble struct {
	text string
	shut bool // over, once the chat takes messages
}

// rethread makes the remarks about threads anew.
func (p *porter) rethread() {
	for _, pr := range p.config().Projects {
		line := ""
		written := telegram.Address(pr.TelegramTopic.Chat, 0)
		if to := p.moves.of(written); pr.TelegramTopic.Chat != 0 && to != written {
			line = fmt.Sprintf("! %s's group has another number: write telegram_topic = %q", pr.Name, setting(to))
		}
		for _, chat := range p.allThreads(pr) {
			t, is := p.troubles.Load(chat)
			if trouble, _ := t.(threadTrouble); is && !(trouble.shut && p.talk.takes(chat)) {
				line = "! " + pr.Name + "'s " + trouble.text
			}
		}
		p.remarks.set(pr.Name, remarkThread, line)
	}
}

// setting is how an address of Telegram is written in the configuration.
func setting(chat string) string { return strings.TrimPrefix(chat, telegram.Prefix) }

// tellOfThread commits messages about a thread, once for each key.
func (p *porter) tellOfThread(key string, msgs ...ledger.Outgoing) {
	if err := p.engine.Say(p.closing, key, time.Now(), msgs, nil); err != nil && p.closing.Err() == nil {
		p.log.Error("tell of a thread", "key", key, "error", err)
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

// movedKey begins the names under which new addresses of groups are kept: the
// configuration may name the old one for as long as it likes.
const movedKey = "moved/"

// moves knows the new addresses of groups. It asks the store once for each.
type moves struct {
	store interface {
		Cursor(ctx context.Context, name string) (ledger.Cursor, bool, error)
	}

	mu sync.Mutex
	to map[string]string
}

// of is the address that a group has now, mostly the one that it had.
func (m *moves) of(group string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if to, known := m.to[group]; known {
		return to
	}
	c, found, err := m.store.Cursor(context.Background(), movedKey+group)
	if err != nil {
		return group // and is asked again
	}
	if !found {
		c.Value = group
	}
	if m.to == nil {
		m.to = map[string]string{}
	}
	m.to[group] = c.Value
	return c.Value
}

// forget makes it ask again.
func (m *moves) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.to)
}

// migratingOutbox is an outbox whose chats move with all that is known of them.
type migratingOutbox struct {
	delivery.Outbox
	porter *porter
}

// MoveChat gives what is queued for a chat another address.
func (o migratingOutbox) MoveChat(ctx context.Context, from, to string) error {
	return o.porter.moved(ctx, from, to)
}

// topicOutbox is the outbox as topics of Telegram point at it: what was sent to one
// that is gone stands in the group's general one, which no message names.
type topicOutbox struct {
	inbound.Outbox
	porter *porter
}

// SentAt finds the message of ours that an id stands for. Ids are the group's,
// whatever topic they stand in.
func (o topicOutbox) SentAt(ctx context.Context, chat, id string) (ledger.SentMessage, bool, error) {
	sent, found, err := o.Outbox.SentAt(ctx, chat, id)
	if found || err != nil || !telegram.IsGroup(chat) || telegram.GroupOf(chat) != chat {
		return sent, found, err
	}
	for _, pr := range o.porter.config().Projects {
		for _, thread := range o.porter.allThreads(pr) {
			if thread != chat && telegram.GroupOf(thread) == chat {
				if sent, found, err = o.Outbox.SentAt(ctx, thread, id); found || err != nil {
					return sent, found, err
				}
			}
		}
	}
	return sent, found, err
}
