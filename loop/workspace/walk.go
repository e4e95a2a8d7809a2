package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// found is one thing in a folder, as lstat sees it.
type found struct {
	path  string // below the folder, with slashes
	kind  uint32 // S_IFMT bits
	mode  uint32 // permission bits
	size  int64
	uid   uint32
	gid   uint32
	links uint64
}

// maxPath is the length from which on a path is not descended into: the
// kernel's own limit is 4096 for the absolute one.
const maxPath = 3500

// walk visits everything below the folder root, parents before children, in
// the order of names, and never follows a symbolic link: each folder is opened
// relative to its parent. visit is given the open parent, under which the
// thing's name is base; it returns false to not go into a folder. left, where
// there is one, is called for a folder after its children.
//
// A folder that its owner cannot read, write and enter is made so first: a
// session can leave such ones, and git knows no mode of folders.
func walk(root string, visit func(parent int, base string, f found) (bool, error), left func(parent int, base string, f found) error) error {
	fd, err := unix.Open(root, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: root, Err: err}
	}
	return walkIn(os.NewFile(uintptr(fd), root), "", visit, left)
}

func walkIn(dir *os.File, prefix string, visit func(int, string, found) (bool, error), left func(int, string, found) error) error {
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	parent := int(dir.Fd())
	for _, e := range entries {
		base := e.Name()
		var st unix.Stat_t
		if err := unix.Fstatat(parent, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			if err == unix.ENOENT {
				continue
			}
			return fmt.Errorf("lstat %s: %w", prefix+base, err)
		}
		f := found{path: prefix + base, kind: st.Mode & unix.S_IFMT, mode: st.Mode & 0o7777, size: st.Size, uid: st.Uid, gid: st.Gid, links: uint64(st.Nlink)} //nolint:unconvert // not an uint64 on every system
		if f.kind == unix.S_IFDIR && f.mode&0o700 != 0o700 {
			f.mode |= 0o700
			if err := unix.Fchmodat(parent, base, f.mode, 0); err != nil {
				return fmt.Errorf("make %s readable: %w", f.path, err)
			}
		}
		in, err := visit(parent, base, f)
		if err != nil {
			return err
		}
		if f.kind != unix.S_IFDIR {
			continue
		}
		if in && len(f.path) < maxPath {
			fd, err := unix.Openat(parent, base, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("open %s: %w", f.path, err)
			}
			if err := walkIn(os.NewFile(uintptr(fd), f.path), f.path+"/", visit, left); err != nil {
				return err
			}
		}
		if left != nil && in {
			if err := left(parent, base, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeAccessible lets the owner into every folder below root.
func makeAccessible(root string) error {
	return walk(root, func(int, string, found) (bool, error) { return true, nil }, nil)
}

// removeBelow removes dir/rel and everything in it, never following a
// symbolic link out of dir. What is not there is no error.
func removeBelow(dir, rel string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = root.RemoveAll(rel)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// A folder without rights for its owner is in the way.
	if err := makeAccessible(dir); err != nil {
		return err
	}
	return root.RemoveAll(rel)
}
