package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Thresholds of Maintain. Below them a repository is as fast as a fresh one.
const (
	manyRefs    = 100  // refs in files of their own
	manyObjects = 1000 // objects in files of their own
	manyPacks   = 10
	dropEvery   = 7 * 24 * time.Hour
	abandoned   = time.Hour // age at which a temporary file belongs to no git any more
)

// lock begins an exclusive use of the bare repository and the work folders, and
// returns the function that ends it. Maintenance in progress is stopped for it.
func (w *Workspace) lock() (unlock func()) {
	w.maintained.Lock()
	w.waiting++
	if w.stopMaintenance != nil {
		w.stopMaintenance()
	}
	w.maintained.Unlock()
	w.mu.Lock()
	return func() {
		w.mu.Unlock()
		w.maintained.Lock()
		w.waiting--
		w.maintained.Unlock()
	}
}

// errYields is why maintenance ends early: something else needs the repository.
var errYields = errors.New("maintenance yields to other work")

// Maintain keeps the bare repository as fast and as small as a fresh one, since git's
// own maintenance is off. It removes the hidden refs of runs whose last capture is
// older than m.Age, packs refs and objects, and drops objects that no ref has led to
// for as long. What m.Keep names stays, and so do the refs of m.Run.
//
// Each step can be cut off at any point and is done again by the next call. Any other
// use of the repository stops it; that is no error.
func (w *Workspace) Maintain(ctx context.Context, m ledger.Maintenance) error {
	if _, err := os.Lstat(w.gitDir); err != nil {
		return nil //nolint:nilerr // no run has begun yet
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.maintained.Lock()
	if w.waiting > 0 || w.stopMaintenance != nil {
		w.maintained.Unlock()
		return nil
	}
	w.stopMaintenance = func() { cancel(errYields) }
	w.maintained.Unlock()
	w.mu.Lock()
	err := w.maintain(ctx, m)
	w.mu.Unlock()
	w.maintained.Lock()
	w.stopMaintenance = nil
	w.maintained.Unlock()
	if err != nil && !errors.Is(err, errYields) {
		return fmt.Errorf("maintain %s: %w", w.gitDir, err)
	}
	return nil
}

func (w *Workspace) maintain(ctx context.Context, m ledger.Maintenance) error {
	if err := w.dropStaleLock(ctx, filepath.Join(w.gitDir, "packed-refs.lock")); err != nil {
		return err
	}
	w.removeAbandoned()
	pruned, err := w.pruneRefs(ctx, m)
	if err != nil {
		return err
	}
	if w.count("refs/nightporter", manyRefs) >= manyRefs {
		if _, err := w.gitOurs(ctx, "pack-refs", "--all", "--prune"); err != nil {
			return err
		}
		w.removeEmpty("refs/nightporter")
	}
	due := filepath.Join(w.gitDir, "drop-due") // there since refs were deleted
	info, err := os.Lstat(due)
	if err != nil && pruned {
		if err := os.WriteFile(due, nil, 0o600); err != nil {
			return err
		}
	}
	if err == nil && time.Since(info.ModTime()) > dropEvery {
		// Objects that no ref leads to go into a pack of their own with the time at
		// which they were last seen, and are dropped once that is old.
		if _, err := w.run(ctx, call{gitDir: w.gitDir, dir: w.gitDir, args: []string{"repack", "-q", "-d", "-l", "--cruft",
			"--cruft-expiration=" + time.Now().Add(-m.Age).UTC().Format("2006-01-02T15:04:05Z")}}); err != nil {
			return err
		}
		return os.Remove(due)
	}
	packs, _ := filepath.Glob(filepath.Join(w.gitDir, "objects", "pack", "pack-*.pack"))
	if len(packs) < manyPacks && w.count("objects", manyObjects) < manyObjects {
		return nil
	}
	// Packs are merged with those of their size, so that the largest one is rarely
	// written again. Nothing is dropped by it.
	_, err = w.run(ctx, call{gitDir: w.gitDir, dir: w.gitDir, args: []string{"repack", "-q", "-d", "-l", "--geometric=2", "--no-write-bitmap-index"}})
	return err
}

// removeAbandoned removes what a git that was killed left unfinished.
func (w *Workspace) removeAbandoned() {
	for _, pattern := range []string{"objects/pack/tmp_*", "objects/pack/.tmp-*", "objects/tmp_objdir-*", "objects/??/tmp_obj_*"} {
		found, _ := filepath.Glob(filepath.Join(w.gitDir, filepath.FromSlash(pattern)))
		for _, p := range found {
			if info, err := os.Lstat(p); err == nil && time.Since(info.ModTime()) > abandoned {
				_ = os.RemoveAll(p) // the next call tries it again
			}
		}
	}
}

// count returns the number of files in a folder of the repository, but for packs, and
// stops at most.
func (w *Workspace) count(folder string, most int) int {
	n := 0
	_ = filepath.WalkDir(filepath.Join(w.gitDir, filepath.FromSlash(folder)), func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // it went away
		case n >= most:
			return fs.SkipAll
		case d.IsDir() && (d.Name() == "pack" || d.Name() == "info"):
			return fs.SkipDir
		case !d.IsDir():
			n++
		}
		return nil
	})
	return n
}

