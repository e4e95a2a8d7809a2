package main

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
)

// scheduler runs the goroutines of a night as coroutines, one at a time. Between
// two waits a coroutine runs alone. Which of those that can go on is next is drawn
// from the night's random numbers; when none can, the clock moves to the next time
// that one waits for. So the seed decides the whole order of a night.
type scheduler struct {
	rnd   *rand.Rand
	now   time.Time
	procs []*proc // alive, in the order of their start
	ready []*proc // kept between steps
	spare []*proc // whose function has returned: their stacks have grown already
	cur   *proc   // the one that runs
	steps int
	still int    // steps since the clock moved
	idle  func() // called before the clock moves
}

// proc is one coroutine.
type proc struct {
	life   *life
	do     func()
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	stop   func()
	done   bool

	// What it waits for.
	ctx   context.Context
	until time.Time // zero: no time
	wake  <-chan struct{}
	woken bool
}

// life is one process of the simulated machine: its coroutines end with it. The
// world has one that never ends. It is the sched.Scheduler of its coroutines.
type life struct {
	s    *scheduler
	dead bool
}

// killed is what a coroutine panics with when its process was killed.
type killed struct{}

func newScheduler(rnd *rand.Rand) *scheduler {
	return &scheduler{rnd: rnd, now: time.Unix(0, 0).UTC()}
}

// Now returns the time since the night began, as a time.
func (l *life) Now() time.Time { return l.s.now }

// Go starts a coroutine, which first runs at a later step.
func (l *life) Go(f func()) {
	p := l.s.proc()
	p.life, p.do, p.done, p.until = l, f, false, l.s.now
	p.ctx, p.wake, p.woken = nil, nil, false
	l.s.procs = append(l.s.procs, p)
}

// proc returns a coroutine that does nothing yet: one that has done its work, or a
// new one.
func (s *scheduler) proc() *proc {
	if n := len(s.spare); n > 0 {
		p := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return p
	}
	p := &proc{}
	p.resume, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		for more := true; more; more = yield(struct{}{}) {
			p.once()
		}
	})
	return p
}

// once runs the coroutine's function to its end, or to that of its process.
func (p *proc) once() {
	defer func() {
		p.done, p.do = true, nil
		if fault := recover(); fault != nil {
			if _, is := fault.(killed); !is {
				panic(fault)
			}
		}
	}()
	if !p.life.dead {
		p.do()
	}
}

// Wait is sched.Scheduler's. In a process that was killed it does not return.
func (l *life) Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	p := l.s.cur
	p.ctx, p.wake, p.woken, p.until = ctx, wake, false, time.Time{}
	if d != sched.Forever {
		p.until = l.s.now.Add(max(d, 0))
	}
	l.check()
	p.yield(struct{}{})
	l.check()
	if !p.woken && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// check ends the coroutine that runs if its process was killed.
func (l *life) check() {
	if l.dead {
		panic(killed{})
	}
}

// sleep waits for d.
func (l *life) sleep(d time.Duration) { _ = l.Wait(context.Background(), d, nil) }

// canRun reports whether what the coroutine waits for has come.
func (p *proc) canRun(now time.Time) bool {
	if p.woken {
		return true
	}
	if p.wake != nil {
		select {
		case <-p.wake:
			p.woken = true
			return true
		default:
		}
	}
	if !p.until.IsZero() && !now.Before(p.until) {
		return true
	}
	return p.ctx != nil && p.ctx.Err() != nil
}

// step runs one coroutine up to its next wait. If none can run, it first moves the
// clock. It returns false if none ever will.
func (s *scheduler) step() bool {
	s.steps++
	s.still++
	s.bury()
	ready := s.runnable()
	if len(ready) == 0 {
		var next time.Time
		for _, p := range s.procs {
			if !p.until.IsZero() && (next.IsZero() || p.until.Before(next)) {
				next = p.until
			}
		}
		if next.IsZero() {
			return false
		}
		if s.idle != nil {
			s.idle()
		}
		s.now, s.still = next, 0
		ready = s.runnable()
	}
	p := ready[0]
	if len(ready) > 1 {
		p = ready[s.rnd.IntN(len(ready))]
	}
	s.run(p)
	return true
}

func (s *scheduler) runnable() []*proc {
	s.ready = s.ready[:0]
	for _, p := range s.procs {
		if p.canRun(s.now) {
			s.ready = append(s.ready, p)
		}
	}
	return s.ready
}

func (s *scheduler) run(p *proc) {
	s.cur = p
	p.resume()
	s.cur = nil
	if p.done {
		s.procs = slices.DeleteFunc(s.procs, func(o *proc) bool { return o == p })
		s.spare = append(s.spare, p)
	}
}

// bury ends the coroutines of processes that were killed, where they wait.
func (s *scheduler) bury() {
	for at := 0; at < len(s.procs); {
		p := s.procs[at]
		if !p.life.dead {
			at++
			continue
		}
		for !p.done { // a deferred call of the product may wait once more
			s.cur = p
			p.resume()
		}
		s.cur, s.procs = nil, slices.Delete(s.procs, at, at+1)
		s.spare = append(s.spare, p)
	}
}

// end ends all coroutines, so that none is left when the night is over.
func (s *scheduler) end() {
	for _, p := range s.procs {
		p.life.dead = true
	}
	s.bury()
	for _, p := range s.spare {
		p.stop()
	}
}
