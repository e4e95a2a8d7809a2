package digest

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Maker makes digests from the ledger.
type Maker struct {
	Store   *store.Store
	Engine  Engine
	Catalog *project.Catalog
	Picture func(f report.Facts, dark bool) ([]byte, error) // as report.Picture
	Chats   bool                                            // there are chats in which admins can be told of a fault
	Log     *slog.Logger

	ready atomic.Pointer[digests] // that go out with the next decision
}

// Engine decides that a digest is due, and commits what is told besides.
type Engine interface {
	Do(ctx context.Context, in loop.Input) (loop.Answer, error)
	Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error
	State(project string) (loop.State, bool)
	Projects() []string
	Shared() loop.Shared
}

// Facts reads what a digest says from the ledger.
func (m *Maker) Facts(ctx context.Context, s loop.State, from, to time.Time) (report.Facts, error) {
	return guarded(func() (report.Facts, error) { return report.Read(ctx, m.Store, s, from, to) })
}

// digests are those of an occasion, ready to go out.
type digests struct {
	name           string
	admins, others []bot.Message // in the same order
}
