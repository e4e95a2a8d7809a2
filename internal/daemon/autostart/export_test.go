package autostart

import (
	"context"
	"time"
)

// SetSeen sets the time of the last tick.
func (s *Autostarter) SetSeen(t time.Time) { s.lastTick = t }

// Tick runs the work of the timer that fires every minute.
func (s *Autostarter) Tick(ctx context.Context, now time.Time) { s.tick(ctx, now) }

// Due returns the projects that are due.
func (s *Autostarter) Due(now time.Time) []string { return s.due(now) }

// Consider considers a project.
func (s *Autostarter) Consider(ctx context.Context, project string) { s.consider(ctx, project) }

// Known returns what the Autostarter knows of a project: whether it is dirty,
// its retry time, and whether its source is watched.
func (s *Autostarter) Known(project string) (look bool, again time.Time, watched bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.projectState(project)
	return x.dirty, x.retryAt, x.source != ""
}

// SetRetry sets the retry time of a project.
func (s *Autostarter) SetRetry(project string, again time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.projectState(project).retryAt = again
}

// MarkDirty marks a project as dirty.
func (s *Autostarter) MarkDirty(project string) {
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
