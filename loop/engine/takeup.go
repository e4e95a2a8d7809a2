package engine

import (
	"context"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TakeUp begins to work on a project that was left out when Run began, such as
// one whose repository was not mounted yet: it opens the project's adapters,
// calls begin, and carries out every effect without a result. begin makes the
// project one that is worked on; TakeUp does nothing for one that is already.
// After an error the project is left out as before, and begin was not called.
func (e *Engine) TakeUp(ctx context.Context, project string, begin func()) error {
	_, err := e.send(ctx, func(ctx context.Context) (ledger.Answer, error) {
		return ledger.Answer{}, e.takeUp(ctx, project, begin)
	})
	return err
}

// ReadAgain folds the entries of a project that could not be folded when the
// engine was opened. For any other project it does nothing.
func (e *Engine) ReadAgain(ctx context.Context, project string) error {
	if e.Unread(project) == nil {
		return nil
	}
	return e.TakeUp(ctx, project, nil)
}

// takeUp carries out a TakeUp in Run's goroutine. With a nil begin it only reads.
func (e *Engine) takeUp(ctx context.Context, project string, begin func()) error {
	if e.carriesOut(project) {
		return nil
	}
	if err := e.readAgain(ctx, project); err != nil || begin == nil {
		return err
	}
	pending, err := e.o.Ledger.Pending(ctx)
	if err != nil {
		return fmt.Errorf("take up: %w", err)
	}
	left := pendingOf(pending, project)
	if r := e.projects[project].Run; r != nil && (!r.Over() || len(left) > 0) {
		if err := e.openPorts(ctx, r.Settings); err != nil {
			return err
		}
	}
	begin()
	for _, p := range left {
		e.launch(ctx, p, true)
	}
	e.startWatches(ctx, project)
	e.startLooks(ctx, project, false)
	return nil
}

// Unread returns why the entries of a project could not be folded, nil for a
// project that is read, or that the ledger does not have.
func (e *Engine) Unread(project string) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.unread[project]
}

// readAgain folds the entries of a project that could not be folded before.
func (e *Engine) readAgain(ctx context.Context, project string) error {
	if e.Unread(project) == nil {
		return nil
	}
	stream := ledger.ProjectStream(project)
	s, saved, head, err := e.fold(ctx, stream)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.unread[project] = err
		return err
	}
	s.Project.Name = project
	delete(e.unread, project)
	e.projects[project], e.heads[stream], e.saved[stream] = s.Project, head, saved
	return nil
}
