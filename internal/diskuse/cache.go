package diskuse

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/fsutil"
)

// Files that the owners of caches and layers know: loop/agent and
// loop/workspace.
const (
	cacheBase   = "base"       // what trusted commands of a project wrote
	goneFolder  = ".gone"      // what is being removed
	layerRecord = "layer.json" // its time says when a layer was used; without it a folder is no layer
)

// keptUsed is how long a cache is kept after its last use, whatever the bound: a
// night would make again what the next night drops.
const keptUsed = 24 * time.Hour

// cacheItem is a cache or a layer that can be dropped by itself.
type cacheItem struct {
	project string
	path    string
	used    time.Time
	layer   bool
}

// Trimmed is what Trim did.
type Trimmed struct {
	Items int   // dropped
	Freed int64 // bytes
	Left  int64 // bytes of all caches and layers afterwards
}

// Trim drops caches and layers of setup until all of them together take at most
// bound bytes, those first that were used longest ago. It spares the projects
// that busy reports, and whatever was used in the last 24 hours.
func Trim(ctx context.Context, state string, bound int64, now time.Time, busy func(project string) bool) (Trimmed, error) {
	m := meter{ctx: ctx, seen: map[inode]bool{}}
	var done Trimmed
	for _, dir := range []string{"caches", "rooms"} {
		done.Left += m.size(filepath.Join(state, dir))
	}
	items := cacheItems(state)
	slices.SortStableFunc(items, func(a, b cacheItem) int { return cmp.Compare(a.used.UnixNano(), b.used.UnixNano()) })
	var errs []error
	for _, item := range items {
		if done.Left <= bound || now.Sub(item.used) < keptUsed {
			break
		}
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		if busy(item.project) {
			continue
		}
		one := meter{ctx: ctx, seen: map[inode]bool{}}
		size := one.size(item.path)
		dropped, err := item.drop()
		if err != nil {
			errs = append(errs, err)
		}
		if !dropped {
			continue
		}
		done.Items, done.Freed, done.Left = done.Items+1, done.Freed+size, done.Left-size
	}
	return done, errors.Join(errs...)
}

// cacheItems returns all caches and layers. The base of a project counts as used
// when any of its caches was, because all lie over it, and follows them.
func cacheItems(state string) (items []cacheItem) {
	for _, path := range glob(filepath.Join(state, "caches"), "*/*") {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() {
			continue
		}
		items = append(items, cacheItem{project: filepath.Base(filepath.Dir(path)), path: path, used: info.ModTime()})
	}
	newest := map[string]time.Time{}
	for _, i := range items {
		if i.used.After(newest[i.project]) {
			newest[i.project] = i.used
		}
	}
	for n, i := range items {
		if filepath.Base(i.path) == cacheBase {
			items[n].used = newest[i.project].Add(1)
		}
	}
	for _, path := range glob(filepath.Join(state, "rooms"), "*/layers/*") {
		info, err := os.Lstat(filepath.Join(path, layerRecord))
		if errors.Is(err, fs.ErrNotExist) {
			info, err = os.Lstat(path) // a layer that is half removed
		}
		if err != nil {
			continue
		}
		project := filepath.Base(filepath.Dir(filepath.Dir(path)))
		items = append(items, cacheItem{project: project, path: path, used: info.ModTime(), layer: true})
	}
	return items
}

// drop removes the item, unless it was used since it was listed. Whoever uses a
// cache or a layer sets its time under the same lock before it is mounted, so a
// session that starts at this moment either keeps it or makes it anew.
func (i cacheItem) drop() (dropped bool, err error) {
	dir := filepath.Dir(i.path)
	if i.layer {
		dir = filepath.Dir(dir)
	}
	unlock, err := fsutil.Lock(dir)
	if err != nil {
		return false, err
	}
	defer unlock()
	for _, now := range cacheItems(filepath.Dir(filepath.Dir(dir))) {
		if now.path == i.path && now.used.After(i.used) {
			return false, nil
		}
	}
	if i.layer {
		// Without its record a layer that is half removed is none.
		if err := os.Remove(filepath.Join(i.path, layerRecord)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		return true, removeAll(i.path)
	}
	gone := filepath.Join(dir, goneFolder)
	if err := removeAll(gone); err != nil {
		return false, err
	}
	if err := os.Rename(i.path, gone); err != nil {
		return false, err
	}
	return true, removeAll(gone)
}

// removeAll is os.RemoveAll that also removes folders without permissions, such
// as the kernel's own of an overlay and those of Go's module cache.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700) // if this fails, RemoveAll returns the error
		}
		return nil
	})
	return os.RemoveAll(dir)
}
