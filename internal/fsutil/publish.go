package fsutil

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Publish gives a finished file its name in the same folder, and returns an error
// that is fs.ErrExist where the name is taken. It makes a link, because a rename
// would replace a file that another process has just made. On a file system without
// links, as some sticks and shares are, it looks and renames.
func Publish(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EPERM) {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &os.LinkError{Op: "publish", Old: from, New: to, Err: fs.ErrExist}
		}
		return err
	}
	return os.Rename(from, to)
}
