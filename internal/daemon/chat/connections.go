package chat

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/internal/daemon/platform"
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
