package transport

import (
	"context"
	"time"
)

// Pauses after a failure.
const (
	MinBackoff   = time.Second
	MaxBackoff   = time.Minute
	TokenBackoff = 5 * time.Minute // a person has to replace a rejected token, so a short wait is pointless
)

// Backoff is a pause that doubles with each failure, from MinBackoff up to
// MaxBackoff. The zero value is ready to use. It is not safe for concurrent use.
type Backoff struct{ last time.Duration }

// Next returns the next pause, and doubles the one after it.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(2*b.last, MinBackoff), MaxBackoff)
	return b.last
}

// Reset starts over with MinBackoff, after a success.
func (b *Backoff) Reset() { b.last = 0 }

// Sleep waits for d, or returns ctx.Err() when ctx ends before.
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
