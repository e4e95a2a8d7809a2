package engine

import (
	"context"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// takeUp is one call of TakeUp or ReadAgain, sent to Run's goroutine.
type takeUp struct {
	project string
	begin   func() // nil: only read
	reply   chan error
}

// TakeUp begins to work on a project that was left out when Run began, such as
// one whose repository was not mounted yet: it opens the project's adapters,
// calls begin, and carries out every effect without a result. begin makes the
// project one that is worked on; TakeUp does nothing for one that is already.
// After an error the project is left out as before, and begin was not called.
func (e *Engine) TakeUp(ctx context.Context, project string, begin func()) error {
	return e.sendTakeUp(ctx, takeUp{project: project, begin: begin})
}

// ReadAgain folds the entries of a project that could not be folded when the
// engine was opened. For any other project it does nothing.
func (e *Engine) ReadAgain(ctx context.Context, project string) error {
	if e.Unread(project) == nil {
		return nil
	}
	return e.sendTakeUp(ctx, takeUp{project: project})
}

func (e *Engine) sendTakeUp(ctx context.Context, t takeUp) error {
	t.reply = make(chan error, 1)
	select {
	case e.takeUps <- t:
	case <-e.stopping:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-t.reply:
		return err
	case <-e.stopping:
		return ErrStopped
	}
}

// takeUp carries out a TakeUp in Run's goroutine.
func (e *Engine) takeUp(ctx context.Context, t takeUp) error {
	if e.carriesOut(t.project) {
		return nil
	}
	if err := e.readAgain(ctx, t.project); err != nil || t.begin == nil {
		return err
	}
	pending, err := e.o.Ledger.Pending(ctx)
	if err != nil {
		return fmt.Errorf("take up: %w", err)
	}
	left := pendingOf(pending, t.project)
	if r := e.projects[t.project].Run; r != nil && (!r.Over() || len(left) > 0) {
		if err := e.openPorts(ctx, r.Settings); err != nil {
			return err
		}
	}
	t.begin()
	for _, p := range left {
		e.launch(ctx, p, true)
	}
	e.startWatches(ctx, t.project)
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
