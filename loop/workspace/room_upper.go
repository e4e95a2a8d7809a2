package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/copytree"
)

// lay writes what distinguishes the tree from its layer: into the upper folder
// of an overlay, or into a copy of the layer. What setup made stays, unless the
// tree has a file there. Unchanged files keep the layer's times, so that tools
// which go by them find their earlier work valid.
func (r *rooms) lay(ctx context.Context, l *layer) error {
	from := r.at(layersDir, l.name, layerTree)
	to := r.in(roomUpper)
	if !r.mounts {
		to = r.dir()
		if err := copytree.Copy(from, to); err != nil {
			return err
		}
	}
	index := r.in("upper-index")
	if err := copytree.File(r.at(layersDir, l.name, layerIndex), index); err != nil {
		return err
	}
	d, err := r.w.difference(ctx, l.Tree, r.tree)
	if err != nil {
		return err
	}
	if len(d.written)+len(d.deleted) > 0 {
		if _, err := r.w.run(ctx, call{gitDir: r.w.gitDir, index: index, args: []string{"read-tree", "-i", "-m", l.Tree, r.tree}}); err != nil {
			return err
		}
		checkout := func() error {
			_, err := r.w.run(ctx, call{gitDir: r.w.gitDir, work: to, index: index, in: zjoin(d.written), args: []string{"checkout-index", "--force", "--index", "-z", "--stdin"}})
			return err
		}
		remove := func() error { return r.remove(from, to, d) }
		// A copy has to be rid of a folder before a file takes its name. In an
		// upper folder the file comes first, and nothing has to be hidden then.
		first, second := remove, checkout
		if r.mounts {
			first, second = checkout, remove
		}
		if err := first(); err != nil {
			return err
		}
		if err := second(); err != nil {
			return err
		}
	}
	base, objects, err := r.commitBelow(ctx, l)
	if err != nil {
		return err
	}
	if err := r.w.roomHead(ctx, to, index, l, r.tree, r.use, append(d.objects, objects...)); err != nil {
		return err
	}
	if r.w.o.Hooks {
		if err := r.w.layHooks(from, to, base); err != nil {
			return fmt.Errorf("hooks: %w", err)
		}
	}
	if err := r.w.addRoomFiles(ctx, to, r.tree); err != nil {
		return err
	}
	return r.w.chownBelow(to)
}

// commitBelow returns the commit that a room's tree is to be committed on, for hooks,
// and the objects of its files that the layer's .git lacks. A committed tree has none.
func (r *rooms) commitBelow(ctx context.Context, l *layer) (base string, objects []string, err error) {
	if !r.w.o.Hooks || r.use.Parent == "" {
		return "", nil, nil
	}
	files, err := r.w.filled(ctx, r.use.Parent)
	if err != nil {
		return "", nil, err
	}
	d, err := r.w.difference(ctx, l.Tree, files)
	if err != nil {
		return "", nil, err
	}
	base = r.use.Parent
	if own, err := r.w.tree(ctx, base); err != nil || own == files {
		return base, d.objects, err
	}
	base, err = r.w.commitTree(ctx, commit{tree: files, parents: []string{r.use.Parent}, date: "@0 +0000", message: "What it builds on\n"})
	return base, append(d.objects, base), err
}

// treeDiff is what distinguishes a tree from an earlier one.
type treeDiff struct {
	written []string        // paths with another content or mode
	deleted []string        // paths that it lacks
	folders map[string]bool // folders that it lacks
	objects []string        // what the earlier tree may not have, itself included
}

// difference compares two trees. After a change of attributes every path counts as
// written, because they may alter how a file is written.
func (w *Workspace) difference(ctx context.Context, from, to string) (treeDiff, error) {
	d := treeDiff{folders: map[string]bool{}}
	if from == to {
		return d, nil
	}
	d.objects = []string{to}
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", from, to}})
	if err != nil {
		return d, err
	}
	records := zlist(out)
	attributes := false
	for i := 0; i+1 < len(records); i += 2 { // records alternate: ":MODE MODE HASH HASH STATUS", path
		f, p := strings.Fields(records[i]), records[i+1]
		if len(f) != 5 {
			return d, fmt.Errorf("git diff-tree answered %q", records[i])
		}
		deleted := f[4] == "D"
		if !deleted && f[1] != modeGitlink {
			d.objects = append(d.objects, f[3])
		}
		switch {
		case f[0] == ":"+modeTree || f[1] == modeTree:
			if deleted {
				d.folders[p] = true
			}
			continue
		case deleted:
			d.deleted = append(d.deleted, p)
		default:
			d.written = append(d.written, p)
		}
		attributes = attributes || path.Base(p) == ".gitattributes"
	}
	if attributes {
		entries, err := w.listTree(ctx, to)
		if err != nil {
			return d, err
		}
		d.written = d.written[:0]
		for _, e := range entries {
			d.written = append(d.written, e.path)
		}
	}
	return d, nil
}

// remove makes deleted paths and the folders that held nothing else absent from
// the room.
func (r *rooms) remove(from, to string, d treeDiff) error {
	gone := map[string]bool{}
	for _, p := range d.deleted {
		gone[p] = true
	}
	tops := map[string]bool{}
	for _, p := range d.deleted {
		top := p
		for dir := path.Dir(p); d.folders[dir]; dir = path.Dir(dir) {
			empty, err := holdsOnly(from, dir, gone)
			if err != nil {
				return err
			}
			if !empty {
				break
			}
			top = dir
		}
		tops[top] = true
	}
	for _, p := range slices.Sorted(maps.Keys(tops)) {
		if err := r.removeOne(to, p); err != nil {
			return err
		}
	}
	return nil
}

// holdsOnly reports whether every file below a folder is in a set of paths.
func holdsOnly(root, dir string, paths map[string]bool) (bool, error) {
	only := true
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err == nil && !d.IsDir() && !paths[filepath.ToSlash(rel)] {
			only = false
			return fs.SkipAll
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return only, err
}

// removeOne makes one path absent: by a whiteout in the upper folder of an
// overlay, which is a device of number 0 that any user may create, or by
// removing it from a copy. A path that the tree has in another form, a folder
// for a file or the reverse, is in place already.
func (r *rooms) removeOne(to, p string) error {
	if !r.mounts {
		return removeBelow(to, p)
	}
	parent := to
	for _, part := range strings.Split(path.Dir(p), "/") {
		if part == "." {
			break
		}
		parent = filepath.Join(parent, part)
		err := os.Mkdir(parent, 0o755)
		if err == nil {
			continue
		}
		info, serr := os.Lstat(parent)
		if !errors.Is(err, fs.ErrExist) || serr != nil {
			return errors.Join(err, serr)
		}
		if !info.IsDir() {
			return nil
		}
	}
	name := filepath.Join(to, filepath.FromSlash(p))
	if err := unix.Mknod(name, unix.S_IFCHR, 0); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("hide %s: %w", p, err)
	}
	return nil
}

// chownBelow makes the session user the owner of a folder and everything in it.
func (w *Workspace) chownBelow(root string) error {
	if w.o.SessionUID < 0 {
		return nil
	}
	if err := w.chownSession(root); err != nil {
		return err
	}
	return walk(root, func(parent int, base string, f found) (bool, error) {
		return true, w.chownToSession(parent, base, f)
	})
}
