package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// slowFolders is a work folder whose restore takes an hour. deaf makes it ignore
// its context, as code that cannot be cancelled does.
type slowFolders struct {
	engine.WorkFolders
	deaf bool

	mu        sync.Mutex
	cancelled int
}

func (f *slowFolders) Restore(ctx context.Context, use ledger.WorkUse) error {
	if f.deaf {
		time.Sleep(time.Hour)
		return nil
	}
	select {
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		f.cancelled++
		return ctx.Err()
	case <-time.After(time.Hour):
		return f.WorkFolders.Restore(ctx, use)
	}
}

// endingRunner keeps the contract of Runner.End: a session whose end was asked
// for before its start does not begin.
type endingRunner struct {
	engine.Runner

	mu    sync.Mutex
	ended map[string]bool
	began []string
}

func (r *endingRunner) End(_ context.Context, session string, _ ledger.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended[session] = true
	return nil
}

func (r *endingRunner) Start(ctx context.Context, l ledger.Launch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended[l.Session] || ctx.Err() != nil {
		return errors.New("asked to end before its start")
	}
	if l.Kind == ledger.KindAgent {
		r.began = append(r.began, l.Session)
	}
	return r.Runner.Start(ctx, l)
}

func (r *endingRunner) agents() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.began)
}

// TestCutInPreparation ends a run, or pauses it, while its first agent session is
// being prepared: the agent never starts, whether the preparation can be
// cancelled or not, and also where the engine restarts before or after it was
// told.
func TestCutInPreparation(t *testing.T) {
	for _, c := range []struct {
		name          string
		deaf          bool
		restart       string // "", before or after the cut
		body          loop.InputBody
		wait          time.Duration // until the cut is over
		state         ledger.RunState
		answerer      bool // the cut comes while no engine works
		wantCancelled bool
	}{
		{name: "stop", body: loop.Stop{Now: true}, state: ledger.RunOver, wantCancelled: true},
		{name: "signal", body: loop.Stop{Now: true, Signal: "SIGTERM"}, state: ledger.RunStopping, wantCancelled: true},
		{name: "pause", body: loop.Pause{Now: true}, state: ledger.RunPaused, wantCancelled: true},
		{name: "deaf", deaf: true, body: loop.Stop{Now: true}, wait: time.Hour, state: ledger.RunOver},
		{name: "restarted before", restart: "before", body: loop.Stop{Now: true}, state: ledger.RunOver, wantCancelled: true},
		{name: "restarted after", restart: "after", body: loop.Stop{Now: true}, state: ledger.RunOver},
		{name: "while nobody works", restart: "after", answerer: true, body: loop.Stop{Now: true}, state: ledger.RunOver},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, succeeded)
				folders := &slowFolders{deaf: c.deaf}
				runner := &endingRunner{Runner: f.ports, ended: map[string]bool{}}
				f.wrap = func(p engine.Ports) engine.Ports {
					folders.WorkFolders = p.Place.Folders
					p.Place.Folders, p.Place.Runner = folders, runner
					return p
				}
				f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
				synctest.Wait()
				if s := f.state(); len(s.Project.Sessions) != 1 || s.Project.Sessions[0].Planned.Kind != ledger.KindAgent {
					t.Fatalf("no agent session is being prepared: %+v", s.Project.Sessions)
				}
				if c.restart == "before" {
					f.restart()
					synctest.Wait()
				}
				if c.answerer {
					f.stop()
					f.open(false)
				}
				folders.cancelled = 0
				if a := f.do(c.body, "cut"); !a.OK {
					t.Fatal(a.Text)
				}
				runner.mu.Lock()
				if told := runner.ended["r1-1"]; c.answerer && !told {
					t.Error("the session was not told to end while nobody works")
				}
				runner.mu.Unlock()
				if c.restart == "after" {
					f.restart()
				}
				synctest.Wait()
				time.Sleep(c.wait)
				synctest.Wait()
				if c.wantCancelled && folders.cancelled == 0 {
					t.Error("the preparation was not cancelled")
				}
				if n := runner.agents(); n != 0 {
					t.Errorf("%d agents began", n)
				}
				s := f.state()
				if s.Project.Run.State != c.state || len(s.Project.Sessions) > 0 || len(s.Shared.Leases) > 0 {
					t.Errorf("the run is %s with %d sessions and %d leases", s.Project.Run.State, len(s.Project.Sessions), len(s.Shared.Leases))
				}
				if pending, err := f.ledger.Pending(t.Context()); err != nil || len(pending) > 0 {
					t.Errorf("effects left: %v %v", pending, err)
				}
			})
		})
	}
}

// TestCutBeforeEnd cuts a session in the instant between the last look at the
// state and its start: the engine has told the runner by then, and the runner
// keeps the session from beginning.
func TestCutBeforeEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		runner := &endingRunner{Runner: f.ports, ended: map[string]bool{}}
		cut := &cuttingSockets{f: f}
		f.wrap = func(p engine.Ports) engine.Ports {
			cut.SessionSockets = p.Place.Sockets
			p.Place.Runner, p.Place.Sockets = runner, cut
			return p
		}
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if n := runner.agents(); n != 0 || !f.state().Project.Run.Over() {
			t.Errorf("%d agents began, run %s", n, f.state().Project.Run.State)
		}
	})
}

// cuttingSockets stops the run while the last part of a session's launch is being
// collected.
type cuttingSockets struct {
	engine.SessionSockets
	f *fixture
}

func (s *cuttingSockets) Token(session string) string {
	s.f.do(loop.Stop{Now: true}, "cut")
	return s.SessionSockets.Token(session)
}
