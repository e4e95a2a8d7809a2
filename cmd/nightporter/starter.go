package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/task"
)

// tolerance is how late a start by cron may be and still be one: a busy
// machine, or one that was asleep for a moment. A later one is missed, and
// said so; it is not made up, because by then it may be morning.
const tolerance = 10 * time.Minute

// lookAgain is when a project that could not be looked at is looked at again.
// It is less than the minute after which the clock wakes the starter.
const lookAgain = 30 * time.Second

// autostarter begins runs by themselves, as each project's `start` says (SPEC 16),
// and takes up those that an earlier process left unfinished.
type autostarter struct {
	porter *porter
	wake   chan struct{} // something below is to be looked at

	watches sync.WaitGroup

	mu       sync.Mutex
	plans    schedules
	seen     time.Time // when schedules were looked at last
	projects map[string]*starting
}

// starting is what the starter knows of one project.
type starting struct {
	look    bool      // something happened since it was looked at
	again   time.Time // when time alone is a reason to look
	changed time.Time // when its source was last seen to change
	run     string    // state of the run when it was looked at
	source  string    // that is watched, "" for none
	unwatch context.CancelFunc
}

// newStarter makes the starter of a daemon that was last there at off, zero
// for never: starts by cron that were due since are missed.
func newStarter(p *porter, plans schedules, off time.Time) *autostarter {
	s := &autostarter{porter: p, wake: make(chan struct{}, 1), projects: map[string]*starting{}, plans: plans, seen: s0(off, time.Now())}
	s.missed(time.Now())
	s.seen = time.Now()
	return s
}

// s0 is off, or now where nothing can have been missed.
func s0(off, now time.Time) time.Time {
	if off.IsZero() {
		return now
	}
	return off
}

func (s *autostarter) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// use takes over the schedules of a reloaded configuration.
func (s *autostarter) use(plans schedules) {
	s.mu.Lock()
	s.plans = plans
	for _, x := range s.projects {
		x.look, x.again = true, time.Time{}
	}
	s.mu.Unlock()
	s.nudge()
}

// free gives the slots of projects that are not worked on to the others, and
// ends what these have in flight: nobody hears it, it costs money, and its
// supervisor sees a nightporter and would let it be. It counts as nothing, and
// is done again should the project come back.
func (s *autostarter) free(ctx context.Context) {
	p := s.porter
	_, err := p.do(ctx, loop.Input{Actor: "daemon", Body: loop.WorksOn{Projects: *p.working.Load()}})
	if err != nil && ctx.Err() == nil {
		p.log.Error("slots of other projects", "error", err)
	}
	for _, name := range p.engine.Projects() {
		if p.worksOn(name) {
			continue
		}
		st, _ := p.engine.State(name)
		for _, x := range st.Project.Sessions {
			p.log.Warn("session of a project that is not worked on is ended", "project", name, "session", x.ID)
			if err := p.runner.End(ctx, x.ID, 0); err != nil {
				p.log.Error("session of a project that is not worked on", "session", x.ID, "error", err)
			}
		}
	}
}

