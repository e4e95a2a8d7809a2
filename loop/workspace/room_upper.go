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
	to := r.at(roomUpper)
	if !r.mounts {
		to = r.dir()
		if err := copytree.Copy(from, to); err != nil {
			return err
		}
	}
	index := r.at("upper-index")
	if err := copytree.File(r.at(layersDir, l.name, layerIndex), index); err != nil {
		return err
	}
	written, deleted, err := r.w.difference(ctx, l.Tree, r.tree)
	if err != nil {
		return err
	}
	if len(written)+len(deleted) > 0 {
		if _, err := r.w.run(ctx, call{gitDir: r.w.gitDir, index: index, args: []string{"read-tree", "-i", "-m", l.Tree, r.tree}}); err != nil {
			return err
		}
		checkout := func() error {
			_, err := r.w.run(ctx, call{gitDir: r.w.gitDir, work: to, index: index, in: zjoin(written), args: []string{"checkout-index", "--force", "--index", "-z", "--stdin"}})
			return err
		}
		remove := func() error { return r.remove(ctx, from, to, deleted) }
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
	if err := r.w.roomHead(ctx, to, index, l, r.tree, r.use); err != nil {
		return err
	}
	if err := r.w.addRoomFiles(ctx, to, r.tree); err != nil {
		return err
	}
	return r.w.chownBelow(to)
}

// difference returns the paths that one tree has with another content or mode
// than an earlier one, and those that it lacks. After a change of attributes
// every path counts as changed, because they may alter how a file is written.
func (w *Workspace) difference(ctx context.Context, from, to string) (written, deleted []string, err error) {
	if from == to {
		return nil, nil, nil
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to}})
	if err != nil {
		return nil, nil, err
	}
	fields := zlist(out)
	attributes := false
	for i := 0; i+1 < len(fields); i += 2 {
		attributes = attributes || path.Base(fields[i+1]) == ".gitattributes"
		if fields[i] == "D" {
			deleted = append(deleted, fields[i+1])
			continue
		}
		written = append(written, fields[i+1])
	}
	if attributes {
		entries, err := w.listTree(ctx, to)
		if err != nil {
			return nil, nil, err
		}
		written = written[:0]
		for _, e := range entries {
			written = append(written, e.path)
		}
	}
	return written, deleted, nil
}

// remove makes deleted paths and the folders that held nothing else absent from
// the room.
func (r *rooms) remove(ctx context.Context, from, to string, deleted []string) error {
	if len(deleted) == 0 {
		return nil
	}
	out, err := r.w.run(ctx, call{gitDir: r.w.gitDir, args: []string{"ls-tree", "-r", "-d", "-z", "--name-only", r.tree}})
	if err != nil {
		return err
	}
	folders := map[string]bool{".": true}
	for _, p := range zlist(out) {
		folders[p] = true
	}
	gone := map[string]bool{}
	for _, p := range deleted {
		gone[p] = true
	}
	tops := map[string]bool{}
	for _, p := range deleted {
		top := p
		for dir := path.Dir(p); !folders[dir]; dir = path.Dir(dir) {
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
	}, nil)
}
