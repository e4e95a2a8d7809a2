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

// Autostarter starts runs as each project's `start` setting says, and resumes
// runs that an earlier process left unfinished. Create it with New. All methods
// are safe for concurrent use.
type Autostarter struct {
	service.Base
	o    Options
	wake chan struct{} // capacity 1; a signal makes run consider all projects

	watches sync.WaitGroup

	mu       sync.Mutex
	plans    Schedules
	lastTick time.Time // when schedules were checked last
	met      map[string]metDue
	projects map[string]*projectState
}

// Options are the dependencies of an Autostarter. All fields are required.
type Options struct {
	Engine   Engine
	Projects *project.Planner
	Sessions Sessions
	Changes  *service.Broadcast // signalled after every committed entry
	Log      *slog.Logger
}

// Engine decides inputs and returns the state of every project.
type Engine interface {
	Do(ctx context.Context, in loop.Input) (ledger.Answer, error)
	State(project string) (loop.State, bool)
	Projects() []string
}

// Sessions ends sessions.
type Sessions interface {
	End(ctx context.Context, session string, grace ledger.Duration) error
}

// metDue is the last start by cron that was due in time, and when that was.
type metDue struct{ due, at time.Time }

// projectState is the autostarter's knowledge of one project.
type projectState struct {
	reading bool      // its source is being read
	dirty   bool      // something changed since it was considered
	retryAt time.Time // when to consider it without a change; zero = never
	changed time.Time // when its source, or what a start needs, last changed
	needs   string    // what a start needs, as it was last seen; "" = not yet
	looking bool      // what a start needs is being looked at
	run     string    // phase of the project when it was last considered
	source  string    // watched source, "" for none
	unwatch context.CancelFunc
}

// nudge makes run consider all projects, without waiting for it.
func (s *Autostarter) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// projectState returns the entry of a project and creates a missing one. The
// caller holds mu.
func (s *Autostarter) projectState(name string) *projectState {
	x := s.projects[name]
	if x == nil {
		x = &projectState{dirty: true}
		s.projects[name] = x
	}
	return x
}

// follow ends the previous watch and remembers how to end the new one; nil =
// none.
func (x *projectState) follow(cancel context.CancelFunc) {
	if x.unwatch != nil {
		x.unwatch()
	}
	x.unwatch = cancel
}

// start starts a run, or continues the project's unfinished run.
func (s *Autostarter) start(ctx context.Context, name string, settings ledger.Settings) {
	answer, err := s.o.Engine.Do(ctx, loop.Input{
		Project: name, Actor: "daemon", Name: "schedule", Body: loop.StartRun{Settings: settings, MaxSessions: s.o.Projects.Config().Sessions(settings), Day: s.o.Projects.Config().Budget.Day()},
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

// failed warns once that a project could not be started. The next attempt
// follows the next change of its source, or the next due time.
func (s *Autostarter) failed(name string, err error) {
	if o, _ := s.o.Projects.Obstacle(name); o.Why != "" {
		return // the project's own warning says so
	}
	if s.o.Projects.Warn(name, project.AboutStart, "! "+name+" not started: "+project.OneLine(err)) {
		s.o.Log.Error("not started by itself", "project", name, "error", err)
		s.o.Changes.Ring()
	}
}

// local returns t in the configured time zone.
func (s *Autostarter) local(t time.Time) time.Time { return t.In(s.o.Projects.Zone()) }
