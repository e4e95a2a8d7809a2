package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Size limits of the files that are read. A config has a few kilobytes; a
// larger file is a mistake (a log, a picture) or hostile.
const (
	maxConfigBytes = 1 << 20
	maxHatBytes    = 256 << 10
)

// readDocument reads and parses a file of at most limit bytes. The problems
// concern the file as a whole, or its first syntax error.
func readDocument(file string, limit int64) (*document, []ledger.Diagnostic) {
	src, err := readFile(file, limit)
	if err != nil {
		p := ledger.Diagnostic{File: file, Text: err.Error()}
		if errors.Is(err, os.ErrNotExist) {
			p.Text = "file is missing"
		}
		return nil, []ledger.Diagnostic{p}
	}
	return parseDocument(file, src)
}

func readFile(file string, limit int64) ([]byte, error) {
	return readRegular(file, limit, os.Stat, os.OpenFile)
}

// openFlags include O_NONBLOCK: opening a FIFO without a writer would block for
// ever.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

const notRegular = "not a regular file"

// readRegular reads a regular file through stat and open. It checks the file's
// type before opening, because opening a device can have an effect, and again
// afterwards, because the file may have been replaced in between.
func readRegular(file string, limit int64, stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (*os.File, error)) ([]byte, error) {
	st, err := stat(file)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New(notRegular)
	}
	f, err := open(file, openFlags, 0)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return nil, errors.Unwrap(err)
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New(notRegular)
	}
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if int64(len(src)) > limit {
		return nil, fmt.Errorf("larger than %d kB, so it is not what it should be", limit>>10)
	}
	return src, nil
}

// readInside reads a regular file of a repository. It does not follow a link
// that leads out: through one, a repository could have any file of the host
// read.
func readInside(repo, file string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(repo)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel, err := filepath.Rel(repo, file)
	if err != nil {
		return nil, err
	}
	return readRegular(rel, limit, root.Stat, root.OpenFile)
}