// run works until ctx ends.
func (s *autostarter) run(ctx context.Context) {
	s.free(ctx)
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
		rung := s.porter.changes.Next()
		for _, name := range *s.porter.working.Load() {
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
func (s *autostarter) of(name string) *starting {
	x := s.projects[name]
	if x == nil {
		x = &starting{look: true}
		s.projects[name] = x
	}
	return x
}

// consider takes up the project's unfinished run, or begins one if its start
// is "auto" and work is ready.
func (s *autostarter) consider(ctx context.Context, name string) {
	p := s.porter
	st, _ := p.engine.State(name)
	if r := st.Project.Run; !r.Over() {
		p.remarks.set(name, remarkStart, "") // however it was begun
	}
	s.adopt(ctx, name, st)

	pr, ok := p.configured(name)
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
	p.remarks.set(name, remarkStart, "") // what could not be read can be now
	decided := loop.Startable(st, settings, snapshot, now, changed)
	p.log.Info("start by itself", "project", name, "start", decided.OK, "why", decided.Why, "ready", len(decided.Tasks))
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
	for _, t := range st.Project.Tasks {
		text += " " + string(t.Status)
	}
	for _, q := range st.Project.Questions {
		if q.Kind == loop.AskStart {
			text += " " + q.ID
		}
	}
	return text
}

// read resolves the project's settings and reads its source, and sees to it
// that the source is watched.
func (s *autostarter) read(ctx context.Context, name string) (settings loop.Settings, snapshot loop.Snapshot, err error) {
	pr, _ := s.porter.configured(name)
	settings, err = s.porter.resolve(name, config.Overrides{})
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
func (s *autostarter) watch(ctx context.Context, name string, watch func(context.Context, func()) error) {
	err := watch(ctx, func() {
		s.mu.Lock()
		x := s.of(name)
		x.look, x.changed = true, time.Now()
		s.mu.Unlock()
		s.nudge()
	})
	if err != nil && ctx.Err() == nil {
		s.porter.log.Warn("source is not watched", "project", name, "error", err)
		s.mu.Lock()
		s.of(name).source = "" // tried again when it is looked at next
		s.of(name).again = time.Now().Add(time.Minute)
		s.mu.Unlock()
	}
}

// adopt takes up a run that `run` left unfinished: with its own settings, but
// waiting for a person where `run` would have ended. One that a person paused
// stays paused (SPEC 6.3): it is taken up once it goes on.
func (s *autostarter) adopt(ctx context.Context, name string, st loop.State) {
	r := st.Project.Run
	if r.Over() || r.Settings.Stays || r.Finishing != nil || r.Check {
		return
	}
	cut := r.State == loop.RunStopping && r.StopNow && r.Signal != ""
	if r.State != loop.RunRunning && r.State != loop.RunWaiting && !cut {
		return
	}
	settings := r.Settings
	settings.Stays = true
	s.porter.log.Info("unfinished run is taken up", "project", name, "run", r.ID)
	s.start(ctx, name, settings)
}

// start begins a run, or takes up the unfinished one.
func (s *autostarter) start(ctx context.Context, name string, settings loop.Settings) {
	answer, err := s.porter.do(ctx, loop.Input{
		Project: name, Actor: "daemon", Name: "schedule", Body: loop.StartRun{Settings: settings, MaxSessions: s.porter.config().Sessions()},
	})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.failed(name, err)
	case !answer.OK:
		s.failed(name, errors.New(answer.Text))
	default:
		s.porter.remarks.set(name, remarkStart, "")
		s.porter.log.Info("run", "project", name, "run", answer.ID, "answer", answer.Code)
	}
}

// failed says, once, that a project could not be started by itself. It is tried
// again when its source changes, or when it is due the next time.
func (s *autostarter) failed(name string, err error) {
	if s.porter.remarks.set(name, remarkStart, "! "+name+" not started: "+oneLine(err)) {
		s.porter.log.Error("not started by itself", "project", name, "error", err)
		s.porter.changes.Ring()
	}
}

// tick starts what a cron expression wants now.
func (s *autostarter) tick(ctx context.Context, now time.Time) {
	for _, name := range s.due(now) {
		st, _ := s.porter.engine.State(name)
		if r := st.Project.Run; !r.Over() {
			s.porter.log.Info("due by schedule, and under way already", "project", name, "run", r.ID)
			continue
		}
		settings, snapshot, err := s.read(ctx, name)
		if err != nil {
			s.failed(name, err)
			continue
		}
		ready := loop.ReadyTasks(st, settings, snapshot)
		if len(ready) == 0 { // an idle night costs nothing
			s.porter.remarks.set(name, remarkStart, "")
			s.porter.log.Info("due by schedule, and nothing is ready", "project", name)
			continue
		}
		s.start(ctx, name, settings)
	}
}

// due lists the projects whose cron expression was due since the last look,
// and remarks on those for which it is too late.
func (s *autostarter) due(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.seen
	s.seen = now
	var names []string
	for _, name := range *s.porter.working.Load() {
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

// missed remarks on starts that were due while no nightporter was there.
func (s *autostarter) missed(now time.Time) {
	for name, plan := range s.plans {
		if at := lastDue(plan, s.local(s.seen), s.local(now)); !at.IsZero() {
			s.miss(name, at, "nightporter was off")
		}
	}
}

func (s *autostarter) miss(name string, at time.Time, why string) {
	s.porter.remarks.set(name, remarkStart, fmt.Sprintf("! start of %s missed: %s. Not made up: /run %s", at.Format("Mon 15:04"), why, name))
	s.porter.log.Warn("start by schedule missed", "project", name, "due", at, "why", why)
}

// local is a time in the person's zone.
func (s *autostarter) local(t time.Time) time.Time {
	zone, err := s.porter.config().Zone()
	if err != nil {
		zone = time.Local
	}
	return t.In(zone)
}

// says is how the project starts, for people.
func (s *autostarter) says(name string) string {
	pr, _ := s.porter.configured(name)
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
