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
	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop/ledger"
)

// connection is the connection to one platform.
type connection struct {
	platform   platform.Platform
	row        int // index in platform.All
	hub        *Hub
	adapter    *platform.Conn
	dispatcher *delivery.Dispatcher
	receiver   bot.Receiver
	lock       *os.File
	spawn      func(func(ctx context.Context)) // runs a loop until Connections.Stop

	mu      sync.Mutex
	botName string
	asking  bool
}

// unlock releases the bot's lock, if there is one.
func (c *connection) unlock() { _ = c.lock.Close() } // Close of a nil file only returns an error

// listen passes the platform's updates to the receiver until ctx ends.
func (c *connection) listen(ctx context.Context) {
	cursor := func(ctx context.Context) (string, error) { // called before every poll
		if c.adapter.State().Connected {
			c.dispatcher.MarkReachable()
		}
		saved, _, err := c.hub.o.Store.Cursor(ctx, c.adapter.Cursor)
		return saved.Value, err
	}
	_ = c.adapter.Listen(ctx, cursor, c.receiver) // returns only when ctx ends
}

// name returns the bot's name, "" while it is unknown.
func (c *connection) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.botName
}

// onState reacts to a change of the connection's state.
func (c *connection) onState(s transport.State) {
	h, about := c.hub, project.AboutChat(c.row)
	if s.Connected {
		h.o.Catalog.Warn("", about, "")
		c.dispatcher.MarkReachable()
		c.fetchBotName()
		h.o.Changes.Ring() // roles may have changed meanwhile, so menus have to be set
		return
	}
	if s.Trouble != transport.TroubleStart {
		h.o.Catalog.Warn("", about, "! "+c.platform.Title+": "+s.Text)
	}
}

// fetchBotName asks the platform for the bot's name until it is known.
func (c *connection) fetchBotName() {
	c.mu.Lock()
	begin := c.adapter.BotName != nil && !c.asking && c.botName == ""
	c.asking = c.asking || begin
	c.mu.Unlock()
	if !begin {
		return
	}
	c.spawn(func(ctx context.Context) {
		for pause := time.Second; ; pause = min(2*pause, time.Minute) {
			name, err := c.askBotName(ctx)
			if err == nil {
				c.mu.Lock()
				c.botName = name
				c.mu.Unlock()
				c.hub.o.Changes.Ring()
				return
			}
			c.hub.o.Log.Warn("the bot's name is not known", "platform", c.platform.Name, "error", err)
			if sleep.For(ctx, pause) != nil {
				return
			}
		}
	})
}

func (c *connection) askBotName(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return c.adapter.BotName(ctx)
}

// steerers returns the people of the platform who may steer. A message in a
// group mentions them, so that it makes a sound for them.
func (c *connection) steerers(string) []string {
	var out []string
	for _, who := range c.hub.o.Engine.Shared().People {
		if strings.HasPrefix(who.ID, c.platform.Prefix()) && who.Role.May(ledger.RoleSteer) {
			out = append(out, who.ID)
		}
	}
	return out
}

// hasAnswer reports whether nightporter has replied to the message.
func (c *connection) hasAnswer(ctx context.Context, chat, id string) bool {
	_, found, err := c.hub.o.Store.AnswerTo(ctx, chat, id)
	if err != nil {
		c.hub.o.Log.Error("look up an answer", "chat", chat, "error", err)
	}
	return found
}

// onActive handles activity in a chat, which shows that the chat accepts
// messages again.
func (c *connection) onActive(chat string) {
	c.dispatcher.Reopen(chat)
	c.hub.onMessage(bot.Inbound{Chat: chat})
}

// openQuestions returns the ids of a chat's messages whose questions are open.
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

// reopening tells the dispatcher and the hub of each received message: a chat
// that refused messages is tried again.
type reopening struct {
	bot.Receiver
	dispatcher *delivery.Dispatcher
	wrote      func(bot.Inbound)
}

// Receive passes an input on.
func (o reopening) Receive(ctx context.Context, in bot.Inbound) error {
	o.dispatcher.Reopen(in.Chat)
	o.wrote(in)
	return o.Receiver.Receive(ctx, in)
}

// sentOutbox resolves references to sent messages by the rules of the platform.
type sentOutbox struct {
	inbound.Outbox
	connection *connection
}

// SentAt finds the sent message that an id in a chat refers to.
func (o sentOutbox) SentAt(ctx context.Context, chat, id string) (ledger.SentMessage, bool, error) {
	return o.connection.platform.SentAt(ctx, o.Outbox, o.connection.hub.Threads.all(), chat, id)
}

// keepMenus keeps the command menu of each private chat in step with its
// person's role, until ctx ends. Strangers and groups have no menu, because
// strangers read groups. A failure is only logged: menus are a convenience.
func (c *connection) keepMenus(ctx context.Context) {
	m := menus{prefix: c.platform.Prefix(), tell: c.adapter.SetMenu, log: c.hub.o.Log, set: map[string]ledger.Role{}}
	for ctx.Err() == nil {
		rung := c.hub.o.Changes.Next()
		if c.adapter.State().Connected {
			if retry := m.update(ctx, c.hub.o.Engine.Shared().People); retry > 0 {
				_ = transport.Sleep(ctx, retry) // the loop checks ctx
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
		}
	}
}
