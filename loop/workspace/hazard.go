package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// attributesFile is what git opens in each folder whose files it compares or
// writes.
const attributesFile = ".gitattributes"

// clearWay removes what a session can leave in a folder to stop git's checkout of
// a tree, or to change what it writes. git opens the .gitattributes of each folder
// of the tree: a pipe of that name never answers, and a file that the tree does not
// have would convert line ends. A link in a folder's place leads elsewhere.
func (w *Workspace) clearWay(ctx context.Context, f folder, tree string) error {
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return err
	}
	files := map[string]bool{} // files of attributes that the tree has
	for _, e := range entries {
		if path.Base(e.path) == attributesFile {
			files[e.path] = true
		}
	}
	look := func(p string, fits func(fs.FileMode) bool) error {
		info, err := os.Lstat(filepath.Join(f.path(), filepath.FromSlash(p)))
		if errors.Is(err, fs.ErrNotExist) || err == nil && fits(info.Mode()) {
			return nil
		}
		if err != nil {
			return err
		}
		return removeBelow(f.path(), p)
	}
	inFolder := func(prefix string) error {
		p := prefix + attributesFile
		return look(p, func(m fs.FileMode) bool { return m.IsRegular() && files[p] })
	}
	if err := inFolder(""); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		// A folder comes before the folders in it, so no link above p is followed.
		for i, c := range e.path {
			p := e.path[:i]
			if c != '/' || seen[p] {
				continue
			}
			seen[p] = true
			if err := errors.Join(look(p, fs.FileMode.IsDir), inFolder(p+"/")); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseAttributes refuses pipes and the like in the place of attributes in the
// folders of the input tree, and removes them before git opens them. Those in
// other folders are left to scan.
func (l *sessionDiff) refuseAttributes(entries []treeEntry) error {
	root := l.folder.path()
	real := map[string]bool{".": true} // folders, by path; false for what took the place of one
	look := func(dir string) error {
		p := path.Join(dir, attributesFile)
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil || info.IsDir() || info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0 {
			return nil //nolint:nilerr // git cannot open it either
		}
		l.refused[p] = refusal{"is neither file nor link", "remove it when it is no longer needed, or make it in TMPDIR"}
		return removeBelow(root, p)
	}
	if err := look("."); err != nil {
		return err
	}
	for _, e := range entries {
		for i, c := range e.path {
			p := e.path[:i]
			if _, seen := real[p]; c != '/' || seen {
				continue
			}
			info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p)))
			real[p] = real[path.Dir(p)] && err == nil && info.IsDir()
			if !real[p] {
				continue
			}
			if err := look(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// cleanLayer removes from a folder in which setup ran what no layer can hold:
// pipes, sockets and devices; links to files of other users, who would lose them;
// paths that are too long to be opened. It makes the rest readable, so that a room
// can be a copy.
func (w *Workspace) cleanLayer(f folder) error {
	if err := f.ensure(); err != nil {
		return err
	}
	owner := os.Geteuid()
	if w.o.SessionUID >= 0 {
		owner = w.o.SessionUID
	}
	var extra []string
	err := walk(f.path(), func(parent int, base string, e found) (bool, error) {
		long := len(e.path) >= maxPath
		switch e.kind {
		case unix.S_IFDIR:
			if !long {
				return true, nil
			}
		case unix.S_IFLNK:
			if !long && (e.links == 1 || e.uid == uint32(owner)) {
				return false, nil
			}
		case unix.S_IFREG:
			if !long && (e.links == 1 || e.uid == uint32(owner)) {
				if e.mode&0o400 != 0 {
					return false, nil
				}
				if err := unix.Fchmodat(parent, base, e.mode|0o400, 0); err != nil {
					return false, fmt.Errorf("make %s readable: %w", e.path, err)
				}
				return false, nil
			}
		}
		extra = append(extra, e.path)
		return false, nil
	})
	if err != nil {
		return err
	}
	for _, p := range extra {
		if err := removeBelow(f.path(), p); err != nil {
			return fmt.Errorf("remove %s: %w", p, err)
		}
	}
	return nil
}
