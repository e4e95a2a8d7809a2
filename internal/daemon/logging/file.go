package logging

import (
	"errors"
	"os"
	"sync"
)

// maxLog is the size in bytes at which a new log file begins. The previous one
// is kept with the suffix .1.
const maxLog = 20 << 20

// File is a log file that rotates by size. Safe for concurrent use.
type File struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

// Open opens the log for appending and creates a missing one.
func Open(path string) (*File, error) {
	l := &File{path: path}
	return l, l.open()
}

func (l *File) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write appends a line. If rotation fails, it continues in the old file: a log
// must not stop a night's work.
func (l *File) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(line)) > maxLog && os.Rename(l.path, l.path+".1") == nil {
		old := l.file
		if err := l.open(); err == nil {
			_ = old.Close()
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

// Close closes the file.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
