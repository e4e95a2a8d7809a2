package chat

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// liveStatus renders live messages.
type liveStatus struct{ hub *Hub }

// Text returns the current text of a live message for the role of the chat's
// reader, and reports whether it changes with the clock because a run is in
// progress. The message is empty if its reader may see nothing.
func (l liveStatus) Text(chat, key string) (bot.Message, bool) {
	h := l.hub.o.Host
	m, ok := bot.Live(h, key, time.Now().In(l.hub.o.Catalog.Zone()))
	if !ok {
		return bot.Message{}, false
	}
	if person, ok := h.Shared().Person(chat); ok {
		m = m.For(person.Role)
	} else if l.hub.revoked(chat) {
		return bot.Message{}, false
	}
	ticking := false
	for _, name := range h.Projects() {
		s, _ := h.State(name)
		if r := s.Project.Run; !r.Over() && r.State != ledger.RunPaused && (strings.HasSuffix(key, "/"+name) || strings.HasSuffix(key, "/*")) {
			ticking = true
		}
	}
	return m, ticking
}
