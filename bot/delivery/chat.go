package delivery

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop"
)

// never is the wait of who only waits to be woken.
const never = time.Duration(math.MaxInt64)

// chat is one address with what its goroutine knows.
type chat struct {
	p       *Dispatcher
	address string
	group   bool
	pace    *pace
	wake    chan struct{} // holds one signal

	// Guarded by Post.mu.
	running bool
	closed  bool // takes nothing until somebody writes there
	live    map[string]*live

	// The goroutine's own, and its successor's.
	unsettled bool // nothing was delivered since the start: what is old now waited through it
	serial    int  // long outages that are dealt with
	leftOut   int  // messages that were dropped in the one that is not
	rang      time.Time
	doubts    map[int64]*doubt
	away      []string // ids of old live messages that are to be taken away
	above     string   // id of the live message that is to be pinned
}

// work does what there is to do and ends when that is nothing.
func (c *chat) work(ctx context.Context) {
	for wait := time.Second; ; {
		pause, err := c.step(ctx)
		switch {
		case ctx.Err() != nil:
			c.end()
			return
		case err != nil:
			c.p.o.Log.Error("an outgoing message waits", "chat", c.address, "err", err, "next", wait)
			pause, wait = wait, min(2*wait, time.Minute)
		default:
			wait = time.Second
		}
		if pause <= 0 {
			continue
		}
		if pause == never && c.rest() {
			return
		}
		t := time.NewTimer(min(pause, 24*time.Hour))
		select {
		case <-t.C:
		case <-c.wake:
		case <-ctx.Done():
		}
		t.Stop()
	}
}

func (c *chat) end() {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.running = false
}

// rest ends the goroutine, unless a signal came in meanwhile.
func (c *chat) rest() bool {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	select {
	case <-c.wake:
		c.wake <- struct{}{} // cannot block: signals are sent under mu
		return false
	default:
	}
	c.running = false
	return true
}

// job is one call that is due.
type job func(ctx context.Context, s slot) error

// step makes one call, or says how long there is none to make.
func (c *chat) step(ctx context.Context) (time.Duration, error) {
	if c.isClosed() {
		return never, c.tidy(ctx)
	}
	do, pause, err := c.choose(ctx)
	if do == nil || err != nil {
		return pause, err
	}
	s, err := c.slot(ctx)
	if err != nil {
		return 0, err
	}
	defer s.release()
	if s.waited { // something more urgent may have come, or this have changed
		if do, pause, err = c.choose(ctx); do == nil || err != nil {
			return pause, err
		}
	}
	return 0, do(ctx, s)
}

// choose finds the next call: what is queued, then what is to be taken away,
// then live messages, which so never keep a reply waiting. Without one it
// returns how long to wait for the next.
func (c *chat) choose(ctx context.Context) (job, time.Duration, error) {
	m, found, pause, err := c.pick(ctx)
	if err != nil {
		return nil, 0, err
	}
	if found {
		return func(ctx context.Context, s slot) error { return c.deliver(ctx, m, s) }, 0, nil
	}
	if len(c.away) > 0 {
		return c.takeAway, 0, nil
	}
	if c.above != "" {
		return c.pin, 0, nil
	}
	do, next, err := c.chooseLive(ctx)
	return do, min(pause, next), err
}

func (c *chat) drop(ctx context.Context, m loop.QueuedMessage, why string) error {
	delete(c.doubts, m.ID)
	return c.note(ctx, "drop", func(ctx context.Context) error { return c.p.o.Outbox.Drop(ctx, m.ID, why) })
}

// note makes the outbox take an outcome, which is known now and would be lost:
// it tries until it succeeds, or the time of grace is over.
func (c *chat) note(ctx context.Context, op string, do func(context.Context) error) error {
	in, cancel := inGrace(ctx)
	defer cancel()
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		err := do(in)
		if err == nil || errors.Is(err, loop.ErrReplaced) { // a newer text is queued: the outcome is of no use to anybody
			return nil
		}
		c.p.o.Log.Error("the outcome of a sending cannot be stored", "chat", c.address, "op", op, "err", err, "next", wait)
		if sleep.For(in, wait) != nil {
			return err
		}
	}
}
