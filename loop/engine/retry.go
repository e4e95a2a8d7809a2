package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// failing is an effect that a fault of the machine keeps from being carried out.
type failing struct {
	engine  *Engine
	project string
	effect  ledger.PendingEffect

	since  time.Time    // of the first failure; zero before it
	logged ledger.Fault // the last one that the log has
}

// wait records a failure, and returns when the effect is to be tried again: after
// a pause, or as soon as a person sends a command. It returns false if ctx has
// ended, or if the effect is given up.
func (f *failing) wait(ctx context.Context, is ledger.Fault, err error) bool {
	e, p := f.engine, f.effect
	if f.since.IsZero() {
		f.since = e.o.Clock()
	}
	s, _ := e.State(f.project)
	if before, known := s.Project.FailingEffect(p.Kind, p.Key); known { // in an earlier process, or before the clock jumped
		f.since = before.Since
	}
	if f.logged != is {
		f.logged = is
		e.o.Log.Warn("effect fails, and is tried again until it succeeds", "project", f.project, "kind", p.Kind, "key", p.Key, "fault", is, "error", err)
	}
	again := e.again.next(f.project)
	// If this cannot be committed, the ledger itself is what fails, and Run tells
	// of that.
	_, _ = e.Do(ctx, loop.Input{Project: f.project, Actor: "daemon", Body: f.broken(is, err)})
	if f.givenUp() {
		return false
	}
	if e.o.Scheduler.Wait(ctx, f.pause(is, err), again) != nil {
		return false
	}
	return !f.givenUp()
}

// pause returns how long to wait before the next try. What only a person can mend
// waits for them, and a forge that names a time is not asked before it.
func (f *failing) pause(is ledger.Fault, err error) time.Duration {
	if is == ledger.FaultRefused {
		return sched.Forever
	}
	now := f.engine.o.Clock()
	pause := loop.RetryPause(f.since, now)
	if of, ok := errors.AsType[*ledger.ForgeError](err); ok && of.RetryAt.After(now.Add(pause)) {
		return min(of.RetryAt.Sub(now), longestLimit)
	}
	return pause
}

// longestLimit bounds the wait for a forge's rate limit: the time is the forge's
// word.
const longestLimit = 2 * time.Hour

// broken returns the input that reports a failure. What a person has to do in the
// repository is said without the steps that met it.
func (f *failing) broken(is ledger.Fault, err error) loop.EffectBroken {
	b := loop.EffectBroken{Kind: f.effect.Kind, Key: f.effect.Key, Text: err.Error(), Fault: is}
	if of, ok := errors.AsType[*ledger.RepositoryError](err); ok {
		b.Text, b.Remedy = of.Text, of.Remedy
	}
	if of, ok := errors.AsType[*ledger.ForgeError](err); ok {
		b.Text, b.Remedy = of.Text, of.Remedy
	}
	return b
}

// givenUp reports whether a person who stops the run at once does not wait for the
// effect. What the run does not wait for is tried on: the end of a session is part
// of such a stop.
func (f *failing) givenUp() bool {
	s, _ := f.engine.State(f.project)
	return loop.GivesUp(s) && ledger.RetryOf(f.effect.Kind) == ledger.RetryHolds
}

// tryAgain lets what fails be tried at once if the input is a person's: somebody
// looks at it, and may have mended it. So does the start of a run.
func (e *Engine) tryAgain(in loop.Input) {
	_, starts := in.Body.(loop.StartRun)
	if starts || in.Actor != "daemon" && in.Actor != "agent" {
		e.again.send(in.Project)
	}
}

// signals tells those who wait that something may have changed for a project. The
// zero value is ready for use.
type signals struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
}

// next returns a channel that the next send for the project closes.
func (s *signals) next(project string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = map[string]chan struct{}{}
	}
	if s.waiting[project] == nil {
		s.waiting[project] = make(chan struct{})
	}
	return s.waiting[project]
}

// send wakes all who wait for a project, or for any with "".
func (s *signals) send(project string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, c := range s.waiting {
		if project == "" || name == project {
			close(c)
			delete(s.waiting, name)
		}
	}
}
