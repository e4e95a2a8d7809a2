package autostart

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// New returns the autostarter of a daemon that last ran at off, zero for never.
// It warns of starts by cron that were due since off, and starts nothing.
func New(o Options, plans Schedules, off time.Time) *Autostarter {
	s := &Autostarter{o: o, wake: make(chan struct{}, 1), projects: map[string]*projectState{}, met: map[string]metDue{}, plans: plans, lastTick: off}
	now := time.Now()
	if !off.IsZero() {
		s.warnMissedWhileOff(now)
	}
	s.lastTick = now
	return s
}

// Start begins to resume unfinished runs and to start due runs.
func (s *Autostarter) Start(context.Context) error {
	if err := s.Begin(); err != nil {
		return err
	}
	s.Go(s.run)
	return nil
}

// Use replaces the schedules after a reload of the configuration.
func (s *Autostarter) Use(plans Schedules) {
	s.mu.Lock()
	s.plans = plans
	s.mu.Unlock()
	s.Reconsider()
}

// Reconsider considers all projects anew, because what can be worked on has
// changed.
func (s *Autostarter) Reconsider() {
	s.mu.Lock()
	for _, x := range s.projects {
		x.dirty, x.retryAt, x.changed = true, time.Time{}, time.Now()
	}
	s.mu.Unlock()
	s.nudge()
}

// run considers projects until ctx ends.
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

// consider resumes the project's unfinished run, or starts one if its setting
// is start = "auto" and a task is ready.
func (s *Autostarter) consider(ctx context.Context, name string) {
	st, _ := s.o.Engine.State(name)
	if r := st.Project.Run; !r.Over() {
		s.o.Projects.Warn(name, project.AboutStart, "") // the start has succeeded, automatically or by a person
	}
	s.resume(ctx, name, st)

	pr, ok := s.o.Projects.Find(name)
	s.mu.Lock()
	x := s.projectState(name)
	if !ok || pr.Start != startAuto {
		x.follow(nil)
		x.source = ""
		s.mu.Unlock()
		return
	}
	now := time.Now()
	if st.Project.Run.Over() && !x.looking {
		x.looking = true
		go s.lookAtNeeds(pr)
	}
	if run := phase(st); run != x.run {
		x.run, x.dirty = run, true
	}
	if !x.retryAt.IsZero() && !now.Before(x.retryAt) {
		x.dirty, x.retryAt = true, time.Time{}
	}
	look, changed := x.dirty, x.changed
	x.dirty = false
	s.mu.Unlock()
	if !look || !st.Project.Run.Over() {
		return
	}
	settings, snapshot, err := s.readSource(ctx, name)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.failed(name, err)
		// A missing plan or repository cannot be watched, so it is read again
		// after a while, which is cheap.
		s.mu.Lock()
		x.retryAt = now.Add(retryDelay)
		s.mu.Unlock()
		return
	}
	s.o.Projects.Warn(name, project.AboutStart, "") // the source is readable
	decided := loop.Startable(st, settings, snapshot, now, changed)
	s.o.Log.Info("start by itself", "project", name, "start", decided.OK, "why", decided.Why, "ready", len(decided.Tasks))
	if decided.OK {
		s.start(ctx, name, settings)
		return
	}
	s.mu.Lock()
	x.retryAt = decided.Again
	s.mu.Unlock()
}

// phase encodes the part of a project's state that can make start = "auto"
// start a run. A changed phase makes the project be considered again.
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

// Says describes for people when the project starts.
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
