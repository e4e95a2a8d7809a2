package service

import (
	"context"
	"time"
)

// Minutely returns a channel that receives at the start of every minute of the
// wall clock, until stop is called. A receiver compares the clock with its own
// schedule: the channel drops ticks while the receiver is busy. After the machine
// slept or the clock was set, the next tick comes within a minute. stop waits for
// the last tick.
func Minutely() (due <-chan struct{}, stop func()) {
	out := make(chan struct{}, 1)
	l := &loop{f: func(ctx context.Context) {
		for {
			now := time.Now()
			t := time.NewTimer(now.Truncate(time.Minute).Add(time.Minute).Sub(now.Round(0)))
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
				return
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}}
	_ = l.Start(context.Background()) // a new loop starts
	return out, l.Stop
}
