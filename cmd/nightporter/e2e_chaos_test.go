//go:build e2e

package main_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// chaos kills the daemon and starts it again, and takes Telegram away in the
// middle of it.
type chaos struct {
	e    *e2eFixture
	stop chan struct{}
	done chan struct{}

	mu    sync.Mutex
	kills int
	moved chan struct{} // closed and made anew at each kill
	err   error
}

// chaos begins: n kills, each some time after the start before it. The person
// and the sessions go on meanwhile.
func (e *e2eFixture) chaos(random *rand.Rand, n int) *chaos {
	c := &chaos{e: e, stop: make(chan struct{}), done: make(chan struct{}), moved: make(chan struct{})}
	e.t.Cleanup(func() { _ = c.end() })
	go func() {
		defer close(c.done)
		for kill := range n {
			// A start takes a quarter of a second: some die before they are through.
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

func (c *chaos) kill() error {
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

func (c *chaos) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	close(c.moved)
	c.moved = make(chan struct{})
}

// waitFor returns after so many kills.
func (c *chaos) waitFor(t *testing.T, n int) {
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

// end stops it; the daemon runs then.
func (c *chaos) end() error {
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
