package agent

import (
	"os"
	"path/filepath"
)

// Known reports whether the session was started before, by this daemon or an
// earlier one: then Start starts nothing.
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

// User is whom sessions run as: -1, -1 for the daemon's own user.
func (r *Runner) User() (uid, gid int) { return r.user.uid, r.user.gid }
