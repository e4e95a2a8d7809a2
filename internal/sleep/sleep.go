// Package sleep waits for a time that a context can end.
package sleep

import (
	"context"
	"time"
)

// For waits for d, or returns the cause of ctx's end, whichever comes first.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
