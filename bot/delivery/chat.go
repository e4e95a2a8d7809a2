package delivery

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nightporter/nightporter/loop"
)

// never is the wait of who only waits to be woken.
const never = time.Duration(math.MaxInt64)

// chatFor is one address with what its goroutine knows.
type chat struct {
	d        *Dispatcher
	address  string
	group    bool
	throttle *throttle
	wake     chan struct{} // holds one signal

	// Guarded by Post.mu.
	running bool
	closed  bool // takes nothing until somebody writes there
	live    map[string]*live

	// The goroutine's own, and its successor's.
	starting       bool // nothing was delivered since the start: what is old now waited through it
	outagesHandled int  // long outages that are dealt with
	droppedCount   int  // countMessages that were dropped in the one that is not
	lastSound      time.Time
	doubts         map[int64]*doubt
	superseded     []string // ids of old live messages that are to be taken away
	toPin          string   // id of the live message that is to be pinned
}

// run does what there is to do and ends when that is nothing.
func (c *chat) run(ctx context.Context) {
	for wait := time.Second; ; {
		pause, err := c.step(ctx)
		switch {
		case ctx.Err() != nil:
			c.markStopped()
			return
		case err != nil:
			c.d.o.Log.Error("an outgoing message waits", "chat", c.address, "err", err, "next", wait)
			pause, wait = wait, min(2*wait, time.Minute)
		default:
			wait = time.Second
		}
		if pause <= 0 {
			continue
		}
		if pause == never && c.tryStop() {
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

func (c *chat) markStopped() {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.running = false
}

// tryStop ends the goroutine, unless a signal came in meanwhile.
func (c *chat) tryStop() bool {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
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
		return never, c.dropUndeliverable(ctx)
	}
	do, pause, err := c.nextJob(ctx)
	if do == nil || err != nil {
		return pause, err
	}
	s, err := c.slot(ctx)
	if err != nil {
		return 0, err
	}
	defer s.release()
	if s.waited { // something more urgent may have come, or this have changed
		if do, pause, err = c.nextJob(ctx); do == nil || err != nil {
			return pause, err
		}
	}
	return 0, do(ctx, s)
}

// nextJob finds the next call: what is queued, then what is to be taken away,
// then live messages, which so never keep a reply waiting. Without one it
// returns how long to wait for the next.
func (c *chat) nextJob(ctx context.Context) (job, time.Duration, error) {
	m, found, pause, err := c.nextQueued(ctx)
	if err != nil {
		return nil, 0, err
	}
	if found {
		return func(ctx context.Context, s slot) error { return c.deliver(ctx, m, s) }, 0, nil
	}
	if len(c.superseded) > 0 {
		return c.deleteSuperseded, 0, nil
	}
	if c.toPin != "" {
		return c.pin, 0, nil
	}
	do, next, err := c.nextLiveEdit(ctx)
	return do, min(pause, next), err
}

func (c *chat) drop(ctx context.Context, m loop.QueuedMessage, why string) error {
	delete(c.doubts, m.ID)
	return c.persist(ctx, "drop", func(ctx context.Context) error { return c.d.o.Outbox.Drop(ctx, m.ID, why) })
}

// persist makes the outbox take an outcome, which is known now and would be lost:
// it tries until it succeeds, or the time of grace is over.
func (c *chat) persist(ctx context.Context, op string, do func(context.Context) error) error {
	in, cancel := inGrace(ctx)
	defer cancel()
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		err := do(in)
		if err == nil || errors.Is(err, loop.ErrReplaced) { // a newer text is queued: the outcome is of no use to anybody
			return nil
		}
		c.d.o.Log.Error("the outcome of a sending cannot be stored", "chat", c.address, "op", op, "err", err, "next", wait)
		if sleep(in, wait) != nil {
			return err
		}
	}
}
