package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// logSuffix is what SQLite appends to a database's path for its write-ahead log.
const logSuffix = "-wal"

// rewriteLog makes durable what the write-ahead log of a database shows. SQLite
// believes every whole commit that it finds there, also one whose sync failed or
// never came because the process died: the next power cut takes it back, after
// this program has acted on it. A sync alone does not help. Once one has failed,
// Linux counts the pages as written, and the next one reports success. So every
// byte is written again.
//
// No database of the path may be open in this process: others only read it, see
// Open. A log that is missing or empty needs nothing; Close leaves none.
func rewriteLog(path string) (err error) {
	f, err := os.OpenFile(path+logSuffix, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrDisk, err)
		}
	}()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf := make([]byte, 1<<18)
	for at := int64(0); ; {
		n, readErr := f.ReadAt(buf, at)
		if _, err := f.WriteAt(buf[:n], at); err != nil {
			return err
		}
		at += int64(n)
		switch {
		case readErr == nil:
		case !errors.Is(readErr, io.EOF):
			return readErr
		case at == 0:
			return nil
		default:
			return f.Sync()
		}
	}
}
