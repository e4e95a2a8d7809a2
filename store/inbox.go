package store

import (
	"context"
	"fmt"
	"time"
)

// pruneBatch bounds how long other commits wait for a pruning.
const pruneBatch = 2000

// The keys of one prefix lie together: from it up to it with its last byte
// counted up.
const pruneInputsQuery = `DELETE FROM inputs WHERE key IN (
	SELECT key FROM inputs WHERE key >= ?1 AND key < ?2 AND time < ?3 LIMIT ?4)`

// PruneInputs forgets the inputs whose key has a prefix and that were committed
// before the given time, and returns how many. One of them would be taken for
// new if it came again, so the time has to lie before what a platform delivers
// again: Telegram keeps what nobody read for 24 h.
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
