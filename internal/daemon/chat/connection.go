package chat

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/ledger"
)

// line is the connection to one platform.
type connection struct {
	platform   platform.Platform
	row        int // in the table of platforms
	hub        *Hub
	adapter    *platform.Conn
	dispatcher *delivery.Dispatcher
	receiver   bot.Receiver
	lock       *os.File
	spawn      func(func(ctx context.Context)) // of the connections

	mu      sync.Mutex
	botName string
	asking  bool
}

func (c *connection) unlock() { _ = c.lock.Close() } // none is no error to it

// listen hands over what people do until ctx ends.
func (c *connection) listen(ctx context.Context) {
	cursor := func(ctx context.Context) (string, error) { // asked for before every poll
		if c.adapter.State().Connected {
			c.dispatcher.MarkReachable()
		}
		saved, _, err := c.hub.o.Store.Cursor(ctx, c.adapter.Cursor)
		return saved.Value, err
	}
	_ = c.adapter.Listen(ctx, cursor, c.receiver) // says why ctx ended
}

// name is the bot's, "" while it is not known.
func (c *connection) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.botName
}

// changed is told of every coming and going of the connection.
func (c *connection) onState(s transport.State) {
	h, about := c.hub, project.AboutChat(c.row)
	if s.Connected {
		h.o.Catalog.Warn("", about, "")
		c.dispatcher.MarkReachable()
		c.fetchBotName()
		h.o.Changes.Ring() // there may be menus to set
		return
	}
	if s.Trouble != transport.TroubleStart {
		h.o.Catalog.Warn("", about, "! "+c.platform.Title+": "+s.Text)
	}
}

// introduce learns the bot's name, once.
func (c *connection) fetchBotName() {
	c.mu.Lock()
	begin := c.adapter.BotName != nil && !c.asking && c.botName == ""
	c.asking = c.asking || begin
	c.mu.Unlock()
	if !begin {
		return
	}
	c.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		name, err := c.adapter.BotName(ctx)
		c.mu.Lock()
		c.asking = false
		if err == nil {
			c.botName = name
		}
		c.mu.Unlock()
		if err != nil {
			c.hub.o.Log.Warn("the bot's name is not known", "platform", c.platform.Name, "error", err)
			return
		}
		c.hub.o.Changes.Ring()
	})
}

// steerers are those of the platform who may steer: a message in a chat of
// several people can name them, so that it makes a sound.
func (c *connection) steerers(string) []string {
	var out []string
	for _, who := range c.hub.o.Engine.Shared().People {
		if strings.HasPrefix(who.ID, c.platform.Prefix()) && who.Role.May(ledger.RoleSteer) {
			out = append(out, who.ID)
		}
	}
	return out
}

// answered reports whether somebody's message has an answer of ours.
func (c *connection) hasAnswer(ctx context.Context, chat, id string) bool {
	_, found, err := c.hub.o.Store.AnswerTo(ctx, chat, id)
	if err != nil {
		c.hub.o.Log.Error("look up an answer", "chat", chat, "error", err)
	}
	return found
}

// alive notes that a chat takes messages, which it may not have before.
func (c *connection) onActive(chat string) {
	c.dispatcher.Reopen(chat)
	c.hub.onMessage(bot.Inbound{Chat: chat})
}

// open are the messages of a chat whose questions wait for an answer.
func (c *connection) openQuestions(ctx context.Context, chat string) []string {
	var out []string
	for _, name := range c.hub.o.Engine.Projects() {
		s, _ := c.hub.o.Engine.State(name)
		for _, q := range s.Project.Questions {
			m, found, err := c.hub.o.Store.SentFor(ctx, chat, q.ID)
			if err != nil {
				c.hub.o.Log.Error("look up a question", "chat", chat, "question", q.ID, "error", err)
			}
			if found {
				out = append(out, m.ID)
			}
		}
	}
	return out
}

// reopening reports to the dispatcher and the hub that somebody wrote in a chat: a
// chat that took nothing is tried again.
type reopening struct {
	bot.Receiver
	dispatcher *delivery.Dispatcher
	wrote      func(bot.Inbound)
}

// Receive hands an input on.
func (o reopening) Receive(ctx context.Context, in bot.Inbound) error {
	o.dispatcher.Reopen(in.Chat)
	o.wrote(in)
	return o.Receiver.Receive(ctx, in)
}

// sentOutbox is the outbox as the people of a platform point at it.
type sentOutbox struct {
	inbound.Outbox
	connection *connection
}

// SentAt finds the message of ours that an id stands for.
func (o sentOutbox) SentAt(ctx context.Context, chat, id string) (ledger.SentMessage, bool, error) {
	return o.connection.platform.SentAt(ctx, o.Outbox, o.connection.hub.Threads.all(), chat, id)
}

// menus keeps the menu of commands in everybody's own chat as their role is,
// until ctx ends. Strangers have none, and neither have groups,
// where strangers read. A menu is a convenience: what cannot be set is logged.
func (c *connection) keepMenus(ctx context.Context) {
	m := menus{prefix: c.platform.Prefix(), tell: c.adapter.SetMenu, log: c.hub.o.Log, set: map[string]ledger.Role{}}
	for ctx.Err() == nil {
		rung := c.hub.o.Changes.Next()
		if c.adapter.State().Connected {
			if retry := m.update(ctx, c.hub.o.Engine.Shared().People); retry > 0 {
				_ = transport.Sleep(ctx, retry) // says why ctx ended
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
		}
	}
}

// membersFor is for how long what a platform said of members is believed.
const membersFor = time.Hour

// members asks who is in the groups of threads, until ctx ends: at once where
// somebody is new or a thread is, and again every hour.
func (c *connection) trackMembers(ctx context.Context) {
	h := c.hub
	asked := map[string]time.Time{} // by thread and person
	hourly := time.NewTicker(membersFor)
	defer hourly.Stop()
	for ctx.Err() == nil {
		rung := h.o.Changes.Next()
		if c.adapter.State().Connected {
			for _, pr := range h.o.Catalog.Config().Projects {
				thread := h.Threads.on(c.platform, pr)
				for _, who := range h.o.Engine.Shared().People {
					if thread == "" || !strings.HasPrefix(who.ID, c.platform.Prefix()) || time.Since(asked[thread+" "+who.ID]) < membersFor-time.Minute {
						continue
					}
					asked[thread+" "+who.ID] = time.Now()
					reads, err := c.adapter.Reads(ctx, thread, who.ID)
					if err != nil {
						h.o.Log.Debug("nobody says whether somebody is in a group", "chat", thread, "person", who.ID, "error", err)
					}
					h.members.note(thread, who.ID, err == nil && !reads)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
			_ = transport.Sleep(ctx, time.Second) // a night rings often, and nobody's coming is urgent
		case <-hourly.C:
		}
	}
}
