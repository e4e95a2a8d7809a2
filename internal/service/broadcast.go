package service

import "sync"

// Broadcast wakes everybody who waits for something to happen. The zero value
// is ready for use; Ring never blocks.
type Broadcast struct {
	mu   sync.Mutex
	rung chan struct{}
}

// Next returns a channel that is closed at the next Ring. A caller that takes
// it before it looks misses nothing.
func (b *Broadcast) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

// Ring wakes those who wait.
func (b *Broadcast) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}
