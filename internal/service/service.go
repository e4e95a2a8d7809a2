package service

import (
	"context"
	"errors"
	"sync"
)

// Service is a part of the program that runs beside its caller. The package
// comment defines both methods.
type Service interface {
	Start(ctx context.Context) error
	Stop()
}

// Errors of Start.
var (
	ErrStarted = errors.New("service: started before")
	ErrStopped = errors.New("service: stopped")
)

// Base implements Stop for a service that consists of loops. Embed it; the
// service's own Start calls Begin, then Go for each loop. The zero value is
// ready for use.
type Base struct {
	mu      sync.Mutex
	work    sync.WaitGroup
	run     context.Context
	cancel  context.CancelFunc
	started bool
	stopped bool
}

// Begin marks the service as started. It returns ErrStarted or ErrStopped if
// Start must not continue.
func (b *Base) Begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.stopped:
		return ErrStopped
	case b.started:
		return ErrStarted
	}
	b.started = true
	return nil
}

// Go runs f in a goroutine until Stop, which cancels f's context and waits for
// f. After Stop, Go does nothing.
func (b *Base) Go(f func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return
	}
	ctx := b.context()
	b.work.Go(func() { f(ctx) })
}

// Context returns a context that Stop cancels.
func (b *Base) Context() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.context()
}

func (b *Base) context() context.Context {
	if b.run == nil {
		b.run, b.cancel = context.WithCancel(context.Background())
	}
	return b.run
}

// Stop cancels the context of all loops and waits for them.
func (b *Base) Stop() {
	b.mu.Lock()
	b.stopped = true
	b.context()
	cancel := b.cancel
	b.mu.Unlock()
	cancel()
	b.work.Wait()
}

// Loop returns a service that runs f, which must return when its context ends.
func Loop(f func(ctx context.Context)) Service { return &loop{f: f} }

type loop struct {
	Base
	f func(ctx context.Context)
}

// Start runs the function.
func (l *loop) Start(context.Context) error {
	if err := l.Begin(); err != nil {
		return err
	}
	l.Go(l.f)
	return nil
}

// Group is a service that consists of other services. The zero value is empty
// and ready for use.
type Group struct {
	mu      sync.Mutex
	running []Service
	stopped bool
}

// Start starts a service and adds it to the group. On an error the service is
// not added, and the earlier ones keep running.
func (g *Group) Start(ctx context.Context, s Service) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return ErrStopped
	}
	if err := s.Start(ctx); err != nil {
		return err
	}
	g.running = append(g.running, s)
	return nil
}

// Defer makes Stop call f in its turn, as if f were the Stop of a service that
// started now.
func (g *Group) Defer(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = append(g.running, deferred(f))
}

type deferred func()

func (deferred) Start(context.Context) error { return nil }
func (f deferred) Stop()                     { f() }

// Stop stops all services in reverse order of their start, because a later one
// may use an earlier one.
func (g *Group) Stop() {
	g.mu.Lock()
	g.stopped = true
	running := g.running
	g.running = nil
	g.mu.Unlock()
	for n := len(running) - 1; n >= 0; n-- {
		running[n].Stop()
	}
}
