package main

import (
	"context"

	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// nightLedger is the ledger and outbox of a night.
type nightLedger interface {
	engine.Ledger
	delivery.Outbox
	inbound.Outbox
	scenario.RecordStore
	ChatsWith(ctx context.Context, key string) ([]string, error)
	Cursor(ctx context.Context, name string) (ledger.Cursor, bool, error)
	QueueLength(ctx context.Context) (int, error)
	Verify(ctx context.Context) ([]store.Break, error)
	Close() error
}

var (
	_ nightLedger = (*store.Store)(nil)
	_ nightLedger = memoryLedger{}
)

// inMemory reports whether the night's ledger is a store.Memory. SQLite is a third of
// what a night computes, and such a night tests everything above it as well: its
// story is the same to the letter, which a test holds.
func (o options) inMemory(seed uint64) bool {
	return o.memory > 0 && seed%o.memory == 0 && !o.onDisk(seed) && o.nights <= 1
}

// memoryLedger is a ledger that outlives each daemon without a file.
type memoryLedger struct{ *store.Memory }

// QueueLength is store.Store's.
func (m memoryLedger) QueueLength(ctx context.Context) (int, error) {
	chats, err := m.Chats(ctx)
	n := 0
	for _, chat := range chats {
		var waiting []ledger.QueuedMessage
		if waiting, err = m.Queued(ctx, chat); err != nil {
			break
		}
		n += len(waiting)
	}
	return n, err
}

// Verify finds nothing: no file can be damaged.
func (memoryLedger) Verify(context.Context) ([]store.Break, error) { return nil, nil }

// Close keeps the ledger for the next daemon.
func (memoryLedger) Close() error { return nil }
