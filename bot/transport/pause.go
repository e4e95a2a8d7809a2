package transport

import (
	"context"
	"time"
)

// Pauses after something went wrong.
const (
	Shortest   = time.Second
	Longest    = time.Minute
	TokenPause = 5 * time.Minute // a token that is refused is not accepted a second later
)

// Backoff is a pause that grows while nothing works.
type Backoff struct{ last time.Duration }

// Next is the pause to make now.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, Shortest), Longest)
	return b.last
}

// Reset is for when something worked.
func (b *Backoff) Reset() { b.last = 0 }

// Wait is a pause that a context ends.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
