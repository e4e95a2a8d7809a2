package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// snapshotEvery is the number of entries between snapshots. It bounds the
// entries that the next start has to fold.
const snapshotEvery = 2000

// foldSaveEvery is the number of entries after which a fold saves a snapshot on
// the way. A start that is ended before it has folded everything, such as by the
// time limit of its unit, leaves them to the next one, which goes on from there.
const foldSaveEvery = 20_000

// foldAll folds the streams concurrently, since they are independent of each
// other.
func (e *Engine) foldAll(ctx context.Context, streams []string) error {
	type result struct {
		state loop.State
		head  int64 // number of the last entry
		saved int64 // last entry of the snapshot that the fold began with
		err   error
	}
	results := make([]result, len(streams))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var folds sync.WaitGroup
	for n, stream := range streams {
		slots <- struct{}{}
		folds.Go(func() {
			r := &results[n]
			r.state, r.saved, r.head, r.err = e.fold(ctx, stream)
			<-slots
		})
	}
	folds.Wait()
	for n, stream := range streams {
		r := results[n]
		name := strings.TrimPrefix(stream, ledger.ProjectStream(""))
		if r.err != nil && stream != ledger.SharedStream && e.o.Skip != nil && e.o.Skip(name, r.err) {
			e.o.Log.Error("the ledger of a project cannot be read; all others are worked on", "project", name, "error", r.err)
			e.unread[name] = r.err
			continue
		}
		if r.err != nil {
			return fmt.Errorf("open %s: %w", stream, r.err)
		}
		e.heads[stream], e.saved[stream] = r.head, r.saved
		e.unsaved += int(r.head - r.saved)
		if stream == ledger.SharedStream {
			e.shared = r.state.Shared
			continue
		}
		r.state.Project.Name = name // a stream may have entries before its first run, which set no name
		e.projects[name] = r.state.Project
	}
	return nil
}

// fold folds one stream from its newest snapshot, and saves one on the way every
// foldSaveEvery entries. saved is the last entry of the newest one.
func (e *Engine) fold(ctx context.Context, stream string) (s loop.State, saved, head int64, err error) {
	row, err := e.o.Ledger.Snapshot(ctx, stream, loop.StateVersion)
	if errors.Is(err, ledger.ErrSnapshotAltered) {
		e.o.Log.Warn("snapshot thrown away; the state is folded from the first entry", "stream", stream, "error", err)
		row, err = ledger.SnapshotRow{}, nil
	}
	if err != nil {
		return s, 0, 0, err
	}
	// A snapshot only saves time: if it does not decode, the fold starts at the
	// first entry of the stream.
	if row.Seq > 0 && json.Unmarshal(row.Body, &s) != nil {
		s, row.Seq = loop.State{}, 0
	}
	folder := loop.NewFolder(s)
	head, saved = row.Seq, row.Seq
	tried := saved
	err = e.o.Ledger.Records(ctx, stream, row.Seq, func(r ledger.Record) error {
		entry, err := r.Entry()
		if err != nil {
			return err
		}
		folder.Add(entry)
		if head = r.Seq; head-tried >= foldSaveEvery {
			if tried = head; e.saveSnapshot(ctx, unsavedState{stream, head, folder.State()}) {
				saved = head
			}
		}
		return nil
	})
	return folder.State(), saved, head, err
}

// unsavedState is a state that has no current snapshot.
type unsavedState struct {
	stream string
	seq    int64
	state  loop.State
}

// unsavedStates returns the states of streams with entries since their last
// snapshot, and counts them as saved.
func (e *Engine) unsavedStates() (states []unsavedState) {
	add := func(stream string, s loop.State) {
		if seq := e.heads[stream]; seq > e.saved[stream] && !e.distrusted(stream) {
			states = append(states, unsavedState{stream, seq, s})
			e.saved[stream] = seq
		}
	}
	add(ledger.SharedStream, loop.State{Shared: e.shared})
	for _, p := range e.projects {
		add(ledger.ProjectStream(p.Name), loop.State{Project: p})
	}
	e.unsaved = 0
	return states
}

// Distrust stops the engine from saving snapshots of a stream whose state is not
// what its entries give, so that the next start folds them anew.
func (e *Engine) Distrust(stream string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wrong == nil {
		e.wrong = map[string]bool{}
	}
	e.wrong[stream] = true
}

func (e *Engine) distrusted(stream string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.wrong[stream]
}

// saveSnapshots stores snapshots. A failure only makes the next start slower. It
// may run in any goroutine, so that no input waits for the encoding: states are
// never changed.
func (e *Engine) saveSnapshots(states []unsavedState) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, s := range states {
		e.saveSnapshot(ctx, s)
	}
}

// saveSnapshot stores one snapshot and reports whether it is stored.
func (e *Engine) saveSnapshot(ctx context.Context, s unsavedState) bool {
	body, err := json.Marshal(s.state)
	if err == nil {
		err = e.o.Ledger.SaveSnapshot(ctx, ledger.SnapshotRow{Stream: s.stream, Seq: s.seq, Version: loop.StateVersion, Body: body})
	}
	if err != nil {
		e.o.Log.Warn("snapshot not saved", "stream", s.stream, "error", err)
	}
	return err == nil
}

// Open returns an Engine with the state of the given streams folded from the
// ledger. It carries out nothing before Run.
func Open(ctx context.Context, o Options, streams []string) (*Engine, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Scheduler == nil {
		o.Scheduler = sched.Runtime
	}
	e := &Engine{
		o: o, calls: inbox{arrived: make(chan struct{}, 1)}, unread: map[string]error{},
		projects: map[string]loop.Project{}, ports: map[string]Ports{}, watches: map[string]context.CancelFunc{}, looks: map[string]context.CancelFunc{},
		heads: map[string]int64{}, saved: map[string]int64{}, stalls: map[string]stall{},
	}
	if err := e.foldAll(ctx, slices.Concat([]string{ledger.SharedStream}, streams)); err != nil {
		return nil, err
	}
	return e, nil
}