// removeEmpty removes empty folders below one: git leaves those of refs that it has
// packed or deleted.
func (w *Workspace) removeEmpty(folder string) {
	var dirs []string
	_ = filepath.WalkDir(filepath.Join(w.gitDir, filepath.FromSlash(folder)), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, p)
		}
		return nil
	})
	for i := len(dirs) - 1; i > 0; i-- {
		_ = os.Remove(dirs[i]) // one that is not empty stays
	}
}

// keepRef begins the names of refs that lead to what Maintenance.Keep names.
const keepRef = "refs/nightporter-keep/"

// pruneRefs deletes the hidden refs of old runs, and has a ref for each object that
// is to be kept.
func (w *Workspace) pruneRefs(ctx context.Context, m ledger.Maintenance) (pruned bool, err error) {
	ours := "refs/nightporter/" + w.o.Project + "/"
	out, err := w.gitOurs(ctx, "for-each-ref", "--format=%(refname)", ours, keepRef)
	if err != nil {
		return false, err
	}
	keep, err := w.existing(ctx, m.Keep)
	if err != nil {
		return false, err
	}
	var lines []string
	old, had := map[string]bool{}, map[string]bool{}
	for ref := range strings.Lines(out) {
		ref = strings.TrimSpace(ref)
		if hash, is := strings.CutPrefix(ref, keepRef); is {
			if had[hash] = true; !keep[hash] {
				lines = append(lines, "delete "+ref)
			}
			continue
		}
		run, _, _ := strings.Cut(strings.TrimPrefix(ref, ours), "/")
		is, known := old[run]
		if !known {
			is = run != m.Run && w.lastUse(run).Before(time.Now().Add(-m.Age))
			old[run] = is
		}
		if is {
			pruned = true
			lines = append(lines, "delete "+ref)
		}
	}
	var made []string // before anything is deleted
	for hash := range keep {
		if !had[hash] {
			made = append(made, "update "+keepRef+hash+" "+hash)
		}
	}
	lines = append(made, lines...)
	const batch = 1000
	for len(lines) > 0 {
		n := min(len(lines), batch)
		in := strings.NewReader(strings.Join(lines[:n], "\n") + "\n")
		if _, err := w.run(ctx, call{gitDir: w.gitDir, in: in, args: []string{"update-ref", "--stdin"}}); err != nil {
			return false, err
		}
		lines = lines[n:]
	}
	if pruned {
		w.removeEmpty("refs/nightporter")
		w.removeEmpty("logs/refs/nightporter")
	}
	return pruned, nil
}

// existing returns those of the hashes that name objects of the repository.
func (w *Workspace) existing(ctx context.Context, hashes []string) (map[string]bool, error) {
	there := map[string]bool{}
	if len(hashes) == 0 {
		return there, nil
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(strings.Join(hashes, "\n") + "\n"), args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype)"}})
	for line := range strings.Lines(string(out)) {
		hash, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "tree" || kind == "commit" {
			there[hash] = true
		}
	}
	return there, err
}

// lastUse returns when a run began or last captured a session, whichever is later:
// the time of the log of its base. A run without one counts as used now.
func (w *Workspace) lastUse(run string) time.Time {
	info, err := os.Stat(w.baseLog(run))
	if err != nil {
		return time.Now()
	}
	return info.ModTime()
}

func (w *Workspace) baseLog(run string) string {
	return filepath.Join(w.gitDir, "logs", filepath.FromSlash(w.hiddenRef(run, "base")))
}
