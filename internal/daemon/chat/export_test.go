package chat

import "github.com/nightporter/nightporter/bot"

// LiveText renders a live message.
func (h *Hub) LiveText(chat, key string) (bot.Message, bool) { return liveStatus{h}.Text(chat, key) }

// Barred reports whether a private chat belongs to a removed person.
func (h *Hub) Barred(chat string) bool { return h.revoked(chat) }

// Reads reports whether a person reads a thread, as far as is known.
func (h *Hub) Reads(thread, person string) bool { return h.members.read(thread, person) }

// Title sets a thread's title.
func (t *Threads) Title(chat, title string) { t.titles.Store(chat, title) }

// Forget drops the cached addresses of groups, as a restart would.
func (t *Threads) Forget() { t.moves.forget() }
