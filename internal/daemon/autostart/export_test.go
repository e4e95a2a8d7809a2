package autostart

import (
	"context"
	"time"
)

// SetSeen sets when schedules were looked at last.
func (s *Autostarter) SetSeen(t time.Time) { s.lastTick = t }

// Tick looks at a minute.
func (s *Autostarter) Tick(ctx context.Context, now time.Time) { s.tick(ctx, now) }

// Consider looks at a project.
func (s *Autostarter) Consider(ctx context.Context, project string) { s.consider(ctx, project) }

// Known is what is known of a project that was considered.
func (s *Autostarter) Known(project string) (look bool, again time.Time, watched bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.projectState(project)
	return x.dirty, x.retryAt, x.source != ""
}

// LookAt makes time alone a reason to look.
func (s *Autostarter) LookAt(project string, again time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.projectState(project).retryAt = again
}

// Look makes the project be looked at.
func (s *Autostarter) Look(project string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.projectState(project).dirty = true
}

// Unwatch ends all watches of sources.
func (s *Autostarter) Unwatch() {
	s.mu.Lock()
	for _, x := range s.projects {
		x.follow(nil)
	}
	s.mu.Unlock()
	s.watches.Wait()
}
