package main

import "sync"

// broadcast wakes whoever waits for something to happen, all of them at once. The
// zero value is ready for use; ringing never blocks.
type broadcast struct {
	mu   sync.Mutex
	rung chan struct{}
}

// next returns a channel that is closed at the next ring. Who takes it before
// looking misses nothing.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

func (b *broadcast) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}
