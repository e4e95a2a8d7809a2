package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Pending returns the effects of all streams that are not settled, oldest
// first.
func (s *Store) Pending(ctx context.Context) ([]ledger.PendingEffect, error) {
	var pending []ledger.PendingEffect
	err := s.rows(ctx, func(rows *sql.Rows) error {
		var e ledger.PendingEffect
		var at string
		if err := rows.Scan(&e.ID, &e.Stream, &e.Kind, &e.Class, &e.Key, &e.Body, &at, &e.Seq, &e.Head); err != nil {
			return err
		}
		var err error
		if e.Time, err = parseTime(at); err != nil {
			return fmt.Errorf("effect %d: its time cannot be read: %w: %w", e.ID, err, ErrBroken)
		}
		e.Body, e.Head = cloneBytes(e.Body), cloneBytes(e.Head)
		pending = append(pending, e)
		return nil
	}, `SELECT id, stream, kind, class, key, body, time, seq, head FROM effects WHERE settled_at IS NULL ORDER BY id`)
	if err != nil {
		return nil, fail("pending effects", err)
	}
	return pending, nil
}
