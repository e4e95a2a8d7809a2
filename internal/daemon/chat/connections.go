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
	hub *Hub
	off time.Time // when a nightporter was there last; zero = never
	all []*connection
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
	var dispatchers []*delivery.Dispatcher
	for row, p := range platform.All {
		if p.Section(h.o.Catalog.Begun()) == nil {
			continue
		}
		conn, err := c.dial(p, row)
		if err != nil {
			c.Stop()
			return err
		}
		c.all = append(c.all, conn)
		dispatchers = append(dispatchers, conn.dispatcher)
	}
	h.dispatchers.Store(&dispatchers)
	h.CheckThreads()
	// What an earlier process showed is kept up to date from here on.
	for _, project := range append(h.o.Engine.Projects(), "") {
		key := bot.LiveKey(project)
		for _, chat := range h.chatsShowing(key) {
			h.forEachDispatcher(func(p *delivery.Dispatcher) { p.TrackLive(chat, key) })
		}
	}
	h.repeatQuestions(ctx, c.off, time.Now())
	c.Go(h.tidy)
	c.Go(h.expireUndos)
	for _, conn := range c.all {
		c.Go(func(ctx context.Context) { _ = conn.dispatcher.Run(ctx) }) // says why ctx ended
		c.Go(conn.listen)
		if conn.adapter.SetMenu != nil {
			c.Go(conn.keepMenus)
		}
		if conn.adapter.Reads != nil {
			c.Go(conn.trackMembers)
		}
	}
	return nil
}

// Stop ends all connections; a call that is under way may take 5 s to end.
func (c *Connections) Stop() {
	c.Base.Stop()
	for _, conn := range c.all {
		conn.unlock()
	}
}

// Connected reports of each platform whether its last call was answered.
func (c *Connections) Connected() map[string]bool {
	out := map[string]bool{}
	for _, conn := range c.all {
		out[conn.platform.Name] = conn.adapter.State().Connected
	}
	return out
}

// BotName is the name of a platform's bot, "" while it is not known.
func (c *Connections) BotName(platform string) string {
	for _, conn := range c.all {
		if conn.platform.Name == platform {
			return conn.name()
		}
	}
	return ""
}

// dial makes the connection to a platform; it does not use the network.
func (c *Connections) dial(p platform.Platform, row int) (*connection, error) {
	h := c.hub
	cfg := h.o.Catalog.Begun()
	tokens, err := p.ReadTokens(cfg)
	if err != nil {
		return nil, unusable(err)
	}
	conn := &connection{platform: p, row: row, hub: h, spawn: c.Go}
	conn.adapter, err = p.Connect(cfg, tokens, platform.Hooks{
		Log: h.o.Log, Changed: conn.onState, Moved: h.onChatMoved, Lost: h.onThreadGone, Alive: conn.onActive, Steerers: conn.steerers, Answered: conn.hasAnswer, Open: conn.openQuestions,
	})
	if err != nil {
		return nil, unusable(err)
	}
	if conn.lock, err = lockBot(h.o.Log, conn.adapter.ID); err != nil {
		return nil, err
	}
	conn.dispatcher = delivery.New(delivery.Options{
		Outbox: migratingOutbox{h.o.Store, h}, Sender: conn.adapter.Sender, OnChatClosed: h.onChatClosed, Prefix: p.Prefix(), Platform: p.Title, Log: h.o.Log,
		Limits: *p.Limits, IsGroup: p.IsGroup, Live: liveStatus{h}, Unauthorized: h.revoked, Quiet: h.quiet,
		Clock: func() time.Time { return time.Now().In(h.o.Catalog.Zone()) },
	})
	conn.receiver = reopening{inbound.New(inbound.Options{
		Service: h.o.Host, Outbox: sentOutbox{h.o.Store, conn}, Hash: h.o.Hash, Notice: conn.adapter.Sender.Notice, Ask: conn.adapter.Ask, Name: conn.name,
		ProjectOf: h.Threads.Project, Zone: h.o.Catalog.Zone(), Log: h.o.Log,
	}), conn.dispatcher, h.onMessage}
	return conn, nil
}

// unusable is what a person has to mend before any chat begins.
func unusable(err error) error {
	return &ledger.InputError{Findings: []ledger.Finding{{Text: err.Error()}}}
}
