package chat

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Compose returns what people are told of a decision.
func (h *Hub) Compose(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing {
	if h == nil {
		return nil
	}
	return h.notify.Compose(before, d, in)
}

// Sent wakes the dispatchers of chats for which something was committed.
func (h *Hub) Sent(chats []string) {
	h.forEachDispatcher(func(p *delivery.Dispatcher) { p.Wake(chats...) })
}

// Observe notes a committed entry, which was decided in before: the live status
// of its project has another text, and an answer may be taken back for a while.
func (h *Hub) Observe(before loop.State, e ledger.Entry) {
	h.noteUndoable(before, e)
	h.forEachDispatcher(func(p *delivery.Dispatcher) {
		p.RefreshLive(bot.LiveKey(before.Project.Name))
		p.RefreshLive(bot.LiveKey(""))
	})
}
