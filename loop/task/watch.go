package task

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// debounce is how long a folder must be quiet before the file is looked at:
// one save is several events.
const debounce = 100 * time.Millisecond

// contentHash is zero for nothing seen yet.
type contentHash [sha256.Size]byte

// hashOf never is zero in practice.
func hashOf(data []byte) contentHash { return sha256.Sum256(data) }

// Watch implements Source. It compares content, so that a touched or
// identically rewritten file is no change, and one that was changed between
// Read and Watch is. A file that is gone is a change too, and so is its return.
func (s *planSource) Watch(ctx context.Context, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", s.rel, err)
	}
	defer w.Close()
	if err := s.arm(w); err != nil {
		return fmt.Errorf("watch %s: %w", s.rel, err)
	}
	s.file.mu.Lock()
	last := s.file.seen
	s.file.mu.Unlock()
	look := func() {
		// The folder may be a new one of the same name since the last look.
		_ = s.arm(w)
		now, ok := s.look(ctx)
		if !ok || ctx.Err() != nil || now == last {
			return
		}
		first := last == contentHash{}
		if last = now; !first {
			changed()
		}
	}
	look()
	quiet := time.NewTimer(debounce)
	quiet.Stop()
	defer quiet.Stop()
	var since time.Time // of the first event that was not looked at yet
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-w.Events:
			if !ok {
				return nil
			}
			if !s.concerns(ev) {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			// A file that is written without end is looked at now and then.
			quiet.Reset(max(0, min(debounce, time.Until(since.Add(10*debounce)))))
		case err, ok := <-w.Errors:
			if !ok {
				return nil
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch %s: %w", s.rel, err)
			}
			quiet.Reset(debounce)
		case <-quiet.C:
			since = time.Time{}
			look()
		}
	}
}

// look hashes what the plan is now. It knows nothing (false) where the file
// is there and cannot be read: that is told by the next Read.
func (s *planSource) look(ctx context.Context) (contentHash, bool) {
	path, err := s.target()
	if err == nil {
		var data []byte
		if data, _, err = s.file.settled(ctx, path); err == nil {
			return hashOf(data), true
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return contentHash{1}, true
	}
	return contentHash{}, false
}

// folders are the folders whose entries decide what the plan's path names:
// all from the repository's down to the plan's, and that of a link's target.
func (s *planSource) folders() []string {
	dirs := []string{s.repo}
	for _, p := range []string{s.path, s.real()} {
		var up []string
		for dir := dirOf(p); dir != s.repo && strings.HasPrefix(dir, s.repo+string(filepath.Separator)); dir = dirOf(dir) {
			up = append(up, dir)
		}
		slices.Reverse(up)
		dirs = append(dirs, up...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// real is where the plan is, or its own path when that is unknown.
func (s *planSource) real() string {
	if real, err := s.target(); err == nil {
		return real
	}
	return s.path
}

// arm watches every folder that is there; only without the repository's own
// is there nothing to wait for.
func (s *planSource) arm(w *fsnotify.Watcher) error {
	for _, dir := range s.folders() {
		if err := w.Add(dir); err != nil && (dir == s.repo || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// concerns leaves out the bustle of the folders on the way.
func (s *planSource) concerns(ev fsnotify.Event) bool {
	if ev.Op == fsnotify.Chmod {
		return false
	}
	real := s.real()
	for _, p := range []string{s.path, real} {
		if ev.Name == p || strings.HasPrefix(p, ev.Name+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

func dirOf(path string) string { return filepath.Dir(path) }
