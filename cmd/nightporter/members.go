package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot/telegram"
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
func (l *telegramLine) members(ctx context.Context) {
	p := l.porter
	asked := map[string]time.Time{} // by thread and person
	hourly := time.NewTicker(membersFor)
	defer hourly.Stop()
	for ctx.Err() == nil {
		rung := p.changes.Next()
		if l.bot.State().Connected {
			for _, pr := range p.config().Projects {
				thread := telegramThread(p, pr)
				for _, who := range p.engine.Shared().People {
					if thread == "" || !strings.HasPrefix(who.ID, telegram.Prefix) || time.Since(asked[thread+" "+who.ID]) < membersFor-time.Minute {
						continue
					}
					asked[thread+" "+who.ID] = time.Now()
					reads, err := l.bot.Reads(ctx, thread, who.ID)
					if err != nil {
						p.log.Debug("telegram: nobody says whether somebody is in a group", "chat", thread, "person", who.ID, "error", err)
					}
					p.members.note(thread, who.ID, err == nil && !reads)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
			_ = transport.Wait(ctx, time.Second) // a night rings often, and nobody's coming is urgent
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
