package service

import "sync"

// Broadcast wakes all goroutines that wait for an event. The zero value is
// ready for use; Ring never blocks.
type Broadcast struct {
	mu   sync.Mutex
	rung chan struct{}
}

// Next returns a channel that the next Ring closes. Call it before you read the
// state that you wait for: then no change is missed.
func (b *Broadcast) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

// Ring wakes all waiting goroutines.
func (b *Broadcast) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}
