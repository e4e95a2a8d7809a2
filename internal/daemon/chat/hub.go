package chat

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Hub is how a daemon speaks with people: what is told is composed from the
// first decision on, also while no platform is connected. A nil Hub tells
// nothing.
type Hub struct {
	o           Options
	Threads     *Threads
	notify      *notify.Notifier
	members     members
	troubles    sync.Map                               // of threads: a threadTrouble by address
	dispatchers atomic.Pointer[[]*delivery.Dispatcher] // of each platform; nil until the chats are connected
	undoable    chan answered                          // that can still be taken back
}

// Options are what a Hub works with.
type Options struct {
	Store   *store.Store
	Engine  Engine
	Catalog *project.Catalog
	Threads *Threads
	Host    inbound.Service // answers what people type
	Digests *digest.Maker
	Changes *service.Broadcast       // rung after every committed entry
	Hash    func(code string) string // stands for a pairing code
	Log     *slog.Logger
}

// Engine commits what is told, and knows the state of all projects.
type Engine interface {
	Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error
	State(project string) (loop.State, bool)
	Projects() []string
	Shared() loop.Shared
}

// New makes a hub. The engine that composes messages with it need not be open
// yet.
func New(o Options) *Hub {
	h := &Hub{o: o, Threads: o.Threads, undoable: make(chan answered, 100)}
	h.Threads.accepts = h.accepts
	h.notify = notify.New(notify.Options{
		Where: h.chatsShowing, Group: platform.IsGroup, Threads: h.Threads.Of, Reads: h.members.read, Quiet: o.Catalog.QuietHours, Urgent: h.urgent,
		Zone: o.Catalog.Zone(), Digests: o.Digests.For,
	})
	return h
}

// urgent is what rings in quiet hours all the same.
func (h *Hub) urgent() []string {
	if u := h.o.Catalog.Config().Digest.Urgent; len(u) > 0 {
		return u
	}
	return []string{notify.Standstill}
}

// quiet reports whether a chat is left in peace at a time.
func (h *Hub) quiet(chat string, at time.Time) bool {
	return h.o.Engine.Shared().QuietHours(chat, h.o.Catalog.QuietHours()).Has(at.In(h.o.Catalog.Zone()))
}

// barred reports whether a chat is that of somebody who is not let in any more:
// it was a person's own, since nothing is ever sent to a stranger.
func (h *Hub) revoked(chat string) bool {
	_, in := h.o.Engine.Shared().Person(chat)
	return !in && !platform.IsGroup(chat)
}

// each does something with the dispatcher of each platform.
func (h *Hub) forEachDispatcher(do func(*delivery.Dispatcher)) {
	if h == nil {
		return
	}
	if all := h.dispatchers.Load(); all != nil {
		for _, p := range *all {
			do(p)
		}
	}
}

// accepts reports whether a chat takes messages, as far as is known.
func (h *Hub) accepts(chat string) bool {
	accepts := true
	h.forEachDispatcher(func(p *delivery.Dispatcher) { accepts = accepts && p.Accepts(chat) })
	return accepts
}

// where returns the chats in which a message with the key stands.
func (h *Hub) chatsShowing(key string) []string {
	chats, err := h.o.Store.Where(context.Background(), key)
	if err != nil {
		h.o.Log.Error("where a message stands", "key", key, "error", err)
	}
	return chats
}

// Queued counts what waits to be delivered; -1 where that is not known.
func (h *Hub) Queued() int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n, err := h.o.Store.Waiting(ctx)
	if err != nil {
		return -1
	}
	return n
}

// longAway is from when on open questions are asked again: a press in that
// time is lost.
const longAway = 10 * time.Minute

// away asks the open questions again where nightporter was off for long.
func (h *Hub) repeatQuestions(ctx context.Context, off, now time.Time) {
	if off.IsZero() || now.Sub(off) < longAway {
		return
	}
	for _, project := range h.o.Engine.Projects() {
		s, _ := h.o.Engine.State(project)
		messages := h.notify.AwayAgain(s, off, now)
		if len(messages) == 0 {
			continue
		}
		key := fmt.Sprintf("away:%s:%d", project, off.UnixNano())
		if err := h.o.Engine.Say(ctx, key, now, messages, nil); err != nil {
			h.o.Log.Error("ask again", "project", project, "error", err)
		}
	}
}

// answered is an answer that can be taken back for a while.
type answered struct {
	project, question string
	at                time.Time
}
