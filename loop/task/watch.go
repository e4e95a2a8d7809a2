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

// debounce is how long a folder must be quiet before the file is read, because
// one save causes several events.
const debounce = 100 * time.Millisecond

// contentHash identifies a content. The zero value means that nothing has been
// read.
type contentHash [sha256.Size]byte

func hashOf(data []byte) contentHash { return sha256.Sum256(data) }

// Watch implements Source. It compares contents: rewriting the same text is no
// change, and a change between Read and Watch counts. So does a content that this
// Source has not read at all: it may have changed while no process watched it.
// Removing the file is a change, and so is its return.
func (s *planSource) Watch(ctx context.Context, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", s.rel, err)
	}
	defer w.Close()
	if err := s.watchFolders(w); err != nil {
		return fmt.Errorf("watch %s: %w", s.rel, err)
	}
	s.file.mu.Lock()
	last := s.file.lastRead
	s.file.mu.Unlock()
	look := func() {
		// The folder may have been replaced by another one of the same name.
		_ = s.watchFolders(w)
		now, ok := s.currentHash(ctx)
		if !ok || ctx.Err() != nil || now == last {
			return
		}
		last = now
		changed()
	}
	look()
	quiet := time.NewTimer(debounce)
	quiet.Stop()
	defer quiet.Stop()
	var since time.Time // time of the first event since the last read
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev, ok := <-w.Events:
			if !ok {
				return nil
			}
			if !s.isRelevant(ev) {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			// A file that is written all the time is still read now and then.
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

// currentHash returns the hash of the current content. It reports false when
// the file exists but cannot be read: the next Read reports that error.
func (s *planSource) currentHash(ctx context.Context) (contentHash, bool) {
	path, err := s.target()
	if err == nil {
		var data []byte
		if data, _, err = s.file.readSettled(ctx, path); err == nil {
			return hashOf(data), true
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return contentHash{1}, true
	}
	return contentHash{}, false
}

// folders returns the folders whose entries determine the file behind the
// plan's path: those from the repository's down to the plan's, and those of a
// link's target.
func (s *planSource) folders() []string {
	dirs := []string{s.repo}
	for _, p := range []string{s.path, s.realPath()} {
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

// realPath returns the plan's resolved path, or its own path when that is
// unknown.
func (s *planSource) realPath() string {
	if real, err := s.target(); err == nil {
		return real
	}
	return s.path
}

// watchFolders watches all folders that exist. Only a missing repository folder
// is an error.
func (s *planSource) watchFolders(w *fsnotify.Watcher) error {
	for _, dir := range s.folders() {
		if err := w.Add(dir); err != nil && (dir == s.repo || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// isRelevant reports whether an event can affect the plan. The folders above it
// have many others.
func (s *planSource) isRelevant(ev fsnotify.Event) bool {
	if ev.Op == fsnotify.Chmod {
		return false
	}
	real := s.realPath()
	for _, p := range []string{s.path, real} {
		if ev.Name == p || strings.HasPrefix(p, ev.Name+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

func dirOf(path string) string { return filepath.Dir(path) }
