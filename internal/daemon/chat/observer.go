package chat

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Compose returns the messages to commit together with a decision. The engine
// calls it before it commits.
func (h *Hub) Compose(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing {
	if h == nil {
		return nil
	}
	return h.notify.Compose(before, d, in)
}

// Sent wakes the dispatchers of chats for which messages were committed.
func (h *Hub) Sent(chats []string) {
	h.forEachDispatcher(func(p *delivery.Dispatcher) { p.Wake(chats...) })
}

// Observe handles a committed entry, with the state before it: live messages of
// the project need a new text, and an answer may be undone for a while.
func (h *Hub) Observe(before loop.State, e ledger.Entry) {
	h.noteUndoable(before, e)
	h.forEachDispatcher(func(p *delivery.Dispatcher) {
		p.RefreshLive(bot.LiveKey(before.Project.Name))
		p.RefreshLive(bot.LiveKey(""))
	})
}
