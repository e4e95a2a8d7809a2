package store

import (
	"context"
	"fmt"
	"time"
)

// pruneBatch limits the rows deleted in one transaction, so that other commits
// do not wait long.
const pruneBatch = 2000

// pruneInputsQuery selects the keys of a prefix as a range of the index: from
// the prefix up to the prefix with its last byte incremented.
const pruneInputsQuery = `DELETE FROM inputs WHERE key IN (
	SELECT key FROM inputs WHERE key >= ?1 AND key < ?2 AND time < ?3 LIMIT ?4)`

// PruneInputs deletes the inputs whose key begins with prefix and that were
// committed before the given time, and returns their number. A deleted input
// would be accepted as new, so the time must be older than anything that a
// platform can deliver again: Telegram keeps updates for 24 hours.
func (s *Store) PruneInputs(ctx context.Context, prefix string, before time.Time) (int, error) {
	if prefix == "" || prefix[len(prefix)-1] >= 0x7f {
		return 0, fail("prune inputs", fmt.Errorf("%q is no prefix of keys", prefix))
	}
	end := prefix[:len(prefix)-1] + string(prefix[len(prefix)-1]+1)
	all := 0
	for {
		var n int64
		err := s.write(ctx, func(ctx context.Context) (bool, error) {
			res, err := s.writer.ExecContext(ctx, pruneInputsQuery, prefix, end, formatTime(before), pruneBatch)
			if err != nil {
				return false, err
			}
			n, err = res.RowsAffected()
			return true, err
		})
		if err != nil {
			return all, fail("prune inputs", err)
		}
		if all += int(n); n < pruneBatch {
			return all, nil
		}
	}
}
