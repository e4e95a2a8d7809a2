package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// folder is one of our work trees: a run's work folder, or one in which a layer is
// made. Its index and ignore rules lie beside it, where no session can reach
// them.
type folder struct {
	dir  string // such as STATE/runs/RUN
	name string // such as "work"
}

func (f folder) path() string  { return filepath.Join(f.dir, f.name) }
func (f folder) index() string { return filepath.Join(f.dir, f.name+"-index") }

// runDir returns the run's folder, and creates it if necessary.
func (w *Workspace) runDir(run string) (string, error) {
	if !runName.MatchString(run) {
		return "", fmt.Errorf("%q is no name of a run", run)
	}
	dir := filepath.Join(w.o.State, "runs", run)
	if err := w.makePassable(filepath.Dir(dir)); err != nil {
		return "", err
	}
	return dir, w.makePassable(dir)
}

// Restore makes a work folder hold exactly the files of a tree, hands
// it to the session user, and gives it a new .git whose HEAD is a commit of
// that tree. Ignored paths are kept: installed packages, caches. In a run with
// several lanes another lane may have changed what setup installs: then they are
// replaced by what setup made for the tree.
func (w *Workspace) Restore(ctx context.Context, use ledger.WorkUse) error {
	defer w.lock()()
	if err := w.restore(ctx, use); err != nil {
		return fmt.Errorf("restore %s: %w", use.Run, err)
	}
	return nil
}

