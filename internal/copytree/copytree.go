// Package copytree copies folders and files on one machine, sharing their content
// where the file system can.
package copytree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Copy copies a folder with modes, times and owners, where the file system
// can by sharing the content. It follows no link; devices, pipes and sockets are
// left out. The target may exist and be empty.
func Copy(from, to string) error {
	type folderTimes struct {
		path string
		info fs.FileInfo
	}
	var folders []folderTimes
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			if err := os.Mkdir(target, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			folders = append(folders, folderTimes{target, info})
			return copyOwner(target, info)
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(p)
			if err != nil {
				return err
			}
			if err := os.Symlink(link, target); err != nil {
				return err
			}
			return copyOwner(target, info)
		case info.Mode().IsRegular():
			return copyWithInfo(p, target, info)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	// A folder's time changes with each file that is made in it.
	for i := len(folders) - 1; i >= 0; i-- {
		f := folders[i]
		if err := errors.Join(os.Chmod(f.path, f.info.Mode().Perm()), os.Chtimes(f.path, time.Time{}, f.info.ModTime())); err != nil {
			return fmt.Errorf("copy %s: %w", from, err)
		}
	}
	return nil
}

// copyOwner gives a path the owner in info, which only root can do.
func copyOwner(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(st.Uid), int(st.Gid))
}

// copyWithInfo copies a file with owner, mode and time.
func copyWithInfo(from, to string, info fs.FileInfo) error {
	if err := File(from, to); err != nil {
		return err
	}
	if err := copyOwner(to, info); err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, info.Mode().Perm()), os.Chtimes(to, time.Time{}, info.ModTime()))
}

// File copies a file's content into a new file or over an existing one.
func File(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if err := clone(out, in); err != nil {
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	}
	return out.Close()
}
