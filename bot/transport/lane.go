package transport

import "sync"

// Lane carries out what may take long beside its caller, one after the other in the order
// in which it came. The zero Lane is empty.
type Lane struct {
	mu    sync.Mutex
	queue []func()
	wg    sync.WaitGroup
}

// Go adds do to the lane.
func (l *Lane) Go(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, do)
	if len(l.queue) == 1 {
		l.wg.Go(l.run)
	}
}

func (l *Lane) run() {
	for {
		l.mu.Lock()
		do := l.queue[0]
		l.mu.Unlock()
		do()
		l.mu.Lock()
		l.queue = l.queue[1:]
		left := len(l.queue)
		l.mu.Unlock()
		if left == 0 {
			return
		}
	}
}

// Busy reports whether anything in the lane is not done yet.
func (l *Lane) Busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0
}

// Wait waits until the lane is empty.
func (l *Lane) Wait() { l.wg.Wait() }
