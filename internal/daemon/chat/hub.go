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
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Hub connects the engine to the chats: it composes the messages of each
// decision, from the first one on and also while no platform is connected.
// Create it with New. A nil Hub composes and observes nothing.
type Hub struct {
	o           Options
	Threads     *Threads
	notify      *notify.Notifier
	members     members
	troubles    sync.Map                               // threadTrouble by address of the thread
	dispatchers atomic.Pointer[[]*delivery.Dispatcher] // one for each platform; nil until Connections.Start
	undoable    chan answered                          // answers that can still be undone
	obstacles   map[string]bool                        // projects of which TellObstacles has told
	drawings    drawings
}

// Options are the dependencies of a Hub. All fields are required.
type Options struct {
	Store   *store.Store
	Engine  Engine
	Catalog *project.Catalog
	Threads *Threads
	Host    inbound.Service // answers what people type
	Digests *digest.Maker
	Changes *service.Broadcast       // signalled after every committed entry
	Hash    func(code string) string // keyed hash of a pairing code
	Files   *attachment.Store        // files that people send
	Log     *slog.Logger
}

// Engine commits messages and returns the state of every project.
type Engine interface {
	Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error
	State(project string) (loop.State, bool)
	Projects() []string
	Shared() loop.Shared
}

// New returns a hub. The engine need not be open yet.
func New(o Options) *Hub {
	h := &Hub{o: o, Threads: o.Threads, undoable: make(chan answered, 100)}
	h.Threads.accepts = h.accepts
	h.notify = notify.New(notify.Options{
		ChatsWith: h.chatsShowing, Group: platform.IsGroup, Threads: h.Threads.Of, Reads: h.members.read, Quiet: o.Catalog.QuietHours, Urgent: h.urgent, Most: o.Catalog.MostSessions,
		Zone: o.Catalog.Zone, Digests: o.Digests.For, Wave: o.Digests.Wave,
	})
	return h
}

// urgent returns the kinds of messages that make a sound even in quiet hours.
func (h *Hub) urgent() []string {
	if u := h.o.Catalog.Config().Digest.Urgent; len(u) > 0 {
		return u
	}
	return []string{notify.Standstill}
}

// now returns the time in the configured zone, which a reload may change.
func (h *Hub) now() time.Time { return time.Now().In(h.o.Catalog.Zone()) }

// quiet reports whether a chat has quiet hours at a time.
func (h *Hub) quiet(chat string, at time.Time) bool {
	return h.o.Engine.Shared().QuietHours(chat, h.o.Catalog.QuietHours()).Has(at.In(h.o.Catalog.Zone()))
}

// revoked reports whether a private chat belongs to a person who was removed.
// chat must be one that has received messages: strangers never have.
func (h *Hub) revoked(chat string) bool {
	_, in := h.o.Engine.Shared().Person(chat)
	return !in && !platform.IsGroup(chat)
}

// forEachDispatcher calls do for the dispatcher of each connected platform.
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

// accepts reports whether a chat accepts messages, as far as is known.
func (h *Hub) accepts(chat string) bool {
	accepts := true
	h.forEachDispatcher(func(p *delivery.Dispatcher) { accepts = accepts && p.Accepts(chat) })
	return accepts
}

// chatsShowing returns the chats that contain a message with the key.
func (h *Hub) chatsShowing(key string) []string {
	chats, err := h.o.Store.ChatsWith(context.Background(), key)
	if err != nil {
		h.o.Log.Error("where a message stands", "key", key, "error", err)
	}
	return chats
}

// Queued counts the messages that wait to be delivered, -1 for unknown. It
// takes at most 1 s.
func (h *Hub) Queued() int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	n, err := h.o.Store.QueueLength(ctx)
	if err != nil {
		return -1
	}
	return n
}

// longAbsence is the absence after which open questions are sent again: a button
// pressed meanwhile may have been lost.
const longAbsence = 10 * time.Minute

// repeatQuestions sends open questions again if no daemon ran for longAbsence or
// longer.
func (h *Hub) repeatQuestions(ctx context.Context, off, now time.Time) {
	if off.IsZero() || now.Sub(off) < longAbsence {
		return
	}
	for _, project := range h.o.Engine.Projects() {
		s, _ := h.o.Engine.State(project)
		messages := h.notify.RepeatQuestions(s, off, now)
		if len(messages) == 0 {
			continue
		}
		key := fmt.Sprintf("away:%s:%d", project, off.UnixNano())
		if err := h.o.Engine.Say(ctx, key, now, messages, nil); err != nil {
			h.o.Log.Error("ask again", "project", project, "error", err)
		}
	}
}

// answered is an answer that can be undone for a while.
type answered struct {
	project, question string
	at                time.Time
}
