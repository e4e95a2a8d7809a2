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
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Connections are the connections of a hub to the platforms that the
// configuration names. A platform that is out of reach is no error, and nothing
// waits for it. The hub can be connected again after Stop, with new Connections.
type Connections struct {
	service.Base
	hub   *Hub
	off   time.Time // when a nightporter was there last; zero = never
	lines []*line
}

// Connect returns connections that are to be started.
func (h *Hub) Connect(off time.Time) *Connections { return &Connections{hub: h, off: off} }

// Start connects. A token that cannot be used, and a second program with the
// same bot, are a *ledger.InputError.
func (c *Connections) Start(ctx context.Context) error {
	if err := c.Begin(); err != nil {
		return err
	}
	h := c.hub
	var posts []*delivery.Dispatcher
	for place, p := range platform.All {
		if p.Section(h.o.Catalog.Begun()) == nil {
			continue
		}
		l, err := c.dial(p, place)
		if err != nil {
			c.Stop()
			return err
		}
		c.lines = append(c.lines, l)
		posts = append(posts, l.post)
	}
	h.posts.Store(&posts)
	h.CheckThreads()
	// What an earlier process showed is kept up to date from here on.
	for _, project := range append(h.o.Engine.Projects(), "") {
		key := bot.LiveKey(project)
		for _, chat := range h.where(key) {
			h.each(func(p *delivery.Dispatcher) { p.TrackLive(chat, key) })
		}
	}
	h.away(ctx, c.off, time.Now())
	c.Go(h.tidy)
	c.Go(h.settle)
	for _, l := range c.lines {
		c.Go(func(ctx context.Context) { _ = l.post.Run(ctx) }) // says why ctx ended
		c.Go(l.listen)
		if l.conn.SetMenu != nil {
			c.Go(l.menus)
		}
		if l.conn.Reads != nil {
			c.Go(l.members)
		}
	}
	return nil
}

// Stop ends all connections; a call that is under way may take 5 s to end.
func (c *Connections) Stop() {
	c.Base.Stop()
	for _, l := range c.lines {
		l.unlock()
	}
}

// Connected reports of each platform whether its last call was answered.
func (c *Connections) Connected() map[string]bool {
	out := map[string]bool{}
	for _, l := range c.lines {
		out[l.platform.Name] = l.conn.State().Connected
	}
	return out
}

// BotName is the name of a platform's bot, "" while it is not known.
func (c *Connections) BotName(platform string) string {
	for _, l := range c.lines {
		if l.platform.Name == platform {
			return l.name()
		}
	}
	return ""
}

// line is the connection to one platform.
type line struct {
	platform platform.Platform
	place    int // in the table of platforms
	hub      *Hub
	conn     *platform.Conn
	post     *delivery.Dispatcher
	receiver bot.Receiver
	lock     *os.File
	spawn    func(func(ctx context.Context)) // of the connections

	mu      sync.Mutex
	botName string
	asking  bool
}

// dial makes the connection to a platform; it does not use the network.
func (c *Connections) dial(p platform.Platform, place int) (*line, error) {
	h := c.hub
	cfg := h.o.Catalog.Begun()
	tokens, err := p.ReadTokens(cfg)
	if err != nil {
		return nil, unusable(err)
	}
	l := &line{platform: p, place: place, hub: h, spawn: c.Go}
	l.conn, err = p.Connect(cfg, tokens, platform.Hooks{
		Log: h.o.Log, Changed: l.changed, Moved: h.moved, Lost: h.lost, Alive: l.alive, Steerers: l.steerers, Answered: l.answered, Open: l.open,
	})
	if err != nil {
		return nil, unusable(err)
	}
	if l.lock, err = lockBot(h.o.Log, l.conn.ID); err != nil {
		return nil, err
	}
	l.post = delivery.New(delivery.Options{
		Outbox: migratingOutbox{h.o.Store, h}, Sender: l.conn.Sender, OnChatClosed: h.shut, Prefix: p.Prefix(), Platform: p.Title, Log: h.o.Log,
		Limits: *p.Limits, IsGroup: p.IsGroup, Live: liveStatus{h}, Unauthorized: h.barred, Quiet: h.quiet,
		Clock: func() time.Time { return time.Now().In(h.o.Catalog.Zone()) },
	})
	l.receiver = waking{inbound.New(inbound.Options{
		Service: h.o.Host, Outbox: sentOutbox{h.o.Store, l}, Hash: h.o.Hash, Notice: l.conn.Sender.Notice, Ask: l.conn.Ask, Name: l.name,
		ProjectOf: h.Threads.Project, Zone: h.o.Catalog.Zone(), Log: h.o.Log,
	}), l.post, h.wrote}
	return l, nil
}

