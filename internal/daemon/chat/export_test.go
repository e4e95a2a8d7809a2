package chat

import "github.com/nightporter/nightporter/bot"

// LiveText is the text of a live message.
func (h *Hub) LiveText(chat, key string) (bot.Message, bool) { return liveStatus{h}.Text(chat, key) }

// Barred reports whether a chat is that of somebody who is not let in any more.
func (h *Hub) Barred(chat string) bool { return h.revoked(chat) }

// Reads reports whether somebody reads a thread, as far as is known.
func (h *Hub) Reads(thread, person string) bool { return h.members.read(thread, person) }

// Title sets what a thread is called.
func (t *Threads) Title(chat, title string) { t.titles.Store(chat, title) }

// Forget makes the new addresses of groups be read again, as another process
// would.
func (t *Threads) Forget() { t.moves.forget() }
