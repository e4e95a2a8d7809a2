package chat

import (
	"encoding/json"
	"sync"

	"github.com/nightporter/nightporter/bot"
)

// drawings draws the pictures of messages. It keeps the last one, because the chats of
// all readers ask for the same at about the same time: the first draws, and the others
// wait for it. The zero value is ready.
type drawings struct {
	mu      sync.Mutex
	of      string // the bot.Drawing as JSON
	picture []byte
	alt     string
}

// draw returns a message with the picture of its Drawing, or as it is if there is none.
// It is called by the goroutines that deliver, so no decision waits for it.
func (h *Hub) draw(m bot.Message) bot.Message {
	of, err := json.Marshal(m.Drawing)
	if err != nil || m.Drawing == nil {
		return m
	}
	d := &h.drawings
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of != string(of) {
		d.of, d.picture, d.alt = string(of), nil, ""
		switch {
		case m.Drawing.Pictured != nil:
			d.picture = h.pictured(m.Drawing.Pictured.Pictured)
		case len(m.Drawing.Wave) > 0:
			d.picture, d.alt = h.o.Digests.WavePicture(m.Drawing.Wave, h.o.Catalog.Zone())
		}
	}
	switch p := m.Drawing.Pictured; {
	case len(d.picture) == 0:
	case p != nil:
		m.ShowPictured(*p, d.picture)
	default:
		m.Picture, m.Alt = d.picture, d.alt
	}
	return m
}
