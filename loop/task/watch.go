package task

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/nightporter/nightporter/internal/settle"
)

// debounce is how long a folder must be quiet before the file is read, because
// one save causes several events.
const debounce = 100 * time.Millisecond

// contentHash identifies a content. The zero value means that nothing has been
// read.
type contentHash [sha256.Size]byte

func hashOf(data []byte) contentHash { return sha256.Sum256(data) }

// lookAgain is the longest time between two looks at the file. No event tells of a
// mount, of a repository that was renamed and comes back, or of what another machine
// writes; and a system may have no watches left.
const lookAgain = 2 * time.Second

// Watch implements Source. It compares contents: rewriting the same text is no
// change, and a change between Read and Watch counts. So does a content that this
// Source has not read at all: it may have changed while no process watched it.
// Removing the file is a change, and so is its return.
func (s *fileSource) Watch(ctx context.Context, changed func()) error {
	var events chan fsnotify.Event
	var overflows chan error
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		events, overflows = w.Events, w.Errors
	}
	s.file.mu.Lock()
	last := s.file.lastRead
	s.file.mu.Unlock()
	var seen settle.Stamp // of the last look, which other events may have caused
	look := func() {
		seen = s.stamp()
		if w != nil {
			// The folder may have been replaced by another one of the same name.
			s.watchFolders(w)
		}
		if now := s.currentHash(ctx); now != last && ctx.Err() == nil {
			last = now
			changed()
		}
	}
	look()
	quiet := time.NewTimer(debounce)
	quiet.Stop()
	defer quiet.Stop()
	slow := time.NewTicker(lookAgain)
	defer slow.Stop()
	var since time.Time // time of the first event since the last read
	for {
		select {
		case <-ctx.Done():
			return nil
		case ev := <-events:
			if !s.isRelevant(ev) {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			// A file that is written all the time is still read now and then.
			quiet.Reset(max(0, min(debounce, time.Until(since.Add(10*debounce)))))
		case <-overflows:
			quiet.Reset(debounce)
		case <-slow.C:
			if s.stamp() != seen {
				quiet.Reset(debounce)
			}
		case <-quiet.C:
			since = time.Time{}
			look()
		}
	}
}

// stamp returns what identifies the file's present state, zero if there is none.
func (s *fileSource) stamp() settle.Stamp {
	path, err := s.target()
	if err != nil {
		return settle.Stamp{}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return settle.Stamp{}
	}
	return settle.StampOf(info)
}

// currentHash returns the hash of the current content, and one that no text has for
// each reason why it cannot be read: the next Read reports it.
func (s *fileSource) currentHash(ctx context.Context) contentHash {
	path, err := s.target()
	if err == nil {
		var data []byte
		if data, _, err = s.file.readSettled(ctx, path); err == nil {
			return hashOf(data)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return contentHash{1}
	}
	unreadable := hashOf([]byte(err.Error()))
	unreadable[0]++
	return unreadable
}

// folders returns the folders whose entries determine the file behind the
// plan's path: those from the repository's down to the plan's, and those of a
// link's target.
func (s *fileSource) folders() []string {
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
func (s *fileSource) realPath() string {
	if real, err := s.target(); err == nil {
		return real
	}
	return s.path
}

// watchFolders watches all folders that exist.
func (s *fileSource) watchFolders(w *fsnotify.Watcher) {
	for _, dir := range s.folders() {
		_ = w.Add(dir) // without it, lookAgain decides
	}
}

// isRelevant reports whether an event can affect the plan. The folders above it
// have many others.
func (s *fileSource) isRelevant(ev fsnotify.Event) bool {
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
