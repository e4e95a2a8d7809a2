package store

import (
	"context"
	"database/sql"
	"time"
)

// pruneBatch limits the rows deleted in one transaction, so that other commits
// do not wait long.
const pruneBatch = 500

// PruneInputs deletes the inputs that were committed more than age before now
// or before the newest input, whichever is earlier, and returns their number. A
// deleted input would be accepted as new, so age must be longer than anything
// can be delivered again: Telegram keeps updates for 24 hours. Counting from the
// newest input keeps the keys of the last days before a long time off, after
// which a chat is read back.
func (s *Store) PruneInputs(ctx context.Context, now time.Time, age time.Duration) (int, error) {
	var newest string
	if err := s.readers.QueryRowContext(ctx, `SELECT coalesce(max(time), '') FROM inputs`).Scan(&newest); err != nil {
		return 0, fail("prune inputs", err)
	}
	if newest == "" {
		return 0, nil
	}
	last, err := parseTime(newest)
	if err != nil {
		return 0, fail("prune inputs", err)
	}
	if last.Before(now) {
		now = last
	}
	n, err := prune(ctx, s, "", formatTime(now.Add(-age)),
		`SELECT key FROM inputs WHERE key > ?1 AND time < ?2 ORDER BY key LIMIT ?3`,
		`DELETE FROM inputs WHERE key BETWEEN ?1 AND ?2 AND time < ?3`)
	return n, fail("prune inputs", err)
}

// PruneEffects deletes the effects that were settled before the given time, and
// returns their number. An effect without a result is never deleted.
func (s *Store) PruneEffects(ctx context.Context, before time.Time) (int, error) {
	n, err := prune(ctx, s, int64(0), formatTime(before),
		`SELECT id FROM effects WHERE id > ?1 AND settled_at < ?2 ORDER BY id LIMIT ?3`,
		`DELETE FROM effects WHERE id BETWEEN ?1 AND ?2 AND settled_at < ?3`)
	return n, fail("prune effects", err)
}

// PruneMessages deletes sent messages settled before the given time and dropped
// messages committed before it, and returns their number. It keeps the last
// message sent for a key regardless of age, because it can still be edited.
func (s *Store) PruneMessages(ctx context.Context, before time.Time) (int, error) {
	for all := 0; ; {
		n, err := s.deleteRows(ctx, pruneQuery, formatTime(before), pruneBatch)
		all += n
		if err != nil || n < pruneBatch {
			return all, fail("prune messages", err)
		}
	}
}

const pruneQuery = `DELETE FROM messages WHERE id IN (SELECT m.id FROM messages m
	WHERE m.state <> 'queued' AND m.settled_at < ? AND NOT (m.state = 'sent' AND m.key <> '' AND NOT EXISTS (
		SELECT 1 FROM messages n WHERE n.chat = m.chat AND n.key = m.key AND n.key <> '' AND n.state = 'sent' AND n.place > m.place)) LIMIT ?)`

// prune deletes rows in batches, in the order of their ids. find returns the ids
// of at most ?3 rows after id ?1 that are older than ?2; remove deletes those
// from id ?1 to ?2 that are older than ?3. Finding reads beside other commits:
// only the deletion makes them wait.
func prune[ID any](ctx context.Context, s *Store, after ID, before, find, remove string) (all int, err error) {
	for {
		var ids []ID
		err := s.rows(ctx, func(rows *sql.Rows) error {
			var id ID
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		}, find, after, before, pruneBatch)
		if err != nil || len(ids) == 0 {
			return all, err
		}
		after = ids[len(ids)-1]
		n, err := s.deleteRows(ctx, remove, ids[0], after, before)
		all += n
		if err != nil {
			return all, err
		}
	}
}

// deleteRows runs a DELETE in a transaction of its own and returns the number of
// deleted rows.
func (s *Store) deleteRows(ctx context.Context, query string, args ...any) (int, error) {
	var n int64
	err := s.write(ctx, func(ctx context.Context) (bool, error) {
		res, err := s.writer.ExecContext(ctx, query, args...)
		if err != nil {
			return false, err
		}
		n, err = res.RowsAffected()
		return true, err
	})
	return int(n), err
}
