//go:build e2e

package main_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// killer kills and restarts the daemon repeatedly, and interrupts Telegram in
// between.
type killer struct {
	e    *nightFixture
	stop chan struct{}
	done chan struct{}

	mu    sync.Mutex
	kills int
	moved chan struct{} // closed and replaced at each kill
	err   error
}

// startKiller starts n kills, each some time after the previous start. The
// person and the sessions continue in between.
func (e *nightFixture) startKiller(random *rand.Rand, n int) *killer {
	c := &killer{e: e, stop: make(chan struct{}), done: make(chan struct{}), moved: make(chan struct{})}
	e.t.Cleanup(func() { _ = c.end() })
	go func() {
		defer close(c.done)
		for kill := range n {
			// A start takes a quarter of a second, so some kills hit it.
			wait := 100*time.Millisecond + time.Duration(random.Int64N(int64(3500*time.Millisecond)))
			select {
			case <-time.After(wait):
			case <-c.stop:
				return
			}
			switch kill {
			case n / 4:
				c.e.far.Disconnect()
			case n / 2:
				if err := c.e.far.Reconnect(); err != nil {
					c.fail(err)
					return
				}
			}
			if err := c.kill(); err != nil {
				c.fail(err)
				return
			}
		}
	}()
	return c
}

func (c *killer) kill() error {
	p := c.e.daemon
	select {
	case <-p.Done:
		return errors.New("nightporter up ended by itself:\n" + p.Out.String())
	default:
	}
	p.Kill()
	next, err := c.e.begin()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.e.daemon = next
	c.e.errs = append(c.e.errs, next.Out)
	c.kills++
	close(c.moved)
	c.moved = make(chan struct{})
	return nil
}

func (c *killer) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	close(c.moved)
	c.moved = make(chan struct{})
}

// waitFor waits for the n-th kill.
func (c *killer) waitFor(t *testing.T, n int) {
	t.Helper()
	for {
		c.mu.Lock()
		kills, moved, err := c.kills, c.moved, c.err
		c.mu.Unlock()
		switch {
		case err != nil:
			t.Fatal(err)
		case kills >= n:
			return
		}
		<-moved
	}
}

// end stops the kills. The daemon is then running.
func (c *killer) end() error {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	<-c.done
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
