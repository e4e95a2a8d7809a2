package chat

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
)

// members knows who of those that are let in is in no group of a project's
// thread: its news must not pass them by. The zero value is ready for use, and
// takes everybody for a member.
type members struct {
	mu   sync.Mutex
	away map[string]bool // by thread and person
}

// read reports whether somebody reads a thread, as far as is known.
func (m *members) read(thread, person string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.away[thread+" "+person]
}

// membersFor is for how long what a platform said of members is believed.
const membersFor = time.Hour

// members asks who is in the groups of threads, until ctx ends: at once where
// somebody is new or a thread is, and again every hour.
func (l *line) members(ctx context.Context) {
	h := l.hub
	asked := map[string]time.Time{} // by thread and person
	hourly := time.NewTicker(membersFor)
	defer hourly.Stop()
	for ctx.Err() == nil {
		rung := h.o.Changes.Next()
		if l.conn.State().Connected {
			for _, pr := range h.o.Catalog.Config().Projects {
				thread := h.Threads.on(l.platform, pr)
				for _, who := range h.o.Engine.Shared().People {
					if thread == "" || !strings.HasPrefix(who.ID, l.platform.Prefix()) || time.Since(asked[thread+" "+who.ID]) < membersFor-time.Minute {
						continue
					}
					asked[thread+" "+who.ID] = time.Now()
					reads, err := l.conn.Reads(ctx, thread, who.ID)
					if err != nil {
						h.o.Log.Debug("nobody says whether somebody is in a group", "chat", thread, "person", who.ID, "error", err)
					}
					h.members.note(thread, who.ID, err == nil && !reads)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
			_ = transport.Sleep(ctx, time.Second) // a night rings often, and nobody's coming is urgent
		case <-hourly.C:
		}
	}
}

func (m *members) note(thread, person string, away bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away == nil {
		m.away = map[string]bool{}
	}
	m.away[thread+" "+person] = away
}
