//go:build cgo

package sqlitefault

import (
	"io"
	"sync"

	"github.com/psanford/sqlite3vfs"
)

// file is an open file of a disk.
type file struct {
	disk    *Disk
	content *content
	boot    int
	level   sqlite3vfs.LockType
}

// dead reports whether the power went since the file was opened. The caller
// holds the disk's lock.
func (f *file) dead() bool { return f.disk.off || f.boot != f.disk.boot }

// Close implements sqlite3vfs.File.
func (f *file) Close() error { return nil }

// ReadAt implements sqlite3vfs.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.dead() || d.draws(d.faults.ReadError, &d.counts.ReadErrors) {
		return 0, sqlite3vfs.IOErrorRead
	}
	if off >= int64(len(f.content.shown)) {
		return 0, io.EOF
	}
	n := copy(p, f.content.shown[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements sqlite3vfs.File.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	c := f.content
	switch {
	case f.dead() || d.draws(d.faults.WriteError, &d.counts.WriteErrors):
		return 0, sqlite3vfs.IOErrorWrite
	case d.faults.Full && off+int64(len(p)) > int64(len(c.shown)):
		d.counts.Full++
		return 0, sqlite3vfs.FullError
	}
	c.shown = writeAt(c.shown, p, off)
	c.unsynced = append(c.unsynced, change{off, append([]byte{}, p...)})
	if d.count() {
		return 0, sqlite3vfs.IOErrorWrite
	}
	return len(p), nil
}

// Truncate implements sqlite3vfs.File.
func (f *file) Truncate(size int64) error {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.dead() {
		return sqlite3vfs.IOErrorWrite
	}
	f.content.shown = resize(f.content.shown, size)
	f.content.unsynced = append(f.content.unsynced, change{at: size})
	return nil
}

// Sync implements sqlite3vfs.File.
func (f *file) Sync(sqlite3vfs.SyncType) error {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.dead() {
		return errSync
	}
	return d.sync(f.content)
}

// FileSize implements sqlite3vfs.File.
func (f *file) FileSize() (int64, error) {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.dead() {
		return 0, sqlite3vfs.IOErrorRead
	}
	return int64(len(f.content.shown)), nil
}

// Lock implements sqlite3vfs.File. One connection opens a database, so that no
// lock is ever refused.
func (f *file) Lock(level sqlite3vfs.LockType) error {
	f.level = max(f.level, level)
	return nil
}

// Unlock implements sqlite3vfs.File.
func (f *file) Unlock(level sqlite3vfs.LockType) error {
	f.level = min(f.level, level)
	return nil
}

// CheckReservedLock implements sqlite3vfs.File.
func (f *file) CheckReservedLock() (bool, error) { return f.level >= sqlite3vfs.LockReserved, nil }

// SectorSize implements sqlite3vfs.File.
func (f *file) SectorSize() int64 { return sector }

// DeviceCharacteristics implements sqlite3vfs.File. As on Unix, a write changes no
// byte beside it, whatever happens in it. Nothing else is promised: not even that a
// write of one page is whole.
func (f *file) DeviceCharacteristics() sqlite3vfs.DeviceCharacteristic {
	return sqlite3vfs.IocapPowersafeOverwrite
}

// tempFile is a temporary file, which no power cut leaves.
type tempFile struct {
	file

	mu   sync.Mutex
	data []byte
}

// ReadAt implements sqlite3vfs.File.
func (t *tempFile) ReadAt(p []byte, off int64) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if off >= int64(len(t.data)) {
		return 0, io.EOF
	}
	if n := copy(p, t.data[off:]); n < len(p) {
		return n, io.EOF
	}
	return len(p), nil
}

// WriteAt implements sqlite3vfs.File.
func (t *tempFile) WriteAt(p []byte, off int64) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = writeAt(t.data, p, off)
	return len(p), nil
}

// Truncate implements sqlite3vfs.File.
func (t *tempFile) Truncate(size int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = resize(t.data, size)
	return nil
}

// Sync implements sqlite3vfs.File.
func (t *tempFile) Sync(sqlite3vfs.SyncType) error { return nil }

// FileSize implements sqlite3vfs.File.
func (t *tempFile) FileSize() (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int64(len(t.data)), nil
}
