package agent

import (
	"os"
	"path/filepath"
)

// Known reports whether this daemon or an earlier one has started the session.
// Start then does nothing.
func (r *Runner) Known(session string) bool {
	folder := r.folder(session)
	for _, name := range []string{filePID, fileExit} {
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			return true
		}
	}
	held, err := lockHeld(folder)
	return err == nil && held
}

// User returns the user and group id of sessions: -1, -1 for the daemon's own.
func (r *Runner) User() (uid, gid int) { return r.user.uid, r.user.gid }
