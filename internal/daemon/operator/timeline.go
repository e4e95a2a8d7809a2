package operator

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
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
	all      []watchedSession
}

// watchedSession is a session of an agent or of a command.
type watchedSession struct {
	id, task string
	kind     ledger.Kind
	doing    string    // the hat of an agent, else the kind of the command
	at       time.Time // when it was planned
}

func watched(e ledger.Entry, b ledger.SessionPlanned) watchedSession {
	x := watchedSession{id: e.Session, task: e.Task, kind: b.Kind, doing: string(b.Kind), at: e.Time}
	if b.Kind == ledger.KindAgent {
		x.doing = bot.Cut(bot.Clean(b.Hat), 16)
	}
	return x
}

// read returns the sessions of agents of a project's current run.
func (t *timelines) read(ctx context.Context, ledgerStore *store.Store, s loop.State) ([]report.Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen, err := t.update(ctx, ledgerStore, s)
	if seen == nil || err != nil {
		return nil, err
	}
	return seen.sessions.In(s), nil
}

// sessions returns all sessions of a project's current run, in the order in which they
// were planned.
func (t *timelines) sessions(ctx context.Context, ledgerStore *store.Store, s loop.State) ([]watchedSession, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen, err := t.update(ctx, ledgerStore, s)
	if seen == nil || err != nil {
		return nil, err
	}
	return slices.Clone(seen.all), nil
}

// update reads what is new of a project's current run; t.mu is held. It returns nil if
// there is no run.
func (t *timelines) update(ctx context.Context, ledgerStore *store.Store, s loop.State) (*timeline, error) {
	r := s.Project.Run
	if r == nil {
		return nil, nil
	}
	name := s.Project.Name
	stream, seen := ledger.ProjectStream(name), t.of[name]
	if seen == nil || seen.run != r.ID {
		seen = &timeline{run: r.ID}
	}
	take := func(rec ledger.Record) error { //nolint:unparam // as Records wants it
		seen.seq = rec.Seq
		if e, err := rec.Entry(); err == nil && rec.Run == r.ID { // skips unreadable entries
			seen.sessions.Apply(e)
			if b, is := e.Body.(ledger.SessionPlanned); is {
				seen.all = append(seen.all, watched(e, b))
			}
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
	return seen, nil
}
