package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// openPorts opens a project's adapters for the settings of a run.
func (e *Engine) openPorts(ctx context.Context, s ledger.Settings) error {
	ports, err := e.o.Ports(ctx, s)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.ports[s.Project] = ports
	e.mu.Unlock()
	return nil
}

func (e *Engine) portsOf(project string) (Ports, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	p, ok := e.ports[project]
	return p, ok
}

// sameRepo reports whether the settings name the repository that the project
// belongs to. The core rejects any other.
func (e *Engine) sameRepo(s ledger.Settings) bool {
	run := e.projects[s.Project].Run
	return run == nil || run.Settings.Repo == s.Repo
}

// refreshSource adds the current content of the source to a StartRun. People
// may have edited the source meanwhile: a resumed run must not continue from an
// old plan, nor from one that does not parse.
func (e *Engine) refreshSource(ctx context.Context, start loop.StartRun) (loop.StartRun, error) {
	run := e.projects[start.Settings.Project].Run
	if run.Over() || start.New || run.State == ledger.RunPlanning || run.Settings.Source != start.Settings.Source {
		return start, nil // preflight reads it
	}
	ports, _ := e.portsOf(start.Settings.Project)
	snapshot, err := e.readSoon(ctx, ports.Source)
	if err != nil {
		return start, err
	}
	start.Snapshot = &snapshot
	return start, nil
}

// readSoon reads a source while all projects wait for it.
func (e *Engine) readSoon(ctx context.Context, source Source) (ledger.Snapshot, error) {
	var snapshot ledger.Snapshot
	var err error
	read := make(chan struct{})
	e.o.Scheduler.Go(func() {
		defer close(read)
		snapshot, err = source.Read(ctx)
	})
	if err := e.o.Scheduler.Wait(ctx, answerTime, read); err != nil {
		return ledger.Snapshot{}, err
	}
	select {
	case <-read:
	default:
		return ledger.Snapshot{}, fmt.Errorf("read the source: %w", errHangs)
	}
	if err != nil {
		return ledger.Snapshot{}, fmt.Errorf("read the source: %w", err)
	}
	return snapshot, nil
}

// lookForLines reads the source of a project that is taken up, where what ended
// meanwhile could be decided against it: a task in hand has no line in it, and would
// rest, but its line may be back since; or no task is open, and the run would end as
// done, but one may have been added. A source that cannot be read is left to whoever
// watches it.
func (e *Engine) lookForLines(ctx context.Context, name string, source Source) {
	tasks := e.projects[name].Tasks
	if !tasks.Gone() && tasks.Open() {
		return
	}
	snapshot, err := e.readSoon(ctx, source)
	if err == nil {
		_, err = e.handle(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.SourceChanged{Snapshot: snapshot, Before: tasks}}, nil)
	}
	if err != nil {
		e.o.Log.Warn("read the source again", "project", name, "error", err)
	}
}

// answerTime is how long all projects wait for the source of one.
const answerTime = 5 * time.Second

// errHangs means that a file system does not answer. What reads it waits until it
// does.
var errHangs = errors.New("its file system does not answer")
