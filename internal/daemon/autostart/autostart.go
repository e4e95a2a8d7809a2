package autostart

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// tolerance is how late a start by cron may be and still be one: a busy
// machine, or one that was asleep for a moment. A later one is missed, and
// said so; it is not made up, because by then it may be morning.
const tolerance = 10 * time.Minute

// lookAgain is when a project that could not be looked at is looked at again.
// It is less than the minute after which the clock wakes the autostarter.
const lookAgain = 30 * time.Second

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
	seen     time.Time // when schedules were looked at last
	projects map[string]*starting
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

// starting is what the autostarter knows of one project.
type starting struct {
	look    bool      // something happened since it was looked at
	again   time.Time // when time alone is a reason to look
	changed time.Time // when its source was last seen to change
	run     string    // state of the run when it was looked at
	source  string    // that is watched, "" for none
	unwatch context.CancelFunc
}

// New makes the autostarter of a daemon that was last there at off, zero for
// never: starts by cron that were due since are missed.
func New(o Options, plans Schedules, off time.Time) *Autostarter {
	s := &Autostarter{o: o, wake: make(chan struct{}, 1), projects: map[string]*starting{}, plans: plans, seen: off}
	now := time.Now()
	if !off.IsZero() {
		s.missed(now)
	}
	s.seen = now
	return s
}

// Start takes up what was left unfinished and looks from now on.
func (s *Autostarter) Start(context.Context) error {
	if err := s.Begin(); err != nil {
		return err
	}
	s.Go(s.run)
	return nil
}

func (s *Autostarter) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Use takes over the schedules of a reloaded configuration.
func (s *Autostarter) Use(plans Schedules) {
	s.mu.Lock()
	s.plans = plans
	for _, x := range s.projects {
		x.look, x.again = true, time.Time{}
	}
	s.mu.Unlock()
	s.nudge()
}

// Free gives the slots of projects that are not worked on to the others, and
// ends what these have in flight: nobody hears it, it costs money, and its
// supervisor sees a nightporter and would let it be. It counts as nothing, and
// is done again should the project come back.
func (s *Autostarter) Free(ctx context.Context) {
	_, err := s.o.Engine.Do(ctx, loop.Input{Actor: "daemon", Body: loop.WorksOn{Projects: s.o.Projects.Working()}})
	if err != nil && ctx.Err() == nil {
		s.o.Log.Error("slots of other projects", "error", err)
	}
	for _, name := range s.o.Engine.Projects() {
		if s.o.Projects.Works(name) {
			continue
		}
		st, _ := s.o.Engine.State(name)
		for _, x := range st.Project.Sessions {
			s.o.Log.Warn("session of a project that is not worked on is ended", "project", name, "session", x.ID)
			if err := s.o.Sessions.End(ctx, x.ID, 0); err != nil {
				s.o.Log.Error("session of a project that is not worked on", "session", x.ID, "error", err)
			}
		}
	}
}

// run works until ctx ends.
func (s *Autostarter) run(ctx context.Context) {
	s.Free(ctx)
	due, stop := service.Minutely()
	defer stop()
	defer func() {
		s.mu.Lock()
		for _, x := range s.projects {
			x.follow(nil)
		}
		s.mu.Unlock()
		s.watches.Wait()
	}()
	for {
		rung := s.o.Changes.Next()
		for _, name := range s.o.Projects.Working() {
			s.consider(ctx, name)
		}
		select {
		case <-ctx.Done():
			return
		case <-rung:
		case <-s.wake:
		case <-due:
			s.tick(ctx, time.Now())
		}
	}
}

// of returns what is known of a project. The caller holds mu.
func (s *Autostarter) of(name string) *starting {
	x := s.projects[name]
	if x == nil {
		x = &starting{look: true}
		s.projects[name] = x
	}
	return x
}

// consider takes up the project's unfinished run, or begins one if its start
// is "auto" and work is ready.
func (s *Autostarter) consider(ctx context.Context, name string) {
	st, _ := s.o.Engine.State(name)
	if r := st.Project.Run; !r.Over() {
		s.o.Projects.Warn(name, project.AboutStart, "") // however it was begun
	}
	s.adopt(ctx, name, st)

	pr, ok := s.o.Projects.Find(name)
	s.mu.Lock()
	x := s.of(name)
	if !ok || pr.Start != startAuto {
		x.follow(nil)
		x.source = ""
		s.mu.Unlock()
		return
	}
	now := time.Now()
	if run := phase(st); run != x.run {
		x.run, x.look = run, true
	}
	if !x.again.IsZero() && !now.Before(x.again) {
		x.look, x.again = true, time.Time{}
	}
	look, changed := x.look, x.changed
	x.look = false
	s.mu.Unlock()
	if !look || !st.Project.Run.Over() {
		return
	}
	settings, snapshot, err := s.read(ctx, name)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.failed(name, err)
		// A plan that is not there, or a repository, cannot be watched. Looking
		// again costs nothing.
		s.mu.Lock()
		x.again = now.Add(lookAgain)
		s.mu.Unlock()
		return
	}
	s.o.Projects.Warn(name, project.AboutStart, "") // what could not be read can be now
	decided := loop.Startable(st, settings, snapshot, now, changed)
	s.o.Log.Info("start by itself", "project", name, "start", decided.OK, "why", decided.Why, "ready", len(decided.Tasks))
	if decided.OK {
		s.start(ctx, name, settings)
		return
	}
	s.mu.Lock()
	x.again = decided.Again
	s.mu.Unlock()
}

