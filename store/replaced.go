package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// checkFile returns an ErrDisk if the database's file was deleted, moved away or
// replaced since it was opened. SQLite itself goes on writing into the old file,
// which nobody would find again. The same file in its place again is well. It is
// called before each transaction and costs a microsecond.
func (s *Store) checkFile() error {
	if s.file == nil {
		return nil // not a file of the operating system (OpenOn)
	}
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was deleted or moved away while in use: put the same file back, or stop nightporter and restore a backup", ErrDisk, s.path)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDisk, err)
	case !os.SameFile(s.file, now):
		return fmt.Errorf("%w: %s was replaced while in use: stop nightporter, and start it again on the file that is to be used", ErrDisk, s.path)
	}
	return nil
}