// unusable is what a person has to mend before any chat begins.
func unusable(err error) error {
	return &ledger.InputError{Findings: []ledger.Finding{{Text: err.Error()}}}
}

func (l *line) unlock() { _ = l.lock.Close() } // none is no error to it

// listen hands over what people do until ctx ends.
func (l *line) listen(ctx context.Context) {
	cursor := func(ctx context.Context) (string, error) { // asked for before every poll
		if l.conn.State().Connected {
			l.post.MarkReachable()
		}
		c, _, err := l.hub.o.Store.Cursor(ctx, l.conn.Cursor)
		return c.Value, err
	}
	_ = l.conn.Listen(ctx, cursor, l.receiver) // says why ctx ended
}

// name is the bot's, "" while it is not known.
func (l *line) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.botName
}

// changed is told of every coming and going of the connection.
func (l *line) changed(s transport.State) {
	h, about := l.hub, project.AboutChat(l.place)
	if s.Connected {
		h.o.Catalog.Warn("", about, "")
		l.post.MarkReachable()
		l.introduce()
		h.o.Changes.Ring() // there may be menus to set
		return
	}
	if s.Trouble != transport.TroubleStart {
		h.o.Catalog.Warn("", about, "! "+l.platform.Title+": "+s.Text)
	}
}

// introduce learns the bot's name, once.
func (l *line) introduce() {
	l.mu.Lock()
	begin := l.conn.BotName != nil && !l.asking && l.botName == ""
	l.asking = l.asking || begin
	l.mu.Unlock()
	if !begin {
		return
	}
	l.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		name, err := l.conn.BotName(ctx)
		l.mu.Lock()
		l.asking = false
		if err == nil {
			l.botName = name
		}
		l.mu.Unlock()
		if err != nil {
			l.hub.o.Log.Warn("the bot's name is not known", "platform", l.platform.Name, "error", err)
			return
		}
		l.hub.o.Changes.Ring()
	})
}

// steerers are those of the platform who may steer: a message in a chat of
// several people can name them, so that it makes a sound.
func (l *line) steerers(string) []string {
	var out []string
	for _, who := range l.hub.o.Engine.Shared().People {
		if strings.HasPrefix(who.ID, l.platform.Prefix()) && who.Role.May(ledger.RoleSteer) {
			out = append(out, who.ID)
		}
	}
	return out
}

// answered reports whether somebody's message has an answer of ours.
func (l *line) answered(ctx context.Context, chat, id string) bool {
	_, found, err := l.hub.o.Store.AnswerTo(ctx, chat, id)
	if err != nil {
		l.hub.o.Log.Error("look up an answer", "chat", chat, "error", err)
	}
	return found
}

// alive notes that a chat takes messages, which it may not have before.
func (l *line) alive(chat string) {
	l.post.Reopen(chat)
	l.hub.wrote(bot.Inbound{Chat: chat})
}

// open are the messages of a chat whose questions wait for an answer.
func (l *line) open(ctx context.Context, chat string) []string {
	var out []string
	for _, name := range l.hub.o.Engine.Projects() {
		s, _ := l.hub.o.Engine.State(name)
		for _, q := range s.Project.Questions {
			m, found, err := l.hub.o.Store.SentFor(ctx, chat, q.ID)
			if err != nil {
				l.hub.o.Log.Error("look up a question", "chat", chat, "question", q.ID, "error", err)
			}
			if found {
				out = append(out, m.ID)
			}
		}
	}
	return out
}

// waking reports to the dispatcher and the hub that somebody wrote in a chat: a
// chat that took nothing is tried again.
type waking struct {
	bot.Receiver
	post  *delivery.Dispatcher
	wrote func(bot.Inbound)
}

// Receive hands an input on.
func (o waking) Receive(ctx context.Context, in bot.Inbound) error {
	o.post.Reopen(in.Chat)
	o.wrote(in)
	return o.Receiver.Receive(ctx, in)
}

// sentOutbox is the outbox as the people of a platform point at it.
type sentOutbox struct {
	inbound.Outbox
	line *line
}

// SentAt finds the message of ours that an id stands for.
func (o sentOutbox) SentAt(ctx context.Context, chat, id string) (ledger.SentMessage, bool, error) {
	return o.line.platform.SentAt(ctx, o.Outbox, o.line.hub.Threads.all(), chat, id)
}