func (w *Workspace) restore(ctx context.Context, use ledger.WorkUse) error {
	dir, err := w.laneDir(use.Run, use.Lane)
	if err != nil {
		return err
	}
	tree, err := w.filled(ctx, use.Tree)
	if err != nil {
		return err
	}
	f := folder{dir, "work"}
	own := selfIgnored(f)
	if err := os.Remove(filepath.Join(dir, savedCaptureFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ignored, err := w.importTree(ctx, f, tree, tree, own...)
	if err != nil {
		return err
	}
	ignored = append(ignored, own...)
	if use.Lanes > 1 && len(use.Setup) > 0 {
		if ignored, err = w.prepare(ctx, f, use, ignored); err != nil {
			return err
		}
	}
	// Files in the folder before the session starts are not the session's work,
	// even if the rules of the attempt's start would not ignore them.
	return writeDurably(filepath.Join(dir, "kept"), []byte(strings.Join(ignored, "\x00")))
}

// importTree makes a folder hold exactly the tree and the paths that the rules
// of another tree ignore, and returns the ignored paths.
//
// Where the index holds the tree already, as after most captures, the files are
// compared with it first, and git writes them only if one differs.
func (w *Workspace) importTree(ctx context.Context, f folder, tree, rules string, keep ...string) ([]string, error) {
	if err := f.ensure(); err != nil {
		return nil, err
	}
	// .git may be anything by now: a folder, a file, a link to the user's
	// repository.
	if err := removeBelow(f.path(), ".git"); err != nil {
		return nil, err
	}
	ignore, err := w.ignoreFile(ctx, f.dir, rules)
	if err != nil {
		return nil, err
	}
	var ignored []string
	state := treeIncomplete
	for written := f.readIndex(formatOf(tree)).tree != tree; ; written = true {
		if written {
			if err := w.checkout(ctx, f, tree); err != nil {
				return nil, err
			}
		}
		if ignored, err = w.ignored(ctx, f, ignore); err != nil {
			return nil, err
		}
		prune := newPathSet(ignored, keep)
		if state, err = w.removeExtra(ctx, f, tree, prune); err != nil {
			return nil, err
		}
		if state == treeIncomplete && written {
			if err := w.checkout(ctx, f, tree); err != nil {
				return nil, err
			}
			if state, err = w.removeExtra(ctx, f, tree, prune); err != nil {
				return nil, err
			}
		}
		if state == treeClean || written {
			break
		}
	}
	if state != treeClean {
		// Without a refresh git would read every stale file again at the capture.
		if _, err := w.run(ctx, call{gitDir: w.gitDir, work: f.path(), index: f.index(), args: []string{"update-index", "-q", "--refresh"}}); err != nil && exitCode(err) != 1 {
			return nil, err
		}
	}
	return ignored, w.newDotGit(ctx, f, tree)
}

// tidyTree is importTree for a folder that holds the tree already, and whose index
// does: it removes what git does not see, such as empty folders.
func (w *Workspace) tidyTree(ctx context.Context, f folder, tree string, ignored []string) error {
	if err := removeBelow(f.path(), ".git"); err != nil {
		return err
	}
	state, err := w.removeExtra(ctx, f, tree, newPathSet(ignored))
	if err != nil {
		return err
	}
	if state == treeIncomplete {
		_, err := w.importTree(ctx, f, tree, tree, ignored...)
		return err
	}
	return w.newDotGit(ctx, f, tree)
}

// ensure makes the folder, and replaces anything else of that name.
func (f folder) ensure() error {
	info, err := os.Lstat(f.path())
	if err == nil && !info.IsDir() {
		if err := os.Remove(f.path()); err != nil {
			return err
		}
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		os.Remove(f.index())
		return os.Mkdir(f.path(), 0o755)
	}
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		return os.Chmod(f.path(), 0o755)
	}
	return nil
}

// checkout writes the tree's files where they differ, and removes whatever is
// in their place. It follows no symbolic link.
func (w *Workspace) checkout(ctx context.Context, f folder, tree string) error {
	if err := w.dropStaleLock(ctx, f.index()+".lock"); err != nil {
		return err
	}
	read := func() error {
		if err := w.clearWay(ctx, f, tree); err != nil {
			return err
		}
		_, err := w.run(ctx, call{gitDir: w.gitDir, work: f.path(), index: f.index(), config: []string{"checkout.workers=0"}, // one for each core, from 100 files on
			args: []string{"read-tree", "--reset", "-u", tree}})
		return err
	}
	err := read()
	if err == nil || ctx.Err() != nil {
		return err
	}
	// The index may be damaged by a power cut, or the folder may be
	// inaccessible to its owner.
	os.Remove(f.index())
	if err := makeAccessible(f.path()); err != nil {
		return err
	}
	return read()
}

// ignored lists the paths of the folder that are in no index and that the rules
// ignore: files, and wholly ignored folders with a trailing slash.
func (w *Workspace) ignored(ctx context.Context, f folder, rules string) ([]string, error) {
	list := call{gitDir: w.gitDir, work: f.path(), index: f.index(),
		args: []string{"ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-from=" + rules}}
	out, said, err := w.runBoth(ctx, list)
	if err == nil && strings.Contains(said, "could not open directory") {
		if err := makeAccessible(f.path()); err != nil {
			return nil, err
		}
		out, err = w.run(ctx, list)
	}
	if err != nil {
		return nil, err
	}
	paths := zlist(out)
	// git also reports a folder as ignored if each file in it happens to match
	// a rule for files. A new file there might not match, so the folder has to
	// be read.
	single := paths[:0:0]
	for i, p := range paths {
		if strings.HasSuffix(p, "/") && (i+1 < len(paths) && strings.HasPrefix(paths[i+1], p)) {
			continue
		}
		single = append(single, p)
	}
	return single, nil
}

// treeState is how the tracked files of a folder compare with its index.
type treeState int

const (
	treeClean      treeState = iota // all are there, as git wrote or read them
	treeStale                       // all are there; git would have to read some
	treeIncomplete                  // some are missing
)

// removeExtra removes paths that are neither in the tree of the folder nor in kept,
// and makes the session user the owner of the rest, also in the index. After
// treeIncomplete another checkout is necessary.
func (w *Workspace) removeExtra(ctx context.Context, f folder, tree string, kept pathSet) (treeState, error) {
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return treeIncomplete, err
	}
	tracked, folders := make(map[string]bool, len(entries)), map[string]bool{}
	for _, e := range entries {
		p := e.path
		if e.mode == modeGitlink {
			folders[p] = true
		} else {
			tracked[p] = true
		}
		for i := strings.LastIndexByte(p, '/'); i > 0 && !folders[p[:i]]; i = strings.LastIndexByte(p[:i], '/') {
			folders[p[:i]] = true
		}
	}
	staged := f.readIndex(formatOf(tree))
	var extra []string
	there, clean := 0, 0
	err = walk(f.path(), func(parent int, base string, e found) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if kept.has(e.path) {
			return false, nil
		}
		isDir := e.kind == unix.S_IFDIR
		if isDir && !folders[e.path] && !kept.below(e.path) || !isDir && !tracked[e.path] {
			extra = append(extra, e.path)
			return false, nil
		}
		if isDir {
			return true, w.chownToSession(parent, base, e)
		}
		if e.kind == unix.S_IFREG {
			if e.links > 1 && w.o.SessionUID >= 0 && e.uid != uint32(w.o.SessionUID) {
				// The file is hard-linked: its owner would change elsewhere
				// too.
				extra = append(extra, e.path)
				return false, nil
			}
			if e.mode&0o600 != 0o600 {
				if err := unix.Fchmodat(parent, base, e.mode|0o600, 0); err != nil {
					return false, fmt.Errorf("make %s readable: %w", e.path, err)
				}
				there++
				return true, w.chownToSession(parent, base, e)
			}
		}
		there++
		if !staged.clean(e.path, &e.stat) {
			return true, w.chownToSession(parent, base, e)
		}
		clean++
		if !w.ownedBySession(e) {
			if err := w.chownToSession(parent, base, e); err != nil {
				return false, err
			}
			// The new owner alone would make git read the file again.
			var st unix.Stat_t
			if err := unix.Fstatat(parent, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return false, fmt.Errorf("lstat %s: %w", e.path, err)
			}
			if st.Ino == e.stat.Ino && st.Size == e.stat.Size && st.Mtim == e.stat.Mtim {
				staged.setOwner(e.path, &st)
			}
		}
		return true, nil
	})
	if err != nil {
		return treeIncomplete, err
	}
	for _, p := range extra {
		err := removeFiles(ctx, filepath.Join(f.path(), filepath.FromSlash(p)))
		if err == nil {
			err = removeBelow(f.path(), p)
		}
		if err != nil {
			return treeIncomplete, fmt.Errorf("remove %s: %w", p, err)
		}
	}
	if w.o.SessionUID >= 0 {
		if err := os.Lchown(f.path(), w.o.SessionUID, w.o.SessionGID); err != nil {
			return treeIncomplete, err
		}
	}
	if err := staged.save(); err != nil {
		return treeIncomplete, err
	}
	switch len(tracked) {
	case clean:
		return treeClean, nil
	case there:
		return treeStale, nil
	}
	return treeIncomplete, nil
}

