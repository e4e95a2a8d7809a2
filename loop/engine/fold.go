package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// snapshotEvery bounds how many entries have to be folded at the next start.
const snapshotEvery = 2000

// foldAll reads the streams, several at a time: each is a fold of its own.
func (e *Engine) foldAll(ctx context.Context, streams []string) error {
	type result struct {
		state loop.State
		head  int64 // last entry
		saved int64 // last entry of the snapshot that it began with
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
		if r.err != nil {
			return fmt.Errorf("open %s: %w", stream, r.err)
		}
		e.heads[stream], e.saved[stream] = r.head, r.saved
		e.unsaved += int(r.head - r.saved)
		if stream == ledger.SharedStream {
			e.house = r.state.Shared
			continue
		}
		name := strings.TrimPrefix(stream, ledger.ProjectStream(""))
		r.state.Project.Name = name // a stream can begin before its first run
		e.projects[name] = r.state.Project
	}
	return nil
}

// fold reads one stream: its newest snapshot, then what follows.
func (e *Engine) fold(ctx context.Context, stream string) (s loop.State, saved, head int64, err error) {
	row, err := e.o.Ledger.Snapshot(ctx, stream, loop.StateVersion)
	if err != nil {
		return s, 0, 0, err
	}
	// A snapshot is a convenience: one that does not decode is passed over.
	if row.Seq > 0 && json.Unmarshal(row.Body, &s) != nil {
		s, row.Seq = loop.State{}, 0
	}
	folder := loop.NewFolder(s)
	head = row.Seq
	err = e.o.Ledger.Records(ctx, stream, row.Seq, func(r ledger.Record) error {
		entry, err := r.Entry()
		if err != nil {
			return err
		}
		folder.Add(entry)
		head = r.Seq
		return nil
	})
	return folder.State(), row.Seq, head, err
}

// unsavedState is a state on its way to a snapshot.
type unsavedState struct {
	stream string
	seq    int64
	state  loop.State
}

// changed returns the states of streams that have entries since their last
// snapshot, and takes them for saved.
func (e *Engine) changed() (states []unsavedState) {
	add := func(stream string, s loop.State) {
		if seq := e.heads[stream]; seq > e.saved[stream] {
			states = append(states, unsavedState{stream, seq, s})
			e.saved[stream] = seq
		}
	}
	add(ledger.SharedStream, loop.State{Shared: e.house})
	for _, p := range e.projects {
		add(ledger.ProjectStream(p.Name), loop.State{Project: p})
	}
	e.unsaved = 0
	return states
}

// save keeps states for a faster start; a failure costs only time. It may be
// called from any goroutine, so that no input waits for the encoding of a plan:
// states are never changed.
func (e *Engine) save(states []unsavedState) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, s := range states {
		body, err := json.Marshal(s.state)
		if err == nil {
			err = e.o.Ledger.SaveSnapshot(ctx, ledger.SnapshotRow{Stream: s.stream, Seq: s.seq, Version: loop.StateVersion, Body: body})
		}
		if err != nil {
			e.o.Log.Warn("snapshot not saved", "stream", s.stream, "error", err)
		}
	}
}
