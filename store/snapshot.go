package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Snapshot returns the newest snapshot of a stream written by the given version
// of the core, or a row with Seq 0 for none. A snapshot whose entry the ledger
// does not hold is ignored: the ledger was replaced by another one.
func (s *Store) Snapshot(ctx context.Context, stream string, version int) (ledger.SnapshotRow, error) {
	r := ledger.SnapshotRow{Stream: stream, Version: version}
	err := s.readers.QueryRowContext(ctx,
		`SELECT s.seq, s.body FROM snapshots s
			JOIN entries e ON e.stream = s.stream AND e.seq = s.seq AND e.hash = s.hash
			WHERE s.stream = ? AND s.version = ? ORDER BY s.seq DESC LIMIT 1`, stream, version).Scan(&r.Seq, &r.Body)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return ledger.SnapshotRow{}, fail("snapshot of "+stream, err)
	}
	r.Body = cloneBytes(r.Body)
	return r, nil
}

// SaveSnapshot stores a snapshot and deletes the stream's older ones. Seq must
// be the number of an entry.
func (s *Store) SaveSnapshot(ctx context.Context, r ledger.SnapshotRow) error {
	return fail("save snapshot of "+r.Stream, s.write(ctx, func(ctx context.Context) (bool, error) {
		res, err := s.stmts.addSnapshot.ExecContext(ctx, r.Stream, r.Seq, r.Version, notNull(r.Body))
		if err != nil {
			return false, err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return false, errors.Join(err, noEntry(r))
		}
		_, err = s.stmts.oldSnaps.ExecContext(ctx, r.Stream, r.Seq, r.Version)
		return true, err
	}))
}

func noEntry(r ledger.SnapshotRow) error {
	return fmt.Errorf("the ledger has no entry %d of stream %s", r.Seq, r.Stream)
}
