package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop/ledger"
)

// inbox holds the calls that wait for Run's goroutine, oldest first.
type inbox struct {
	arrived chan struct{} // buffers one signal: a call waits

	mu     sync.Mutex
	calls  []*call
	closed bool
}

// call is work for Run's goroutine, and its result once done is closed.
type call struct {
	do   func(ctx context.Context) (ledger.Answer, error)
	done chan struct{}

	answer ledger.Answer
	err    error
}

// put adds a call. It returns false after close.
func (b *inbox) put(c *call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.calls = append(b.calls, c)
	b.signal()
	return true
}

// take removes and returns the oldest call, and reports whether there was one.
func (b *inbox) take() (*call, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.calls) == 0 {
		return nil, false
	}
	c := b.calls[0]
	if b.calls = b.calls[1:]; len(b.calls) > 0 {
		b.signal()
	}
	return c, true
}

// withdraw removes a call whose caller has left, so that it is not carried
// out unless it was taken already.
func (b *inbox) withdraw(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = slices.DeleteFunc(b.calls, func(o *call) bool { return o == c })
}

// close refuses all calls that wait and those to come.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, c := range b.calls {
		c.err = ErrStopped
		close(c.done)
	}
	b.calls = nil
}

// signal tells the receiver that a call waits. The caller holds mu.
func (b *inbox) signal() {
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// send lets Run's goroutine carry out do, and returns its result.
func (e *Engine) send(ctx context.Context, do func(ctx context.Context) (ledger.Answer, error)) (ledger.Answer, error) {
	// Without this check the call of a cancelled caller could still be accepted.
	if err := ctx.Err(); err != nil {
		return ledger.Answer{}, err
	}
	c := &call{do: do, done: make(chan struct{})}
	if !e.calls.put(c) {
		return ledger.Answer{}, ErrStopped
	}
	if err := e.o.Scheduler.Wait(ctx, sched.Forever, c.done); err != nil {
		e.calls.withdraw(c)
		return ledger.Answer{}, ctx.Err()
	}
	return c.answer, c.err
}
