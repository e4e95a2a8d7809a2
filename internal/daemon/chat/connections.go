package chat

import (
	"context"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Connections are a hub's connections to the configured platforms. An
// unreachable platform is no error and delays nothing. After Stop, the hub can
// be connected again with new Connections.
type Connections struct {
	service.Base
	hub *Hub
	off time.Time // when a daemon last ran; zero = never
	all []*connection

	mu         sync.Mutex
	endOutage  func()    // ends the wait before people are told of an outage; nil = none
	toldOutage time.Time // beginning of the outage that people were told of; zero = none
}

// Connect returns connections for Start. off is the time at which a daemon last
// ran, zero for never.
func (h *Hub) Connect(off time.Time) *Connections { return &Connections{hub: h, off: off} }

// Start connects to each configured platform and begins to deliver and receive.
// An unusable token and a second process with the same bot are a
// *ledger.InputError.
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
	// Live messages of an earlier process stay current.
	for _, project := range append(h.o.Engine.Projects(), "") {
		key := bot.LiveKey(project)
		for _, chat := range h.chatsShowing(key) {
			h.forEachDispatcher(func(p *delivery.Dispatcher) { p.TrackLive(chat, key) })
		}
	}
	h.repeatQuestions(ctx, c.off, time.Now())
	c.Go(h.expireUndos)
	for _, conn := range c.all {
		c.Go(func(ctx context.Context) { _ = conn.dispatcher.Run(ctx) }) // returns only when ctx ends
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

// Stop ends all connections. A call to a platform may delay it by 5 s.
func (c *Connections) Stop() {
	c.Base.Stop()
	for _, conn := range c.all {
		conn.adapter.Close()
		conn.unlock()
	}
}

// Connected reports for each platform whether its last call succeeded.
func (c *Connections) Connected() map[string]bool {
	out := map[string]bool{}
	for _, conn := range c.all {
		out[conn.platform.Name] = conn.adapter.State().Connected
	}
	return out
}

// BotName returns the name of a platform's bot, "" while it is unknown.
func (c *Connections) BotName(platform string) string {
	for _, conn := range c.all {
		if conn.platform.Name == platform {
			return conn.name()
		}
	}
	return ""
}

// dial creates the connection to a platform without using the network.
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
		Outbox: migratingOutbox{h.o.Store, h}, Sender: conn.adapter.Sender, OnChatClosed: h.onChatClosed, Redirect: h.redirect, Prefix: p.Prefix(), Platform: p.Title, Log: h.o.Log,
		Limits: *p.Limits, IsGroup: p.IsGroup, Live: liveStatus{h}, Unauthorized: h.revoked, Quiet: h.quiet,
		Clock: h.now, Draw: h.draw,
	})
	conn.receiver = reopening{inbound.New(inbound.Options{
		Service: h.o.Host, Outbox: sentOutbox{h.o.Store, conn}, Hash: h.o.Hash, Notice: conn.adapter.Sender.Notice, NoticeStays: p.NoticeStays, Ask: conn.adapter.Ask, Name: conn.name,
		Fetch: conn.adapter.Fetch, Files: h.o.Files, Transcribes: func() bool { return len(h.o.Catalog.Config().Transcribe) > 0 }, ProjectOf: h.Threads.Project, Clock: h.now, Log: h.o.Log,
	}), conn.dispatcher, h.onMessage}
	return conn, nil
}

// unusable reports an error that a person has to correct before any chat works.
func unusable(err error) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: err.Error()}}}
}
