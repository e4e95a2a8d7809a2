package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Tidy removes folders that are no longer needed from the state folder: those
// of sessions that ended before the given time, and work folders of runs
// untouched since then, and copies of this program's earlier releases. It spares
// runs for which keep returns true. Decisions stay in the ledger and commits in
// the repositories; only agents' output and checkouts are lost. It returns the
// number of removed folders.
func (r *Runner) Tidy(ctx context.Context, before time.Time, keep func(run string) bool) (removed int, err error) {
	var errs []error
	for _, kind := range []struct {
		dir  string
		idle func(folder string) bool
	}{
		{"sessions", func(folder string) bool { return endedBefore(folder, before) }},
		{"runs", func(folder string) bool { return untouchedSince(folder, before) }},
	} {
		list, err := os.ReadDir(filepath.Join(r.o.State, kind.dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, e := range list {
			if ctx.Err() != nil {
				return removed, errors.Join(append(errs, context.Cause(ctx))...)
			}
			run, _, _ := strings.Cut(e.Name(), "-")
			folder := filepath.Join(r.o.State, kind.dir, e.Name())
			if !e.IsDir() || keep(run) || !kind.idle(folder) {
				continue
			}
			if err := removeAll(folder); err != nil {
				errs = append(errs, err)
				continue
			}
			removed++
		}
	}
	n, err := r.tidyPrograms(before)
	return removed + n, errors.Join(append(errs, err)...)
}

// TidyLast removes the folders of ended sessions whose names begin with prefix, but for
// the last n by name.
func (r *Runner) TidyLast(prefix string, n int) error {
	list, err := os.ReadDir(filepath.Join(r.o.State, "sessions"))
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(e os.DirEntry) bool { return !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) })
	var errs []error
	for _, e := range list[:max(len(list)-n, 0)] { // sorted by name
		if folder := r.folder(e.Name()); endedBefore(folder, time.Now()) {
			errs = append(errs, removeAll(folder))
		}
	}
	return errors.Join(errs...)
}

// tidyPrograms removes copies of programs that were installed before the given
// time. The runner's own copy stays, and all of them while a session is at work:
// its supervisor starts programs from the copy that it came from.
func (r *Runner) tidyPrograms(before time.Time) (removed int, err error) {
	sessions, err := os.ReadDir(filepath.Join(r.o.State, "sessions"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, e := range sessions {
		if held, err := lockHeld(filepath.Join(r.o.State, "sessions", e.Name())); err != nil || held {
			return 0, err
		}
	}
	copies, err := os.ReadDir(filepath.Dir(r.bin))
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, e := range copies {
		folder := filepath.Join(filepath.Dir(r.bin), e.Name())
		if info, err := e.Info(); folder == r.bin || err != nil || !info.ModTime().Before(before) {
			continue
		}
		if err := removeAll(folder); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}

// endedBefore reports whether a session's end was recorded before the given
// time and its folder is not locked. For a session that had no process, the
// request to end it is that record.
func endedBefore(folder string, at time.Time) bool {
	info, err := os.Lstat(filepath.Join(folder, fileExit))
	if _, began := os.Lstat(filepath.Join(folder, filePID)); isGone(err) && isGone(began) {
		info, err = os.Lstat(filepath.Join(folder, fileEndRequest))
	}
	if err != nil || !info.ModTime().Before(at) {
		return false
	}
	held, err := lockHeld(folder)
	return err == nil && !held
}

// untouchedSince reports whether a run's folder, its work folder and its
// CONTEXT folder are older than the given time. Deeper changes need no check,
// because the restore before each session touches these folders.
func untouchedSince(folder string, at time.Time) bool {
	newest := time.Time{}
	for _, name := range []string{"", "work", "CONTEXT"} {
		if info, err := os.Lstat(filepath.Join(folder, name)); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return !newest.IsZero() && newest.Before(at)
}
