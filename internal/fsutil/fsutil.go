// Package fsutil writes files so that a crash leaves either the old one or the
// new one.
//
// It is for folders of nightporter's own. What lies in a folder that others
// write to is opened below an os.Root, with more care than this package takes.
package fsutil

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes a file whole or not at all, as far as other processes see. It
// does not wait for the disk: for that, SyncDir is not enough either, and the
// caller syncs the file itself.
func Replace(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// SyncDir makes the names in a folder last: what was created, renamed or
// removed in it before is on the disk when it returns.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
