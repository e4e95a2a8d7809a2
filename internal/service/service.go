package service

import (
	"context"
	"errors"
	"sync"
)

// Service is a part of the program that works beside its caller.
type Service interface {
	Start(ctx context.Context) error
	Stop()
}

// Errors of Start.
var (
	ErrStarted = errors.New("service: started before")
	ErrStopped = errors.New("service: stopped")
)

// Base is embedded by a service that consists of loops. The zero value is
// ready for use. The service's own Start calls Begin, and Go for each loop.
type Base struct {
	mu      sync.Mutex
	work    sync.WaitGroup
	run     context.Context
	cancel  context.CancelFunc
	started bool
	stopped bool
}

// Begin marks the service as started.
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

// Go runs f in a goroutine of the service; its context ends when the service
// is stopped. After Stop it does nothing.
func (b *Base) Go(f func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return
	}
	ctx := b.context()
	b.work.Go(func() { f(ctx) })
}

// Context ends when the service is stopped.
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

// Stop ends the context of all loops and waits for them.
func (b *Base) Stop() {
	b.mu.Lock()
	b.stopped = true
	b.context()
	cancel := b.cancel
	b.mu.Unlock()
	cancel()
	b.work.Wait()
}

// Loop makes a service of a function that works until its context ends.
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

// Group is a service that consists of others. Its zero value is empty and
// ready for use.
type Group struct {
	mu      sync.Mutex
	running []Service
	stopped bool
}

// Start starts one more service of the group. One that cannot be started is
// not of the group; those before it run on.
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

// Defer lets Stop call f in its turn, as if f were the Stop of a service that was
// started now.
func (g *Group) Defer(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = append(g.running, deferred(f))
}

type deferred func()

func (deferred) Start(context.Context) error { return nil }
func (f deferred) Stop()                     { f() }

// Stop stops all services, the one that was started last first: what was
// started later may use what was there before.
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
