package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// snapshotTag begins the bytes of every snapshot's sum.
const snapshotTag = "nightporter snapshot 1\n"

// snapshotSum returns the sum that is stored with a snapshot: SHA-256 over the
// tag, the stream's name with its length, the snapshot's number and version,
// the hash of its entry and the body. It binds the bytes to their place in the
// chain. It has no key: a key would lie beside the database, within reach of
// anyone who can change the file. Somebody who computes it anew is found by
// folding the ledger, as `nightporter verify` does.
func snapshotSum(r ledger.SnapshotRow, entry []byte) []byte {
	h := sha256.New()
	h.Write([]byte(snapshotTag))
	for _, n := range []int64{int64(len(r.Stream)), r.Seq, int64(r.Version)} {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	h.Write([]byte(r.Stream))
	h.Write(entry)
	h.Write(r.Body)
	return h.Sum(nil)
}

// Snapshot returns the newest snapshot of a stream written by the given version
// of the core, or a row with Seq 0 for none. A snapshot whose entry the ledger
// does not hold is ignored: the ledger was replaced by another one. The error
// for a snapshot that does not have the bytes that were saved is
// ledger.ErrSnapshotAltered.
func (s *Store) Snapshot(ctx context.Context, stream string, version int) (ledger.SnapshotRow, error) {
	r := ledger.SnapshotRow{Stream: stream, Version: version}
	var entry, sum []byte
	err := s.readers.QueryRowContext(ctx,
		`SELECT s.seq, s.body, e.hash, s.sum FROM snapshots s
			JOIN entries e ON e.stream = s.stream AND e.seq = s.seq AND e.hash = s.hash
			WHERE s.stream = ? AND s.version = ? ORDER BY s.seq DESC LIMIT 1`, stream, version).Scan(&r.Seq, &r.Body, &entry, &sum)
	none := ledger.SnapshotRow{Stream: stream, Version: version}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return none, nil
	case err != nil:
		return ledger.SnapshotRow{}, fail("snapshot of "+stream, s.noting(err))
	case len(sum) == 0: // of a release that stored no sums
		return none, nil
	case !bytes.Equal(sum, snapshotSum(r, entry)):
		return none, fail("snapshot of "+stream, fmt.Errorf("at entry %d: %w", r.Seq, ledger.ErrSnapshotAltered))
	}
	r.Body = cloneBytes(r.Body)
	return r, nil
}

// SaveSnapshot stores a snapshot and deletes the stream's older ones. Seq must
// be the number of an entry.
func (s *Store) SaveSnapshot(ctx context.Context, r ledger.SnapshotRow) error {
	return fail("save snapshot of "+r.Stream, s.write(ctx, func(ctx context.Context) (bool, error) {
		var entry []byte
		err := s.stmts.entryHash.QueryRowContext(ctx, r.Stream, r.Seq).Scan(&entry)
		if errors.Is(err, sql.ErrNoRows) {
			return false, noEntry(r)
		}
		if err != nil {
			return false, err
		}
		if _, err := s.stmts.addSnapshot.ExecContext(ctx, r.Stream, r.Seq, r.Version, entry, notNull(r.Body), snapshotSum(r, entry)); err != nil {
			return false, err
		}
		_, err = s.stmts.oldSnaps.ExecContext(ctx, r.Stream, r.Seq, r.Version)
		return true, err
	}))
}

// DropSnapshots deletes the snapshots of a stream, so that the next start folds
// it from its first entry.
func (s *Store) DropSnapshots(ctx context.Context, stream string) error {
	return fail("drop snapshots of "+stream, s.write(ctx, func(ctx context.Context) (bool, error) {
		_, err := s.writer.ExecContext(ctx, `DELETE FROM snapshots WHERE stream = ?`, stream)
		return true, err
	}))
}

func noEntry(r ledger.SnapshotRow) error {
	return fmt.Errorf("the ledger has no entry %d of stream %s", r.Seq, r.Stream)
}
