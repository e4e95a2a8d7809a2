package chat

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// redirect commits a message that is queued for a closed thread for the own chats of
// those who were to read it there, with the sound that it was to make. It reports
// whether it did: not for a chat that is no thread, nor where nobody is left to
// read it.
func (h *Hub) redirect(ctx context.Context, m ledger.QueuedMessage) (bool, error) {
	if h.Threads.exact(m.Chat) == "" {
		return false, nil
	}
	var msgs []ledger.Outgoing
	now := h.now()
	for _, who := range h.peopleOn(m.Chat) {
		if !h.members.read(m.Chat, who.ID) {
			continue // has it in their own chat
		}
		// What rings in the quiet hours of the thread is urgent.
		silent := m.Silent || h.quiet(who.ID, now) && !h.quiet(m.Chat, m.Time)
		msgs = append(msgs, ledger.Outgoing{Chat: who.ID, Key: m.Key, Edit: m.Edit, Class: m.Class, Silent: silent, Body: forRole(m.Body, who.Role)})
	}
	if len(msgs) == 0 {
		return false, nil
	}
	if err := h.o.Engine.Say(ctx, fmt.Sprintf("redirected:%s:%d", m.Chat, m.ID), now, msgs, nil); err != nil {
		return false, fmt.Errorf("commit for other chats: %w", err)
	}
	return true, nil
}

// forRole returns the JSON of a message without the buttons that a role may not
// press.
func forRole(body []byte, role ledger.Role) []byte {
	var m bot.Message
	if json.Unmarshal(body, &m) != nil {
		return body // the dispatcher drops it and says so
	}
	out, err := json.Marshal(m.For(role))
	if err != nil { // cannot happen: the message consists of strings
		return body
	}
	return out
}
