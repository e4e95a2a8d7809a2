package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/copytree"
	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// A project's caches are seen by every session at STATE/cache/PROJECT. What lies
// there depends on who uses them, because a session that could write the caches of
// its own verification could make broken code pass (docs/spec 9.5). Below
// STATE/caches/PROJECT are
//
//	base            what trusted commands downloaded and built
//	NAME/0, NAME/1  what the sessions of a name wrote: over base, and over each
//	                folder that the configuration names as a cache
//	NAME/copy       the same on a machine without overlays: a copy of base with
//	                what the sessions of the name wrote
//
// Without overlays sessions see base or a copy there, by a link where the boundary
// has no mounts, and share the folders that the configuration names. A link leads to one
// place at a time: sessions that work beside others see their caches where they lie.
const (
	cacheBase   = "base"
	cacheCopy   = "copy"
	cacheOwn    = "own"     // the caches of a session without a name for them
	cacheGone   = ".gone"   // what is being removed
	cacheKernel = ".kernel" // ends the name of the kernel's folder of an overlay
)

// maxCaches limits the names whose writes are kept. The one that was used longest
// ago goes first, but none that a session in flight works with.
const maxCaches = 32

// prepareCaches prepares the caches of a session and adds them to its plan.
func (r *Runner) prepareCaches(l ledger.Launch, p *plan) error {
	root := r.cacheRoot(l.Project)
	for _, dir := range []string{filepath.Dir(root), root} {
		if err := makeDir(dir, r.folderMode()); err != nil {
			return err
		}
	}
	at, base := r.seenCaches(l), filepath.Join(root, cacheBase)
	c := cacheSet{r: r, root: root, use: l.Cache}
	if c.use.Name == "" {
		c.use.Name, c.use.Anew = cacheOwn, true
	}
	for _, name := range []string{c.use.Name, c.use.Over} {
		if name != "" {
			if err := checkName("caches", name); err != nil {
				return err
			}
		}
	}
	granted := slices.Concat(r.o.Cache, r.o.Projects[l.Project].Cache)
	p.Write = slices.Concat(p.Write, []string{at}, granted)
	if err := c.reserve(base); err != nil {
		return err
	}
	whole := base // the caches, unless they are an overlay
	overlays, _ := r.Mounts()
	if !overlays && !c.use.Trusted {
		var err error
		if whole, err = c.copy(base); err != nil {
			return err
		}
	}
	if p.Level < 3 {
		if at == whole {
			return nil
		}
		return c.link(at, whole)
	}
	if err := r.makeMountPoint(at); err != nil {
		return err
	}
	if c.use.Trusted || !overlays {
		p.Mounts = append(p.Mounts, ledger.Mount{At: at, Upper: whole})
		return nil
	}
	for i, dir := range append([]string{at}, granted...) {
		lower := dir
		if i == 0 {
			lower = base
		}
		m, err := c.overlay(strconv.Itoa(i), dir, lower)
		if err != nil {
			return err
		}
		p.Mounts = append(p.Mounts, m)
	}
	return nil
}

// seenCaches returns the folder at which a session sees its caches.
func (r *Runner) seenCaches(l ledger.Launch) string {
	level, _ := r.Level()
	switch {
	case level == 3 || !l.Cache.Beside:
		return r.cache(l.Project)
	case l.Cache.Trusted:
		return filepath.Join(r.cacheRoot(l.Project), cacheBase)
	}
	return filepath.Join(r.cacheRoot(l.Project), cmp.Or(l.Cache.Name, cacheOwn), cacheCopy)
}

// cacheSet is the caches of one project for one session.
type cacheSet struct {
	r    *Runner
	root string // STATE/caches/PROJECT
	use  ledger.CacheUse
}

// overlay returns the mount of cache folder number n at a path.
func (c cacheSet) overlay(n, at, lower string) (ledger.Mount, error) {
	m := ledger.Mount{At: at, Lower: []string{lower}, Upper: filepath.Join(c.root, c.use.Name, n)}
	m.Work = m.Upper + cacheKernel
	for _, dir := range []string{filepath.Dir(m.Upper), m.Upper, m.Work} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return m, err
		}
		if err := c.r.user.chown(dir); err != nil {
			return m, err
		}
	}
	if c.use.Over != "" {
		over := filepath.Join(c.root, c.use.Over, n)
		if fi, err := os.Stat(over); err == nil && fi.IsDir() {
			m.Lower = append([]string{over}, m.Lower...)
		}
	}
	return m, nil
}

// reserve marks the caches of the session as used, before they are mounted. Under
// the lock that diskuse.Trim takes: what it finds marked, it does not drop.
func (c cacheSet) reserve(base string) error {
	unlock, err := fsutil.Lock(c.root)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.r.makeCache(base); err != nil {
		return err
	}
	now := time.Now()
	if err := os.Chtimes(base, now, now); err != nil {
		return err
	}
	if c.use.Trusted {
		return nil
	}
	return c.forget()
}

