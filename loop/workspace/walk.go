package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// found is a path with the result of lstat.
type found struct {
	path  string // relative to the root, with slashes
	kind  uint32 // S_IFMT bits
	mode  uint32 // permission bits
	size  int64
	uid   uint32
	gid   uint32
	links uint64
	stat  unix.Stat_t // all of it
}

// maxPath is the length of the longest path that is entered: the kernel limits
// absolute paths to 4096 bytes.
const maxPath = 3500

// walk visits every path below root, parents before children, by name. It never
// follows a symbolic link, since it opens each folder relative to its parent.
// visit gets the open parent and the name base in it, and returns false to skip
// a folder's children.
//
// walk makes every folder accessible to its owner: a session can leave folders
// that are not, and git stores no modes of folders.
func walk(root string, visit func(parent int, base string, f found) (bool, error)) error {
	fd, err := unix.Open(root, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: root, Err: err}
	}
	return walkIn(os.NewFile(uintptr(fd), root), "", visit)
}

func walkIn(dir *os.File, prefix string, visit func(int, string, found) (bool, error)) error {
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
		bits := uint32(st.Mode) //nolint:unconvert // has 16 bits on some systems

		f := found{path: prefix + base, kind: bits & unix.S_IFMT, mode: bits & 0o7777, size: st.Size, uid: st.Uid, gid: st.Gid, links: uint64(st.Nlink), stat: st} //nolint:unconvert // not an uint64 on every system
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
			if err := walkIn(os.NewFile(uintptr(fd), f.path), f.path+"/", visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// readLink returns the target of a symbolic link.
func readLink(parent int, base string) (string, error) {
	buf := make([]byte, 4096) // the kernel's limit of a path
	n, err := unix.Readlinkat(parent, base, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// makeAccessible makes every folder below root accessible to its owner.
func makeAccessible(root string) error {
	return walk(root, func(int, string, found) (bool, error) { return true, nil })
}

// removeFiles removes what is no folder in and below a folder, and ends early with
// ctx: a session can leave any number of files. It does nothing for what is no
// folder.
func removeFiles(ctx context.Context, folder string) error {
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // removeBelow reports it
	}
	return walk(folder, func(parent int, base string, f found) (bool, error) {
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case f.kind == unix.S_IFDIR:
			return true, nil
		}
		return false, unix.Unlinkat(parent, base, 0)
	})
}

// removeBelow removes dir/rel with everything in it, and never follows a
// symbolic link out of dir. A missing path is no error.
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
	// A folder that is inaccessible to its owner cannot be removed. Only one that
	// lies in dir itself can be opened without following a link.
	top := dir
	if !strings.Contains(rel, "/") {
		top = filepath.Join(dir, rel)
		if err := root.Chmod(rel, 0o700); err != nil {
			return err
		}
	}
	if err := makeAccessible(top); err != nil {
		return err
	}
	return root.RemoveAll(rel)
}
