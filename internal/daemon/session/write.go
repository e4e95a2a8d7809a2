package session

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"sync"

	"github.com/nightporter/nightporter/internal/api"
)

// Write says that changes of a file are out of scope, once for each file: an agent that
// changes it all the same means it, and people are asked about it as without this
// (docs/spec 4.1). What cannot be judged may be changed.
func (a *API) Write(ctx context.Context, session string, w api.Write) (api.Reply, error) {
	ok := api.Reply{OK: true}
	s, _, found := a.find(session)
	if !found || !filepath.IsAbs(w.Path) || len(w.Path) > maxStray {
		return ok, nil
	}
	path, err := a.Engine.Undoes(ctx, s.Project.Name, session, filepath.Clean(w.Path))
	if err != nil {
		a.Log.Debug("a write cannot be judged", "session", session, "error", err)
		return ok, nil
	}
	if path == "" || !a.strays.add(session, path, a.live) {
		return ok, nil
	}
	ok.Text = fmt.Sprintf("%q is not in the scope of this session (see Scope in your prompt): what you change there is undone. "+
		"It was not written. Do the task without it; files that need not stay belong into $TMPDIR. "+
		"If the task cannot be done without it, make the same change again: it is noted, and a person can allow it.", path)
	return ok, nil
}

// live reports whether a session has not ended. It is no sign of life of the session.
func (a *API) live(session string) bool {
	for _, name := range a.Engine.Projects() {
		s, _ := a.Engine.State(name)
		if _, ok := s.Project.Session(session); ok {
			return true
		}
	}
	return false
}

// Limits of what is remembered of stray writes. Beyond them nothing is said.
const (
	maxStray  = 4096 // length of a path in bytes
	maxStrays = 100  // files of a session
)

// strays are the files that live sessions were told about. A restart forgets them, and they
// are told about once more.
type strays struct {
	mu    sync.Mutex
	files map[string]map[string]bool // by session
}

// add reports whether a session was not told of a file before, and notes that it is now.
func (t *strays) add(session, path string, live func(session string) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files == nil {
		t.files = map[string]map[string]bool{}
	}
	if t.files[session] == nil {
		maps.DeleteFunc(t.files, func(other string, _ map[string]bool) bool { return !live(other) })
		t.files[session] = map[string]bool{}
	}
	files := t.files[session]
	if files[path] || len(files) >= maxStrays {
		return false
	}
	files[path] = true
	return true
}
