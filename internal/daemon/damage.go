package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/store"
)

// DamagedError is the error of a start whose ledger is damaged: the database file
// is malformed, entries cannot be folded, or its end is lost.
type DamagedError struct {
	State  string        // state folder
	Breaks []store.Break // places that were found; may be empty
	Err    error         // of the opening or of the fold
}

// Error lists the places and says what to type.
func (e *DamagedError) Error() string {
	text := fmt.Sprintf("the ledger is damaged, and nothing is done with it: %s\n  %v", filepath.Join(e.State, store.Name), e.Err)
	for _, b := range e.Breaks {
		text += "\n  " + b.String()
	}
	var lost *store.LostEndError
	if errors.As(e.Err, &lost) {
		text += "\n  Are " + store.Name + " and " + store.Name + "-wal of the last stop elsewhere, such as where this folder was copied from? Put both back." +
			"\n  Or go on without the entries that are lost (what they did is not known then):\n    rm " + project.Quote(filepath.Join(e.State, lost.Last.Source))
	}
	return text + "\n" + RestoreAdvice(e.State)
}

// Unwrap returns the error of the opening or of the fold.
func (e *DamagedError) Unwrap() error { return e.Err }

// damaged returns the error of a start, as a DamagedError if the database shows
// that its file is damaged or that entries are not those that were written. s is
// nil if the database could not be opened.
func damaged(ctx context.Context, state string, s *store.Store, err error) error {
	var breaks []store.Break
	if s != nil {
		breaks, _ = s.Verify(ctx) // a check that fails adds nothing
	}
	if len(breaks) == 0 && !errors.Is(err, store.ErrBroken) {
		return err
	}
	return &DamagedError{State: state, Breaks: breaks, Err: err}
}

// checkWhole verifies the ledger once, beside all else: a state that comes from a
// snapshot shows nothing of an entry that was damaged before it. A database file
// that is damaged takes no commits from then on, which onOutage tells.
func (d *Daemon) checkWhole(ctx context.Context) {
	breaks, err := d.Store.Verify(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		d.Log.Warn("the ledger is not verified", "error", err)
	case len(breaks) > 0:
		d.Log.Error("the ledger is altered", "places", len(breaks), "first", breaks[0].String(), "all", "nightporter verify")
		d.Projects.Warn("", project.AboutChain, "! the ledger is altered, and what is shown may be wrong: nightporter verify says where, and what to type")
		d.Changes.Ring()
	}
}

// lastBackup is the file of the state folder that names its newest backup.
const lastBackup = "backup.json"

// Backup is the newest backup of a state folder.
type Backup struct {
	File string    `json:"file"` // absolute path
	Time time.Time `json:"time"` // of what it holds
}

// NoteBackup remembers a backup, for RestoreAdvice.
func NoteBackup(state string, b Backup) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return fsutil.Replace(filepath.Join(state, lastBackup), text, 0o600)
}

// RestoreAdvice says with which commands the state folder is made anew from its
// newest backup, and what there is without one. It begins with an indented line and
// ends without a line break.
func RestoreAdvice(state string) string {
	dir, flag := project.Quote(state), ""
	if usual, err := config.StateDir(""); err != nil || usual != state {
		flag = " --state " + dir
	}
	lost := state + ".lost"
	aside := "    mv " + dir + " " + project.Quote(lost) + "\n"
	restore := func(file string) string {
		if rest, inside := strings.CutPrefix(file, state+string(filepath.Separator)); inside {
			file = filepath.Join(lost, rest)
		}
		return aside + "    nightporter restore " + project.Quote(file) + flag + "\n"
	}
	var b Backup
	text, err := os.ReadFile(filepath.Join(state, lastBackup))
	known := err == nil && json.Unmarshal(text, &b) == nil && b.File != ""
	_, gone := os.Stat(b.File)
	advice := "  Stop nightporter, if it runs (its unit, too). "
	switch {
	case !known:
		advice += "No backup was made of this folder here; with one from elsewhere:\n" + restore("FILE.tar.gz")
	case gone != nil:
		advice += fmt.Sprintf("The last backup, %s of %s, is not there any more. With it, or another one:\n", b.File, b.Time.Local().Format("2006-01-02 15:04 MST")) + restore("FILE.tar.gz")
	default:
		advice += "Restore the last backup, of " + b.Time.Local().Format("2006-01-02 15:04 MST") + ":\n" + restore(b.File)
	}
	if copies := ledgerCopies(state); len(copies) > 0 {
		advice += "  Or a copy from before the last update, with the repositories of now:\n" + restore(copies[len(copies)-1]) +
			"    mv " + project.Quote(filepath.Join(lost, "repos")) + " " + project.Quote(filepath.Join(lost, "logins")) + " " + dir + "/\n"
	}
	return advice + "  Or begin anew, without all that was done; your branches keep their commits:\n" + strings.TrimRight(aside, "\n")
}
