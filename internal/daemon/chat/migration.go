package chat

import (
	"context"
	"sync"

	"github.com/nightporter/nightporter/loop/ledger"
)

// movedKey is the prefix of cursors that hold the new address of a migrated
// group. The configuration may keep the old address.
const movedKey = "moved/"

// Cursors reads a stored cursor by name.
type Cursors interface {
	Cursor(ctx context.Context, name string) (ledger.Cursor, bool, error)
}

// migrations maps groups to the addresses that they migrated to. It reads each
// from the store once.
type migrations struct {
	store Cursors

	mu sync.Mutex
	to map[string]string
}

// of returns a group's current address: the group itself unless it migrated.
func (m *migrations) of(group string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if to, known := m.to[group]; known {
		return to
	}
	c, found, err := m.store.Cursor(context.Background(), movedKey+group)
	if err != nil {
		return group // not cached, so the next call tries again
	}
	if !found {
		c.Value = group
	}
	if m.to == nil {
		m.to = map[string]string{}
	}
	m.to[group] = c.Value
	return c.Value
}

// forget drops the cached addresses.
func (m *migrations) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.to)
}
