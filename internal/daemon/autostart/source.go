package autostart

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// retryDelay is the delay before a project is considered again after an error.
// It is less than the minute after which the clock wakes the autostarter.
const retryDelay = 30 * time.Second

// readSource resolves the project's settings and reads its source. With start =
// "auto" it also begins to watch the source.
func (s *Autostarter) readSource(ctx context.Context, name string) (settings ledger.Settings, snapshot ledger.Snapshot, err error) {
	pr, _ := s.o.Projects.Find(name)
	settings, err = s.o.Projects.Resolve(name, config.Overrides{})
	if err != nil {
		return settings, snapshot, err
	}
	source, err := task.Open(settings.Source.Kind, settings.Source.Path, settings.Repo, task.Options{CommitStatus: settings.CommitStatus})
	if err != nil {
		return settings, snapshot, err
	}
	if snapshot, err = source.Read(ctx); err == nil {
		s.o.Projects.Clear(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.projectState(name); pr.Start == startAuto && x.source != settings.Repo+"\n"+settings.Source.String() {
		x.source = settings.Repo + "\n" + settings.Source.String()
		wctx, cancel := context.WithCancel(ctx)
		x.follow(cancel)
		s.watches.Go(func() { s.watchSource(wctx, name, source.Watch) })
	}
	return settings, snapshot, err
}

// watchSource marks the project as changed whenever its source changes.
func (s *Autostarter) watchSource(ctx context.Context, name string, watch func(context.Context, func()) error) {
	err := watch(ctx, func() {
		s.mu.Lock()
		x := s.projectState(name)
		x.dirty, x.changed = true, time.Now()
		s.mu.Unlock()
		s.nudge()
	})
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("source is not watched", "project", name, "error", err)
		s.mu.Lock()
		s.projectState(name).source = "" // the next readSource watches it again
		s.projectState(name).retryAt = time.Now().Add(time.Minute)
		s.mu.Unlock()
	}
}
