package daemon

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/internal/diskuse"
	"github.com/nightporter/nightporter/loop/ledger"
)

// idlePatience is how long the removal of old things waits until no session is
// in flight. After that it is done beside them.
const idlePatience = 6 * time.Hour

// removeOld removes what the configuration keeps no longer ([retention]), at the
// start and once a day. Without it, the state folder of a daemon that runs for
// months would only grow.
func (d *Daemon) removeOld(ctx context.Context) {
	daily := time.NewTicker(24 * time.Hour)
	defer daily.Stop()
	for {
		if d.o.Stays {
			d.awaitIdle(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		d.prune(ctx, d.steady.at(time.Now()))
		select {
		case <-daily.C:
		case <-ctx.Done():
			return
		}
	}
}

// awaitIdle returns when no session is in flight, after idlePatience, or when ctx
// ends.
func (d *Daemon) awaitIdle(ctx context.Context) {
	patience := time.NewTimer(idlePatience)
	defer patience.Stop()
	for {
		changed := d.Changes.Next()
		atWork := false
		for _, name := range d.Engine.Projects() {
			s, _ := d.Engine.State(name)
			atWork = atWork || len(s.Project.Sessions) > 0
		}
		if !atWork {
			return
		}
		select {
		case <-changed:
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// prune removes what is older than the configuration says. A failure is logged
// and keeps nothing else from being removed.
func (d *Daemon) prune(ctx context.Context, now time.Time) {
	keep := d.Projects.Config().Retention
	removed := func(what string, n int, err error) {
		switch {
		case err != nil && ctx.Err() == nil:
			d.Log.Warn("old "+what+" are not removed", "error", err)
		case n > 0:
			d.Log.Info("old "+what+" are removed", "number", n)
		}
	}
	n, err := d.runners.Tidy(ctx, now.Add(-keep.KeptSessions()), d.isKept)
	removed("folders of sessions and runs", n, err)
	n, err = d.Store.PruneMessages(ctx, now.Add(-keep.KeptMessages()))
	removed("messages", n, err)
	n, err = d.Store.PruneEffects(ctx, now.Add(-keep.KeptEffects()))
	removed("effects", n, err)
	n, err = d.Store.PruneInputs(ctx, now, keep.KeptInputs())
	removed("inputs", n, err)
	d.trimCaches(ctx, now)
}

// trimCaches drops caches and layers of setup that exceed the bound.
func (d *Daemon) trimCaches(ctx context.Context, now time.Time) {
	_, size, err := diskuse.Disk(d.o.State)
	if err != nil {
		d.Log.Warn("the disk cannot be measured", "error", err)
		return
	}
	bound := d.Projects.Config().Retention.Caches(size)
	done, err := diskuse.Trim(ctx, d.o.State, bound, now, d.mayUseCaches)
	if err != nil && ctx.Err() == nil {
		d.Log.Warn("caches are not dropped", "error", err)
	}
	if done.Items > 0 {
		d.Log.Info("caches are dropped", "number", done.Items, "bytes", done.Freed, "left", done.Left, "bound", bound)
	}
	if done.Left > bound && ctx.Err() == nil {
		d.Log.Warn("caches exceed their bound; all of them were used in the last day or belong to a run", "bytes", done.Left, "bound", bound)
	}
}

// mayUseCaches reports whether a session of the project may have its caches
// mounted, or be about to.
func (d *Daemon) mayUseCaches(project string) bool {
	s, ok := d.Engine.State(project)
	if !ok {
		return false
	}
	run := s.Project.Run
	return len(s.Project.Sessions) > 0 || !run.Over() && run.State != ledger.RunPaused
}

// isKept reports whether a run's folders are kept regardless of their age: the
// run is its project's last one, or an attempt that was parked in it goes on.
func (d *Daemon) isKept(run string) bool {
	for _, name := range d.Engine.Projects() {
		s, _ := d.Engine.State(name)
		if s.Project.NeedsRun(run) {
			return true
		}
	}
	return false
}
