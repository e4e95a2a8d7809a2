package chat

import (
	"sync"
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

func (m *members) note(thread, person string, away bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away == nil {
		m.away = map[string]bool{}
	}
	m.away[thread+" "+person] = away
}
