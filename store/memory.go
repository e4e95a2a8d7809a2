package store

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Memory is a Store without a disk, for tests of the packages that use one. One
// conformance suite runs over both. Memory lacks the methods that are about a
// file: Open, Close, Verify, Backup. The zero value is an empty ledger. Memory
// is safe for concurrent use.
type Memory struct {
	mu        sync.Mutex
	streams   map[string][]ledger.Record
	inputs    map[string][]byte
	effects   []memoryEffect // the effect with ID n has index n-1
	known     map[effectID]bool
	snapshots map[string][]ledger.SnapshotRow
	cursors   map[string]ledger.Cursor
	messages  []*message // sorted by place
	lastID    int64      // of the messages
}

type memoryEffect struct {
	ledger.PendingEffect
	settled bool
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{} }

// Commit is Store.Commit.
func (m *Memory) Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return ledger.Receipt{}, fail("commit", context.Cause(ctx))
	}
	if b.Key != "" {
		if answer, ok := m.inputs[b.Key]; ok {
			return ledger.Receipt{Repeated: true, Answer: bytes.Clone(answer)}, nil
		}
	}
	made, err := seal(b, m.head)
	if err != nil {
		return ledger.Receipt{}, fail("commit", err)
	}
	// Everything that can be refused is checked before the first change.
	for _, e := range made.effects {
		if m.known[effectID{e.Kind, e.Key}] {
			return ledger.Receipt{}, fail("commit", duplicate(e))
		}
	}
	for _, id := range b.Settles {
		if id < 1 || id > int64(len(m.effects)+len(made.effects)) {
			return ledger.Receipt{}, fail("commit", unknownEffect(id))
		}
	}

	m.init()
	for _, r := range made.records {
		m.streams[r.Stream] = append(m.streams[r.Stream], cloneRecord(r))
	}
	for i := range made.effects {
		made.effects[i].ID = int64(len(m.effects)) + 1
		m.effects = append(m.effects, memoryEffect{PendingEffect: cloneEffect(made.effects[i])})
		m.known[effectID{made.effects[i].Kind, made.effects[i].Key}] = true
	}
	for _, id := range b.Settles {
		m.effects[id-1].settled = true
	}
	if b.Key != "" {
		m.inputs[b.Key] = cloneBytes(b.Answer)
	}
	for _, o := range b.Messages {
		m.enqueue(o, formatTime(b.Time))
	}
	if c := b.Cursor; c != nil {
		m.cursors[c.Name] = ledger.Cursor{Name: c.Name, Value: c.Value, Time: normalTime(c.Time)}
	}
	return ledger.Receipt{Answer: cloneBytes(b.Answer), Records: made.records, Effects: made.effects, Chats: chatsOf(b.Messages)}, nil
}

func (m *Memory) init() {
	if m.streams != nil {
		return
	}
	m.streams = map[string][]ledger.Record{}
	m.inputs = map[string][]byte{}
	m.known = map[effectID]bool{}
	m.snapshots = map[string][]ledger.SnapshotRow{}
	m.cursors = map[string]ledger.Cursor{}
}

func (m *Memory) head(stream string) (head, error) {
	entries := m.streams[stream]
	if len(entries) == 0 {
		return head{}, nil
	}
	last := entries[len(entries)-1]
	return head{last.Seq, last.Hash}, nil
}

// Records is Store.Records.
func (m *Memory) Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error {
	return m.each(ctx, "records of "+stream, stream, func(r ledger.Record) bool { return r.Seq > after }, yield)
}

// RecordsOfTask is Store.RecordsOfTask.
func (m *Memory) RecordsOfTask(ctx context.Context, stream, task string, yield func(ledger.Record) error) error {
	return m.each(ctx, "records of task "+task, stream, func(r ledger.Record) bool { return r.Task != "" && ledger.SameID(r.Task, task) }, yield)
}

// RecordsOfRun is Store.RecordsOfRun.
func (m *Memory) RecordsOfRun(ctx context.Context, stream, run string, yield func(ledger.Record) error) error {
	return m.each(ctx, "records of run "+run, stream, func(r ledger.Record) bool { return r.Run != "" && r.Run == run }, yield)
}

