//go:build !linux

package task

import "io/fs"

// writeTemp writes a file beside path and returns its name.
func writeTemp(path string, data []byte, like fs.FileInfo) (string, error) {
	return writeNamed(path, data, like)
}