// forget removes what was written under the name if the session asks for it, and
// under the names that were used longest ago.
func (c cacheSet) forget() error {
	if c.use.Anew {
		if err := c.drop(c.use.Name); err != nil {
			return err
		}
	}
	now := time.Now()
	for _, name := range []string{c.use.Name, c.use.Over} {
		if name == "" {
			continue
		}
		if err := os.Chtimes(filepath.Join(c.root, name), now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	entries, err := os.ReadDir(c.root)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() || e.Name() == cacheBase || e.Name() == cacheGone })
	if len(entries) <= maxCaches {
		return nil
	}
	busy, err := c.r.cachesInUse(c.root)
	if err != nil {
		return err
	}
	used := func(e fs.DirEntry) int64 {
		fi, err := e.Info()
		if err != nil {
			return 0
		}
		return fi.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(used(b), used(a)) })
	for _, e := range entries[maxCaches:] {
		if busy[e.Name()] {
			continue
		}
		if err := c.drop(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// cachesInUse returns the names below a project's folder of caches that sessions in
// flight work with: their supervisors hold the locks of their folders, whichever daemon
// started them.
func (r *Runner) cachesInUse(root string) (map[string]bool, error) {
	sessions, err := os.ReadDir(filepath.Join(r.o.State, "sessions"))
	if err != nil {
		return nil, err
	}
	root = resolvePath(root)
	names := map[string]bool{}
	for _, e := range sessions {
		folder := r.folder(e.Name())
		if _, err := os.Lstat(filepath.Join(folder, fileExit)); err == nil {
			continue
		}
		held, err := lockHeld(folder)
		if err != nil {
			return nil, err
		}
		var s spec
		if !held || readJSON(filepath.Join(folder, fileSpec), &s) != nil {
			continue // it has no caches yet
		}
		paths := slices.Clone(s.Plan.Write)
		for _, m := range s.Plan.Mounts {
			paths = append(append(paths, m.Upper), m.Lower...)
		}
		for _, path := range paths {
			if rest, below := strings.CutPrefix(resolvePath(path), root+string(filepath.Separator)); below {
				name, _, _ := strings.Cut(rest, string(filepath.Separator))
				names[name] = true
			}
		}
	}
	return names, nil
}

// drop removes what was written under a name. A crash must not leave a part of it
// under that name: a module that lacks files breaks a build, where one that is
// missing is fetched again.
func (c cacheSet) drop(name string) error {
	gone := filepath.Join(c.root, cacheGone)
	if err := removeAll(gone); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(c.root, name), gone); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return removeAll(gone)
}

// makeMountPoint makes the folder at which sessions see their caches.
func (r *Runner) makeMountPoint(at string) error {
	if fi, err := os.Lstat(at); err == nil && !fi.IsDir() {
		if err := os.Remove(at); err != nil { // the link of a machine without overlays
			return err
		}
	}
	// The caches of an earlier release lay here, and every session could write
	// them.
	if old, err := os.ReadDir(at); err == nil && len(old) > 0 {
		if err := removeAll(at); err != nil {
			return err
		}
	}
	if err := makeDir(filepath.Dir(at), r.folderMode()); err != nil {
		return err
	}
	if err := os.Mkdir(at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return r.user.chown(at)
}

// copy returns the copy of base that belongs to the name, and makes it if
// necessary.
func (c cacheSet) copy(base string) (string, error) {
	target := filepath.Join(c.root, c.use.Name, cacheCopy)
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		return target, err
	}
	from := base
	if over := filepath.Join(c.root, c.use.Over, cacheCopy); c.use.Over != "" && isDir(over) {
		from = over
	}
	if err := errors.Join(makeDir(filepath.Dir(target), c.r.folderMode()), removeAll(target+".new"), copytree.Copy(from, target+".new")); err != nil {
		return "", fmt.Errorf("copy the caches: %w", err)
	}
	return target, os.Rename(target+".new", target)
}

// link makes the path lead to a folder of caches, where sessions have no mounts.
func (c cacheSet) link(at, target string) error {
	if now, err := os.Readlink(at); err == nil && now == target {
		return nil
	}
	if err := makeDir(filepath.Dir(at), c.r.folderMode()); err != nil {
		return err
	}
	if isDir(at) { // a mount point, or the caches of an earlier release, which any session could write
		if err := removeAll(at); err != nil {
			return err
		}
	}
	if err := errors.Join(removeAll(at+".new"), os.Symlink(target, at+".new")); err != nil {
		return err
	}
	return os.Rename(at+".new", at)
}

// isDir reports whether the path is a folder, and no link to one.
func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}
