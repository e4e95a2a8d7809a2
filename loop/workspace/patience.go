package workspace

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// How long git may take in the user's repository before it counts as hanging: on a
// mount that does not answer, or a pipe in the place of a file. Without a bound, what
// waits for it would wait when that is long over.
const (
	readPatience    = 20 * time.Second // to find the repository and its HEAD
	publishPatience = time.Minute      // to take a task's commit
	mostPatience    = time.Hour
)

// inTime calls use with a context that ends when git has not answered within limit.
// use then has failed for a fault of the repository, and the next call gets twice the
// time: a slow disk is no fault.
func (w *Workspace) inTime(ctx context.Context, limit time.Duration, use func(ctx context.Context) error) error {
	slow := w.slow.Load()
	limit = min(limit<<slow, mostPatience)
	began := time.Now()
	within, cancel := context.WithTimeoutCause(ctx, limit, &ledger.RepositoryError{
		Text:   "git does not answer in " + w.o.Repo,
		Remedy: "look for a mount that hangs there, or a pipe in the place of a file",
	})
	defer cancel()
	err := use(within)
	switch {
	case err != nil && within.Err() != nil && ctx.Err() == nil:
		if limit < mostPatience {
			w.slow.CompareAndSwap(slow, slow+1)
		}
		return context.Cause(within)
	case err == nil && slow > 0 && time.Since(began) < limit>>slow:
		w.slow.CompareAndSwap(slow, 0)
	}
	return err
}
