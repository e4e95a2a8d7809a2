// Package sched is the seam between code that waits and what passes its time.
//
// A Scheduler starts goroutines and waits. In the product it is Runtime: the Go
// runtime's goroutines and timers. The simulator's Scheduler (internal/sim) runs
// one goroutine at a time, chooses the next by a seed, and moves a clock of its
// own, so that one seed replays everything that happened.
//
// Code with a Scheduler must wait through it for anything that another goroutine
// of the same Scheduler does. A mutex is fine where no holder waits.
package sched

import (
	"context"
	"math"
	"time"
)

// Forever is the length of a wait that no time ends.
const Forever = time.Duration(math.MaxInt64)

// Scheduler starts goroutines and waits for them. Its methods are safe for
// concurrent use.
type Scheduler interface {
	// Now returns the time by which waits are measured. It never goes back, so it
	// is not the time of day.
	Now() time.Time
	// Go runs f in a goroutine.
	Go(f func())
	// Wait blocks until wake can be received from or d has passed, and returns
	// nil, or until ctx ends, and returns the cause. If several are true already,
	// any of them counts. A nil wake never wakes.
	Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) error
}

// Runtime is the Scheduler of the Go runtime.
var Runtime Scheduler = goRuntime{}

type goRuntime struct{}

func (goRuntime) Now() time.Time { return time.Now() }

func (goRuntime) Go(f func()) { go f() }

func (goRuntime) Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	var passed <-chan time.Time
	if d != Forever {
		t := time.NewTimer(d)
		defer t.Stop()
		passed = t.C
	}
	select {
	case <-passed:
		return nil
	case <-wake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
