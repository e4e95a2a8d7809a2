package engine

import (
	"context"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// startWatches begins to watch a project's source and hats while its run is
// under way.
func (e *Engine) startWatches(ctx context.Context, project string) {
	over := e.projects[project].Run.Over()
	cancel, watched := e.watches[project]
	switch {
	case over && watched:
		cancel()
		delete(e.watches, project)
	case !over && !watched:
		ports, ok := e.portsOf(project)
		if r := e.projects[project].Run; !ok || r.State == ledger.RunPlanning && r.Base.Commit == "" {
			return // the preflight reads both
		}
		wctx, cancel := context.WithCancel(ctx)
		e.watches[project] = cancel
		e.spawn(func() { e.followSource(wctx, project, ports.Source) })
		if ports.Hats != nil {
			e.spawn(func() { e.followHats(wctx, project, ports.Hats) })
		}
	}
}

// followHats reads hats and pattern after each change by a person, and once at
// the beginning, because they may have changed while nightporter was not
// running.
func (e *Engine) followHats(ctx context.Context, project string, files HatFiles) {
	look := func() {
		s, ok := e.State(project)
		if !ok || s.Project.Run.Over() {
			return
		}
		e.deliverReading(ctx, project, func() (loop.InputBody, error) {
			pattern, hats, err := files.Read(s.Project.Run.Settings)
			if err != nil {
				return loop.HatsChanged{Err: err.Error()}, faultOnly(err)
			}
			return loop.HatsChanged{Pattern: pattern, Hats: hats}, nil
		})
	}
	look()
	if err := files.Watch(ctx, look); err != nil && ctx.Err() == nil {
		e.o.Log.Warn("hats are not watched", "project", project, "error", err)
	}
}

// followSource reads the source after each change by a person.
func (e *Engine) followSource(ctx context.Context, project string, source Source) {
	err := source.Watch(ctx, func() {
		e.deliverReading(ctx, project, func() (loop.InputBody, error) { return e.readSource(ctx, project, source) })
	})
	if err != nil && ctx.Err() == nil {
		e.o.Log.Warn("source is not watched", "project", project, "error", err)
	}
}

// deliverReading sends a reading of people's files to the core, and repeats that
// until it is committed and met no fault of the machine: their next change may come
// late, or never. It reads them anew each time.
func (e *Engine) deliverReading(ctx context.Context, project string, read func() (loop.InputBody, error)) {
	e.untilSaved(ctx, project, func() error {
		body, err := read()
		if _, refused := e.Do(ctx, loop.Input{Project: project, Actor: "daemon", Body: body}); refused != nil {
			return refused
		}
		return err
	})
}

// faultOnly returns err if it is a fault of the machine, else nil.
func faultOnly(err error) error {
	if fault.Of(err) == "" {
		return nil
	}
	return err
}

// readSource reads the source for the core. The error is a fault of the machine: the
// reading says what it is, and another one may succeed.
func (e *Engine) readSource(ctx context.Context, project string, source Source) (loop.SourceChanged, error) {
	before, _ := e.State(project)
	snapshot, err := source.Read(ctx)
	if err != nil {
		return loop.SourceChanged{Err: err.Error()}, faultOnly(err)
	}
	return loop.SourceChanged{Snapshot: snapshot, Before: before.Project.Tasks}, nil
}

// rereadSource is a reading in the place of an earlier one: what it lacks since the
// same time is believed.
func (e *Engine) rereadSource(ctx context.Context, project string, source Source, earlier loop.SourceChanged) (loop.SourceChanged, error) {
	read, err := e.readSource(ctx, project, source)
	read.Source, read.Doubted = earlier.Source, earlier.Doubted
	return read, err
}
