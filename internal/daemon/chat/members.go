package chat

import (
	"sync"

	"github.com/nightporter/nightporter/internal/daemon/platform"
)

// members remembers which people are not in the group of a project's thread, so
// that they receive its news in private. The zero value is ready for use and
// treats everybody as a member.
type members struct {
	mu   sync.Mutex
	away map[string]bool // by group and person: its topics have the same members
}

// read reports whether a person reads a thread. It returns true if that is
// unknown.
func (m *members) read(thread, person string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.away[platform.Group(thread)+" "+person]
}

// record records whether a person is outside of a thread's group, and reports
// whether they left it since it was recorded last.
func (m *members) record(thread, person string, away bool) (left bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away == nil {
		m.away = map[string]bool{}
	}
	who := platform.Group(thread) + " " + person
	left = away && !m.away[who]
	m.away[who] = away
	return left
}
