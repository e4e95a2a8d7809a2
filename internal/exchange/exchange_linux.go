package exchange

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Files swaps two names of one folder atomically (renameat2(2)). It returns
// errors.ErrUnsupported where the file system cannot.
func Files(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
