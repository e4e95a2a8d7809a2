package chat

import (
	"sync"
)

// members remembers which people are not in the group of a project's thread, so
// that they receive its news in private. The zero value is ready for use and
// treats everybody as a member.
type members struct {
	mu   sync.Mutex
	away map[string]bool // by thread and person
}

// read reports whether a person reads a thread. It returns true if that is
// unknown.
func (m *members) read(thread, person string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.away[thread+" "+person]
}

// record records whether a person is outside of a thread's group.
func (m *members) record(thread, person string, away bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away == nil {
		m.away = map[string]bool{}
	}
	m.away[thread+" "+person] = away
}
