package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/nightporter/nightporter/loop"
)

// Undoes returns the path in the repository of a file that a session is about to change, if
// that change would be undone after the session; else "". path is absolute, as the session
// has it. Of files outside the work folder, and of sessions whose changes are not kept
// anyway, it says nothing.
func (e *Engine) Undoes(ctx context.Context, project, session, path string) (string, error) {
	s, _ := e.State(project)
	ports, ok := e.portsOf(project)
	scope, writes := loop.ScopeOf(s, session)
	if !ok || !writes {
		return "", nil
	}
	ses, _ := s.Project.Session(session)
	t, _ := s.Project.Find(ses.Task)
	if t.Attempt == nil {
		return "", nil
	}
	use := workUse(s, ses, t.Attempt.Tree)
	rel, err := filepath.Rel(ports.Place.Folders.Work(use).Dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", nil //nolint:nilerr // it is no path of the work folder
	}
	scope.Never = ports.Source.Owned()
	undone, err := ports.Place.Folders.Undoes(ctx, use, t.Attempt.Start, scope, rel)
	if err != nil {
		return "", fmt.Errorf("scope: %w", err)
	}
	if !undone {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}
