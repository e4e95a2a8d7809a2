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

// Maker makes digests from the ledger. Set all exported fields before its first
// use; its methods are safe for concurrent use.
type Maker struct {
	Store   *store.Store
	Engine  Engine
	Catalog *project.Catalog

	Readings *project.Readings                               // what the projects' sources say now; nil: what the last run read
	Picture  func(f report.Facts, dark bool) ([]byte, error) // draws the picture; report.Picture in production
	DrawWave func(w report.Wave, dark bool) ([]byte, error)  // draws that of a wave; report.WavePicture in production
	Chats    bool                                            // chats are configured, so admins can be told of a fault
	Log      *slog.Logger

	ready atomic.Pointer[digests] // digests for the decision in progress; nil otherwise
}

// Engine decides that a digest is due, and commits messages about faults.
type Engine interface {
	Do(ctx context.Context, in loop.Input) (ledger.Answer, error)
	Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error
	State(project string) (loop.State, bool)
	Projects() []string
	Shared() loop.Shared
}

// Facts reads the facts of a digest from the ledger, for the time from from to
// to. What is left to do is what the source says now, unless that is another one than
// the last run's.
func (m *Maker) Facts(ctx context.Context, s loop.State, from, to time.Time) (report.Facts, error) {
	if now := m.Readings.Known(s); s.Project.Run == nil || now.Project.Source == s.Project.Source {
		s = now
	}
	return guarded(func() (report.Facts, error) { return report.Read(ctx, m.Store, s, from, to) })
}

// digests are the finished digests of one occasion.
type digests struct {
	name           string
	admins, others []bot.Message // both in the order of the projects
}
