package autostart

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop"
)

// tolerance is the largest delay after which a start by cron still happens, for
// example on a busy machine or after a short sleep. A later start is only
// reported as missed: it could run into the morning.
const tolerance = 10 * time.Minute

// oneNight is the time within which a start that is due again is the same one. The
// clock was set back.
const oneNight = 12 * time.Hour

// repeats reports whether a start that is due now was due before.
func (m metDue) repeats(due, now time.Time) bool {
	return !m.due.IsZero() && !due.After(m.due) && now.Sub(m.at) < oneNight
}

// tick starts the projects whose cron expression is due.
func (s *Autostarter) tick(ctx context.Context, now time.Time) {
	for _, name := range s.due(now) {
		st, _ := s.o.Engine.State(name)
		if r := st.Project.Run; !r.Over() && !r.Aside() { // one that is aside gives way
			s.o.Log.Info("due by schedule, and under way already", "project", name, "run", r.ID)
			continue
		}
		settings, snapshot, err := s.readSource(ctx, name)
		if err != nil {
			s.failed(name, err)
			continue
		}
		ready := loop.ReadyTasks(st, settings, snapshot, now)
		if len(ready) == 0 { // a night without ready tasks starts no run and costs nothing
			s.o.Projects.Warn(name, project.AboutStart, "")
			s.o.Log.Info("due by schedule, and nothing is ready", "project", name)
			continue
		}
		s.start(ctx, name, settings)
	}
}

// due returns the projects whose cron expression was due since the last call.
// It warns of projects whose start is later than tolerance.
func (s *Autostarter) due(now time.Time) []string {
	now = now.Round(0) // the time of day alone
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.lastTick
	s.lastTick = now
	if now.Before(since) {
		for name, m := range s.met { // when it was, by the clock that is set back now
			s.met[name] = metDue{due: m.due, at: m.at.Add(now.Sub(since))}
		}
	}
	var names []string
	for _, name := range s.o.Projects.Working() {
		plan, ok := s.plans[name]
		if !ok {
			continue
		}
		at := lastDue(plan, s.local(since), s.local(now))
		switch {
		case at.IsZero():
		case s.met[name].repeats(at, now):
			s.o.Log.Info("due by schedule a second time: the clock was set back", "project", name, "due", at)
		case now.Sub(at) > tolerance:
			s.warnMissed(name, at, "the machine was asleep")
		default:
			names = append(names, name)
			s.met[name] = metDue{due: at, at: now}
		}
	}
	slices.Sort(names)
	return names
}

// warnMissedWhileOff warns of starts that were due while no daemon ran.
func (s *Autostarter) warnMissedWhileOff(now time.Time) {
	for name, plan := range s.plans {
		if at := lastDue(plan, s.local(s.lastTick), s.local(now)); !at.IsZero() {
			s.warnMissed(name, at, "nightporter was off")
		}
	}
}

// warnMissed warns of one missed start.
func (s *Autostarter) warnMissed(name string, at time.Time, why string) {
	s.o.Projects.Warn(name, project.AboutStart, fmt.Sprintf("! start of %s missed: %s. Not made up: /run %s", at.Format("Mon 15:04"), why, name))
	s.o.Log.Warn("start by schedule missed", "project", name, "due", at, "why", why)
}
