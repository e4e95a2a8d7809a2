package engine

import "sync"

// counter counts operations under way. The zero value is ready for use.
type counter struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n returns to 0
}

func (t *counter) add() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n++; t.n == 1 {
		t.zero = make(chan struct{})
	}
}

func (t *counter) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 {
		close(t.zero)
	}
}

func (t *counter) idle() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	return t.zero
}
