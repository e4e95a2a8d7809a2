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
	w := watch{files: func() []*sharedFile { return []*sharedFile{s.file} }}
	return w.run(ctx, changed)
}

// watch looks for changes of files of one repository.
type watch struct {
	files   func() []*sharedFile // the source's own file first; which others belong to it may change
	entries []string             // folders whose new files belong to it as well

	last map[string]contentHash // by path, of the last look
	seen map[string]settle.Stamp
	real map[string]string // path with links resolved, at the last look
}

// run calls changed for each change, until ctx ends.
func (w *watch) run(ctx context.Context, changed func()) error {
	var events chan fsnotify.Event
	var overflows chan error
	fsw, err := fsnotify.NewWatcher()
	if err == nil {
		defer fsw.Close()
		events, overflows = fsw.Events, fsw.Errors
	}
	look := func() {
		differs := w.look(ctx, fsw)
		if differs && ctx.Err() == nil {
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
			if !w.isRelevant(ev) {
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
			if w.moved() {
				quiet.Reset(debounce)
			}
		case <-quiet.C:
			since = time.Time{}
			look()
		}
	}
}

// look reads all files and reports whether one has another content than at the last
// look, or than when it was read, if it was not looked at before.
func (w *watch) look(ctx context.Context, fsw *fsnotify.Watcher) (differs bool) {
	files := w.files()
	last := make(map[string]contentHash, len(files))
	w.seen, w.real = make(map[string]settle.Stamp, len(files)), make(map[string]string, len(files))
	for _, f := range files {
		w.seen[f.path], w.real[f.path] = f.stamp(), f.realPath()
	}
	if fsw != nil {
		// A folder may have been replaced by another one of the same name.
		for _, dir := range slices.Concat(w.folders(files), w.entries) {
			_ = fsw.Add(dir) // without it, lookAgain decides
		}
	}
	for _, f := range files {
		before, looked := w.last[f.path]
		if !looked {
			f.mu.Lock()
			before = f.lastRead
			f.mu.Unlock()
		}
		now := f.currentHash(ctx)
		differs = differs || now != before
		last[f.path] = now
	}
	if ctx.Err() == nil {
		w.last = last
	}
	return differs
}

// moved reports whether a file has another stamp than at the last look.
func (w *watch) moved() bool {
	for _, f := range w.files() {
		if seen, looked := w.seen[f.path]; !looked || f.stamp() != seen {
			return true
		}
	}
	return false
}

// stamp returns what identifies the file's present state, zero if there is none.
func (p sourcePath) stamp() settle.Stamp {
	path, err := p.target()
	if err != nil {
		return settle.Stamp{}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return settle.Stamp{}
	}
	return settle.StampOf(info)
}

// absent is the hash of a file that does not exist, which no text has.
var absent = contentHash{1}

// currentHash returns the hash of the current content, and one that no text has for
// each reason why it cannot be read: the next Read reports it.
func (f *sharedFile) currentHash(ctx context.Context) contentHash {
	path, err := f.target()
	if err == nil {
		var data []byte
		if data, _, err = f.readSettled(ctx, path); err == nil {
			return hashOf(data)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return absent
	}
	unreadable := hashOf([]byte(err.Error()))
	unreadable[0]++
	return unreadable
}

// folders returns the folders whose entries determine the files: those from the
// repository's down to each file's, and those of a link's target.
func (w *watch) folders(files []*sharedFile) []string {
	var dirs []string
	known := map[string]bool{}
	for _, f := range files {
		if !known[f.repo] {
			known[f.repo] = true
			dirs = append(dirs, f.repo)
		}
		for _, p := range []string{f.path, w.real[f.path]} {
			for dir := dirOf(p); !known[dir] && strings.HasPrefix(dir, f.repo+string(filepath.Separator)); dir = dirOf(dir) {
				known[dir] = true
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}

// realPath returns the resolved path, or the path itself when that is unknown.
func (p sourcePath) realPath() string {
	if real, err := p.target(); err == nil {
		return real
	}
	return p.path
}

// isRelevant reports whether an event can affect a file. The folders above them have
// many others.
func (w *watch) isRelevant(ev fsnotify.Event) bool {
	if ev.Op == fsnotify.Chmod {
		return false
	}
	if slices.Contains(w.entries, dirOf(ev.Name)) && !strings.HasPrefix(filepath.Base(ev.Name), ".") {
		return true
	}
	for path, real := range w.real {
		for _, p := range []string{path, real} {
			if ev.Name == p || strings.HasPrefix(p, ev.Name+string(filepath.Separator)) {
				return true
			}
		}
	}
	return false
}

func dirOf(path string) string { return filepath.Dir(path) }
