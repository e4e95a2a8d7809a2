package demo

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
)

// embedded holds the sample repository, and for each act of the story the files
// that the agent writes. They are embedded files instead of strings, so that
// people can read and run them.
//
//go:embed all:sample script
var embedded embed.FS

// file is a file of a repository.
type file struct {
	path string // relative, with slashes
	data []byte
	mode fs.FileMode
}

// filesOf returns the files of a folder of content, sorted by path.
func filesOf(dir string) ([]file, error) {
	var list []file
	err := fs.WalkDir(embedded, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := embedded.ReadFile(p)
		if err != nil {
			return err
		}
		list = append(list, file{path: p[len(dir)+1:], data: data, mode: modeOf(data)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("demo files %s: %w", dir, err)
	}
	return list, nil
}

// sampleFile returns a file of the sample repository, or nil.
func sampleFile(name string) []byte {
	data, err := embedded.ReadFile(path.Join("sample", name))
	if err != nil {
		return nil
	}
	return data
}

// modeOf returns the mode for a file: scripts are executable. Embedded files
// have no mode.
func modeOf(data []byte) fs.FileMode {
	if bytes.HasPrefix(data, []byte("#!")) {
		return 0o755
	}
	return 0o644
}
