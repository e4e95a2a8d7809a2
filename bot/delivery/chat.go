package delivery

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// never is the wait of a chat that only a signal wakes.
const never = time.Duration(math.MaxInt64)

// chat delivers to one address. Its goroutine exists only while there is work.
type chat struct {
	d        *Dispatcher
	address  string
	group    bool
	throttle *throttle
	wake     chan struct{} // buffers one signal

	// Guarded by Dispatcher.mu.
	running bool
	closed  bool // the platform refuses messages; ends when somebody writes in the chat
	live    map[string]*live

	// The fields below belong to the running goroutine, and then to the next
	// one.
	starting       bool // nothing was delivered since the start, so queued messages waited while no process ran
	outagesHandled int  // number of long outages this chat has announced
	droppedCount   int  // messages dropped in the outage that is not announced yet
	closedTold     bool // OnChatClosed was called, and no call succeeded in the chat since
	lastSound      time.Time
	doubts         map[int64]*doubt
	superseded     []string // ids of replaced live messages, to be deleted
	thinned        []string // ids of shared messages from which a receipt has moved out
	toPin          string   // id of the live message to pin, "" = none
}

// run makes all calls that are due and returns when none is left.
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
		_ = c.d.o.Scheduler.Wait(ctx, min(pause, 24*time.Hour), c.wake) // the next step sees the end of ctx
	}
}

func (c *chat) markStopped() {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.running = false
}

// tryStop ends the goroutine unless a signal arrived meanwhile.
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

// job is a call that is due. The zero job is none.
type job struct {
	do    func(ctx context.Context, s slot) error
	ahead bool // answers what a person just asked
}

// step makes one call, or returns how long to wait for the next.
func (c *chat) step(ctx context.Context) (time.Duration, error) {
	if c.isClosed() {
		return never, c.dropUndeliverable(ctx)
	}
	next, pause, err := c.nextJob(ctx)
	if next.do == nil || err != nil {
		return pause, err
	}
	s, err := c.slot(ctx, next.ahead)
	switch {
	case errors.Is(err, errOvertaken):
		return 0, nil
	case err != nil:
		return 0, err
	}
	defer s.release()
	if s.waited { // a more urgent message may have come, or this one may have changed
		if next, pause, err = c.nextJob(ctx); next.do == nil || err != nil {
			return pause, err
		}
	}
	return 0, next.do(ctx, s)
}

// nextJob returns the next call: queued messages first, then deletions and pins,
// then live messages, so that live messages never delay a reply. Without a call
// it returns how long to wait for one.
func (c *chat) nextJob(ctx context.Context) (job, time.Duration, error) {
	m, found, pause, err := c.nextQueued(ctx)
	if err != nil {
		return job{}, 0, err
	}
	if found {
		return job{func(ctx context.Context, s slot) error { return c.deliver(ctx, m, s) }, m.Ahead}, 0, nil
	}
	if len(c.superseded) > 0 {
		return job{do: c.deleteSuperseded}, 0, nil
	}
	if len(c.thinned) > 0 {
		return job{do: c.refreshShared}, 0, nil
	}
	if c.toPin != "" {
		return job{do: c.pin}, 0, nil
	}
	do, next, err := c.nextLiveEdit(ctx)
	return job{do: do}, min(pause, next), err
}

// overtaken reports whether an answer that goes ahead is queued, for a chat that
// waits with another message.
func (c *chat) overtaken(ctx context.Context) bool {
	m, found, err := c.d.o.Outbox.NextMessage(ctx, c.address)
	return err == nil && found && m.Ahead
}

func (c *chat) drop(ctx context.Context, m ledger.QueuedMessage, why string) error {
	delete(c.doubts, m.ID)
	return c.persist(ctx, "drop", func(ctx context.Context) error { return c.d.o.Outbox.Drop(ctx, m.ID, why) })
}

// persist stores an outcome in the outbox. It retries until it succeeds or the
// grace period ends, because losing a known outcome would send the message again.
func (c *chat) persist(ctx context.Context, op string, do func(context.Context) error) error {
	in, cancel := inGrace(ctx)
	defer cancel()
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		err := do(in)
		if err == nil || errors.Is(err, ledger.ErrReplaced) { // a newer text is queued, so the outcome is irrelevant
			return nil
		}
		c.d.o.Log.Error("the outcome of a call cannot be stored", "chat", c.address, "op", op, "err", err, "next", wait)
		if c.d.o.Scheduler.Wait(in, wait, nil) != nil {
			return err
		}
	}
}