// ownedBySession reports whether a path belongs to the session user, or to our own
// user if sessions run as that.
func (w *Workspace) ownedBySession(e found) bool {
	return w.o.SessionUID < 0 || e.uid == uint32(w.o.SessionUID) && e.gid == uint32(w.o.SessionGID)
}

// chownToSession makes the session user the owner of one path without following
// a link. It does nothing if sessions run as our own user.
func (w *Workspace) chownToSession(parent int, base string, e found) error {
	if w.ownedBySession(e) {
		return nil
	}
	if err := unix.Fchownat(parent, base, w.o.SessionUID, w.o.SessionGID, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("hand over %s: %w", e.path, err)
	}
	return nil
}

// pathSet is a set of paths; a path with a trailing slash stands for everything
// below it.
type pathSet struct {
	paths   map[string]bool // without the slash
	parents map[string]bool // folders above a path of the set
}

func newPathSet(lists ...[]string) pathSet {
	s := pathSet{map[string]bool{}, map[string]bool{}}
	for _, list := range lists {
		for _, p := range list {
			p = strings.TrimSuffix(p, "/")
			s.paths[p] = true
			for i := strings.LastIndexByte(p, '/'); i > 0 && !s.parents[p[:i]]; i = strings.LastIndexByte(p[:i], '/') {
				s.parents[p[:i]] = true
			}
		}
	}
	return s
}

// has reports whether a path itself is in the set. A walk from the top need not
// ask for the folders above a path, because it does not enter a folder in the
// set.
func (s pathSet) has(p string) bool { return s.paths[p] }

// below reports whether the set contains a path below the folder p.
func (s pathSet) below(p string) bool { return s.parents[p] }

// writeDurably replaces a file: after a crash it has the old or the new
// content.
func writeDurably(file string, data []byte) error {
	f, err := os.OpenFile(file+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
