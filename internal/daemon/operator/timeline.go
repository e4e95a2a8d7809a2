package operator

import (
	"context"
	"sync"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// timelines caches the sessions of the watched runs. A run is read whole once;
// after that only newer entries are read.
type timelines struct {
	mu sync.Mutex
	of map[string]*timeline // by project
}

// timeline holds one run's sessions up to the entry seq.
type timeline struct {
	run      string
	seq      int64
	sessions report.Sessions
}

// read returns the sessions of a project's current run.
func (t *timelines) read(ctx context.Context, ledgerStore *store.Store, s loop.State) ([]report.Session, error) {
	r := s.Project.Run
	if r == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	name := s.Project.Name
	stream, seen := ledger.ProjectStream(name), t.of[name]
	if seen == nil || seen.run != r.ID {
		seen = &timeline{run: r.ID}
	}
	take := func(rec ledger.Record) error { //nolint:unparam // as Records wants it
		seen.seq = rec.Seq
		if e, err := rec.Entry(); err == nil && rec.Run == r.ID { // skips unreadable entries
			seen.sessions.Apply(e)
		}
		return nil
	}
	if t.of == nil {
		t.of = map[string]*timeline{}
	}
	t.of[name] = seen
	read := func() error { return ledgerStore.Records(ctx, stream, seen.seq, take) }
	if seen.seq == 0 {
		read = func() error { return ledgerStore.RecordsOfRun(ctx, stream, r.ID, take) }
	}
	if err := read(); err != nil {
		return nil, err // keep the entries read so far; the next call continues after them
	}
	return seen.sessions.In(s), nil
}
