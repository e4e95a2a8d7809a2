package transport

import (
	"context"
	"time"
)

// Pauses after something went wrong.
const (
	MinBackoff   = time.Second
	MaxBackoff   = time.Minute
	TokenBackoff = 5 * time.Minute // a token that is refused is not accepted a second later
)

// Backoff is a pause that grows while nothing works.
type Backoff struct{ last time.Duration }

// Next is the pause to make now.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, MinBackoff), MaxBackoff)
	return b.last
}

// Reset is for when something worked.
func (b *Backoff) Reset() { b.last = 0 }

// Sleep is a pause that a context ends.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