// phase is as much of a project's state as can make "auto" start a run.
func phase(st loop.State) string {
	r := st.Project.Run
	if !r.Over() {
		return "at work"
	}
	text := ""
	if r != nil {
		text = r.ID
	}
	for _, t := range st.Project.Tasks.All() {
		text += " " + string(t.Status)
	}
	for _, q := range st.Project.Questions {
		if q.Kind == ledger.AskStart {
			text += " " + q.ID
		}
	}
	return text
}

// read resolves the project's settings and reads its source, and sees to it
// that the source is watched.
func (s *Autostarter) read(ctx context.Context, name string) (settings ledger.Settings, snapshot ledger.Snapshot, err error) {
	pr, _ := s.o.Projects.Find(name)
	settings, err = s.o.Projects.Resolve(name, config.Overrides{})
	if err != nil {
		return settings, snapshot, err
	}
	source, err := task.Open(settings.Source.Kind, settings.Source.Path, settings.Repo, task.Options{CommitStatus: settings.CommitStatus})
	if err != nil {
		return settings, snapshot, err
	}
	snapshot, err = source.Read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.of(name); pr.Start == startAuto && x.source != settings.Repo+"\n"+settings.Source.String() {
		x.source = settings.Repo + "\n" + settings.Source.String()
		wctx, cancel := context.WithCancel(ctx)
		x.follow(cancel)
		s.watches.Go(func() { s.watch(wctx, name, source.Watch) })
	}
	return settings, snapshot, err
}

// follow takes the place of the watch before.
func (x *starting) follow(cancel context.CancelFunc) {
	if x.unwatch != nil {
		x.unwatch()
	}
	x.unwatch = cancel
}

// watch looks at the project again whenever its source changes.
func (s *Autostarter) watch(ctx context.Context, name string, watch func(context.Context, func()) error) {
	err := watch(ctx, func() {
		s.mu.Lock()
		x := s.of(name)
		x.look, x.changed = true, time.Now()
		s.mu.Unlock()
		s.nudge()
	})
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("source is not watched", "project", name, "error", err)
		s.mu.Lock()
		s.of(name).source = "" // tried again when it is looked at next
		s.of(name).again = time.Now().Add(time.Minute)
		s.mu.Unlock()
	}
}

// adopt takes up a run that `run` left unfinished: with its own settings, but
// waiting for a person where `run` would have ended. One that a person paused
// stays paused: it is taken up once it goes on.
func (s *Autostarter) adopt(ctx context.Context, name string, st loop.State) {
	r := st.Project.Run
	if r.Over() || r.Settings.Stays || r.Finishing != nil || r.Check {
		return
	}
	cut := r.State == ledger.RunStopping && r.StopNow && r.Signal != ""
	if r.State != ledger.RunRunning && r.State != ledger.RunWaiting && !cut {
		return
	}
	settings := r.Settings
	settings.Stays = true
	s.o.Log.Info("unfinished run is taken up", "project", name, "run", r.ID)
	s.start(ctx, name, settings)
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

// tick starts what a cron expression wants now.
func (s *Autostarter) tick(ctx context.Context, now time.Time) {
	for _, name := range s.due(now) {
		st, _ := s.o.Engine.State(name)
		if r := st.Project.Run; !r.Over() {
			s.o.Log.Info("due by schedule, and under way already", "project", name, "run", r.ID)
			continue
		}
		settings, snapshot, err := s.read(ctx, name)
		if err != nil {
			s.failed(name, err)
			continue
		}
		ready := loop.ReadyTasks(st, settings, snapshot)
		if len(ready) == 0 { // an idle night costs nothing
			s.o.Projects.Warn(name, project.AboutStart, "")
			s.o.Log.Info("due by schedule, and nothing is ready", "project", name)
			continue
		}
		s.start(ctx, name, settings)
	}
}

// due lists the projects whose cron expression was due since the last look,
// and warns of those for which it is too late.
func (s *Autostarter) due(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.seen
	s.seen = now
	var names []string
	for _, name := range s.o.Projects.Working() {
		plan, ok := s.plans[name]
		if !ok {
			continue
		}
		at := lastDue(plan, s.local(since), s.local(now))
		switch {
		case at.IsZero():
		case now.Sub(at) > tolerance:
			s.miss(name, at, "the machine was asleep")
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// missed warns of starts that were due while no nightporter was there.
func (s *Autostarter) missed(now time.Time) {
	for name, plan := range s.plans {
		if at := lastDue(plan, s.local(s.seen), s.local(now)); !at.IsZero() {
			s.miss(name, at, "nightporter was off")
		}
	}
}

func (s *Autostarter) miss(name string, at time.Time, why string) {
	s.o.Projects.Warn(name, project.AboutStart, fmt.Sprintf("! start of %s missed: %s. Not made up: /run %s", at.Format("Mon 15:04"), why, name))
	s.o.Log.Warn("start by schedule missed", "project", name, "due", at, "why", why)
}

// local is a time in the people's zone.
func (s *Autostarter) local(t time.Time) time.Time { return t.In(s.o.Projects.Zone()) }

// Says is how the project starts, for people.
func (s *Autostarter) Says(name string) string {
	pr, _ := s.o.Projects.Find(name)
	s.mu.Lock()
	plan, ok := s.plans[name]
	s.mu.Unlock()
	switch {
	case ok:
		return "starts by itself, next " + next(plan, s.local(time.Now())).Format("Mon 15:04")
	case pr.Start == startAuto:
		return "starts by itself when work is ready"
	}
	return "starts by /run " + name
}
