package chat

import (
	"context"
	"sync"

	"github.com/nightporter/nightporter/loop/ledger"
)

// movedKey begins the names under which new addresses of groups are kept: the
// configuration may name the old one for as long as it likes.
const movedKey = "moved/"

// Cursors reads what is kept under a name.
type Cursors interface {
	Cursor(ctx context.Context, name string) (ledger.Cursor, bool, error)
}

// moves knows the new addresses of groups. It asks the store once for each.
type moves struct {
	store Cursors

	mu sync.Mutex
	to map[string]string
}

// of is the address that a group has now, mostly the one that it had.
func (m *moves) of(group string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if to, known := m.to[group]; known {
		return to
	}
	c, found, err := m.store.Cursor(context.Background(), movedKey+group)
	if err != nil {
		return group // and is asked again
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

// forget makes it ask again.
func (m *moves) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.to)
}