// RecordsAfter is Store.RecordsAfter.
func (m *Memory) RecordsAfter(ctx context.Context, stream string, after int64, types []string, yield func(ledger.Record) error) error {
	return m.each(ctx, "records of "+stream, stream, func(r ledger.Record) bool { return r.Seq > after && slices.Contains(types, r.Type) }, yield)
}

// LastRecord is Store.LastRecord.
func (m *Memory) LastRecord(ctx context.Context, stream string, upTo int64, types ...string) (last ledger.Record, found bool, err error) {
	want := func(r ledger.Record) bool { return r.Seq <= upTo && slices.Contains(types, r.Type) }
	err = m.each(ctx, "last record of "+stream, stream, want, func(r ledger.Record) error {
		last, found = r, true
		return nil
	})
	return last, found, err
}

// RecordsOfTypes is Store.RecordsOfTypes.
func (m *Memory) RecordsOfTypes(ctx context.Context, stream, run string, types []string, yield func(ledger.Record) error) error {
	return m.each(ctx, "records of run "+run, stream, func(r ledger.Record) bool {
		return r.Run != "" && r.Run == run && slices.Contains(types, r.Type)
	}, yield)
}

// RunsOf is Store.RunsOf.
func (m *Memory) RunsOf(ctx context.Context, stream string) ([]string, error) {
	var runs []string
	err := m.each(ctx, "runs of "+stream, stream, func(r ledger.Record) bool { return r.Run != "" && !slices.Contains(runs, r.Run) },
		func(r ledger.Record) error { runs = append(runs, r.Run); return nil })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, byNumber)
	return runs, nil
}

// each calls yield without holding the mutex, so that yield may use the Memory.
func (m *Memory) each(ctx context.Context, op, stream string, want func(ledger.Record) bool, yield func(ledger.Record) error) error {
	m.mu.Lock()
	entries := m.streams[stream] // entries are never changed in place, so the slice may be read unlocked
	m.mu.Unlock()
	for _, r := range entries {
		if ctx.Err() != nil {
			return fail(op, context.Cause(ctx))
		}
		if !want(r) {
			continue
		}
		if err := yield(cloneRecord(r)); err != nil {
			return fail(op, err)
		}
	}
	return nil
}

// Streams is Store.Streams.
func (m *Memory) Streams(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.streams)), nil
}

// Head is Store.Head.
func (m *Memory) Head(_ context.Context, stream string) (seq int64, hash []byte, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, err := m.head(stream)
	return h.seq, bytes.Clone(h.hash), err
}

// Pending is Store.Pending.
func (m *Memory) Pending(context.Context) ([]ledger.PendingEffect, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var pending []ledger.PendingEffect
	for _, e := range m.effects {
		if !e.settled {
			pending = append(pending, cloneEffect(e.PendingEffect))
		}
	}
	return pending, nil
}

// Snapshot is Store.Snapshot.
func (m *Memory) Snapshot(_ context.Context, stream string, version int) (ledger.SnapshotRow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	best := ledger.SnapshotRow{Stream: stream, Version: version}
	for _, r := range m.snapshots[stream] {
		if r.Version == version && r.Seq > best.Seq {
			best = r
		}
	}
	best.Body = cloneBytes(best.Body)
	return best, nil
}

// SaveSnapshot is Store.SaveSnapshot.
func (m *Memory) SaveSnapshot(ctx context.Context, r ledger.SnapshotRow) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil {
		return fail("save snapshot of "+r.Stream, context.Cause(ctx))
	}
	if r.Seq < 1 || r.Seq > int64(len(m.streams[r.Stream])) {
		return fail("save snapshot of "+r.Stream, noEntry(r))
	}
	newer := slices.DeleteFunc(m.snapshots[r.Stream], func(o ledger.SnapshotRow) bool { return o.Seq <= r.Seq })
	r.Body = cloneBytes(r.Body)
	m.snapshots[r.Stream] = append(newer, r)
	return nil
}

func cloneRecord(r ledger.Record) ledger.Record {
	r.Body, r.Prev, r.Hash = bytes.Clone(r.Body), bytes.Clone(r.Prev), bytes.Clone(r.Hash)
	return r
}

func cloneEffect(e ledger.PendingEffect) ledger.PendingEffect {
	e.Body, e.Head = bytes.Clone(e.Body), bytes.Clone(e.Head)
	return e
}
