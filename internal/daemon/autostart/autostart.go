package autostart

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Autostarter begins runs by themselves, as each project's `start` says, and
// takes up those that an earlier process left unfinished. Its methods can be
// called from any goroutine.
type Autostarter struct {
	service.Base
	o    Options
	wake chan struct{} // something below is to be looked at

	watches sync.WaitGroup

	mu       sync.Mutex
	plans    Schedules
	lastTick time.Time // when schedules were looked at last
	projects map[string]*projectState
}

// Options are what an Autostarter works with.
type Options struct {
	Engine   Engine
	Projects *project.Planner
	Sessions Sessions
	Changes  *service.Broadcast // rung after every committed entry
	Log      *slog.Logger
}

// Engine decides inputs and knows the state of all projects.
type Engine interface {
	Do(ctx context.Context, in loop.Input) (loop.Answer, error)
	State(project string) (loop.State, bool)
	Projects() []string
}

// Sessions ends sessions.
type Sessions interface {
	End(ctx context.Context, session string, grace ledger.Duration) error
}

// projectState is what the autostarter knows of one project.
type projectState struct {
	dirty   bool      // something happened since it was looked at
	retryAt time.Time // when time alone is a reason to look
	changed time.Time // when its source was last seen to change
	run     string    // state of the run when it was looked at
	source  string    // that is watched, "" for none
	unwatch context.CancelFunc
}

func (s *Autostarter) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// of returns what is known of a project. The caller holds mu.
func (s *Autostarter) projectState(name string) *projectState {
	x := s.projects[name]
	if x == nil {
		x = &projectState{dirty: true}
		s.projects[name] = x
	}
	return x
}

// follow takes the place of the watch before.
func (x *projectState) follow(cancel context.CancelFunc) {
	if x.unwatch != nil {
		x.unwatch()
	}
	x.unwatch = cancel
}

// start begins a run, or takes up the unfinished one.
func (s *Autostarter) start(ctx context.Context, name string, settings ledger.Settings) {
	answer, err := s.o.Engine.Do(ctx, loop.Input{
		Project: name, Actor: "daemon", Name: "schedule", Body: loop.StartRun{Settings: settings, MaxSessions: s.o.Projects.Config().Sessions()},
	})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.failed(name, err)
	case !answer.OK:
		s.failed(name, errors.New(answer.Text))
	default:
		s.o.Projects.Warn(name, project.AboutStart, "")
		s.o.Log.Info("run", "project", name, "run", answer.ID, "answer", answer.Code)
	}
}

// failed says, once, that a project could not be started by itself. It is tried
// again when its source changes, or when it is due the next time.
func (s *Autostarter) failed(name string, err error) {
	if s.o.Projects.Warn(name, project.AboutStart, "! "+name+" not started: "+project.OneLine(err)) {
		s.o.Log.Error("not started by itself", "project", name, "error", err)
		s.o.Changes.Ring()
	}
}

// local is a time in the people's zone.
func (s *Autostarter) local(t time.Time) time.Time { return t.In(s.o.Projects.Zone()) }
