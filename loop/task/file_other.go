//go:build !linux

package task

import (
	"errors"
	"io/fs"
)

// exchange is supported on Linux only.
func exchange(a, b string) error { return errors.ErrUnsupported }

// writeTemp writes a file beside path and returns its name.
func writeTemp(path string, data []byte, like fs.FileInfo) (string, error) {
	return writeNamed(path, data, like)
}
