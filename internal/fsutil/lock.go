package fsutil

import (
	"errors"
	"os"
	"syscall"
)

// Lock locks a folder among all programs that do the same, and returns the call
// that unlocks it. It waits for another holder, and ends with the process.
func Lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	return func() { _ = f.Close() }, nil // unlocks
}
