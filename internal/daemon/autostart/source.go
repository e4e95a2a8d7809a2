package autostart

import (
	"context"
	"errors"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// retryDelay is the delay before a project is considered again after an error.
// It is less than the minute after which the clock wakes the autostarter.
const retryDelay = 30 * time.Second

// answerTime is how long other projects wait for the source of one.
const answerTime = 5 * time.Second

// errHangs means that the file system of a source does not answer.
var errHangs = errors.New("the file system of its source does not answer")

// readSource is read within answerTime. A read that hangs cannot be ended: it goes
// on alone, the project is considered again when it returns, and none begins
// beside it.
func (s *Autostarter) readSource(ctx context.Context, name string) (ledger.Settings, ledger.Snapshot, error) {
	type result struct {
		settings ledger.Settings
		snapshot ledger.Snapshot
		err      error
	}
	s.mu.Lock()
	hangs := s.projectState(name).reading
	s.projectState(name).reading = true
	s.mu.Unlock()
	if hangs {
		return ledger.Settings{}, ledger.Snapshot{}, errHangs
	}
	done, late := make(chan result), make(chan struct{})
	go func() {
		var r result
		r.settings, r.snapshot, r.err = s.read(ctx, name)
		s.mu.Lock()
		x := s.projectState(name)
		x.reading = false
		s.mu.Unlock()
		select {
		case done <- r:
		case <-late:
			s.mu.Lock()
			x.dirty = true
			s.mu.Unlock()
			s.nudge()
		}
	}()
	defer close(late)
	t := time.NewTimer(answerTime)
	defer t.Stop()
	select {
	case r := <-done:
		return r.settings, r.snapshot, r.err
	case <-t.C:
		return ledger.Settings{}, ledger.Snapshot{}, errHangs
	case <-ctx.Done():
		return ledger.Settings{}, ledger.Snapshot{}, context.Cause(ctx)
	}
}

// read resolves the project's settings and reads its source. With start = "auto" it
// also begins to watch the source.
func (s *Autostarter) read(ctx context.Context, name string) (settings ledger.Settings, snapshot ledger.Snapshot, err error) {
	pr, _ := s.o.Projects.Find(name)
	settings, err = s.o.Projects.Resolve(name, config.Overrides{})
	if err != nil {
		return settings, snapshot, err
	}
	source, err := s.o.Projects.OpenSource(settings, task.Options{CommitStatus: settings.CommitStatus, BdWrite: settings.BdWrite})
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
