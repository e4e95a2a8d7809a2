package engine

import (
	"slices"
	"sync"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// inbox holds the inputs that wait for Run's goroutine, oldest first.
type inbox struct {
	arrived chan struct{} // buffers one signal: an input waits

	mu     sync.Mutex
	calls  []*call
	closed bool
}

// call is one input sent to Run's goroutine, and its result once done is closed.
type call struct {
	in   loop.Input
	with With
	done chan struct{}

	answer ledger.Answer
	err    error
}

// put adds an input. It returns false after close.
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

// take removes and returns the oldest input, and reports whether there was one.
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

// withdraw removes an input whose caller has left, so that it is not decided
// unless it was taken already.
func (b *inbox) withdraw(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = slices.DeleteFunc(b.calls, func(o *call) bool { return o == c })
}

// close refuses all inputs that wait and those to come.
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

// signal tells the receiver that an input waits. The caller holds mu.
func (b *inbox) signal() {
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}
