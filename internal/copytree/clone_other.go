//go:build !linux

package copytree

import (
	"errors"
	"os"
)

// clone fails: files are copied.
func clone(_, _ *os.File) error { return errors.ErrUnsupported }
