//go:build cgo

package sqlitefault

import (
	"path"
	"sync"
	"time"

	"github.com/psanford/sqlite3vfs"
)

// Name is the name of the file system, for the parameter vfs of a database's
// address.
const Name = "sqlitefault"

// errSync is the error of a sync that failed.
var errSync = sqlite3vfs.IOErrorWrite

// register makes the file system known to SQLite, once for all disks.
var register = sync.OnceFunc(func() {
	disks.byName = map[string]*Disk{}
	if err := sqlite3vfs.RegisterVFS(Name, vfs{}); err != nil {
		panic(err) // cannot happen: the name is free, and it is registered once
	}
})

// vfs finds the disk that a file belongs to.
type vfs struct{}

var _ sqlite3vfs.ExtendedVFSv1 = vfs{}

// Open implements sqlite3vfs.VFS.
func (vfs) Open(name string, flags sqlite3vfs.OpenFlag) (sqlite3vfs.File, sqlite3vfs.OpenFlag, error) {
	if isTemp(name) {
		return &tempFile{}, flags, nil
	}
	d := diskOf(name)
	if d == nil {
		return nil, 0, sqlite3vfs.CantOpenError
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, 0, sqlite3vfs.CantOpenError
	}
	c := d.files[name]
	if c == nil || !c.exists {
		switch {
		case flags&sqlite3vfs.OpenCreate == 0:
			return nil, 0, sqlite3vfs.CantOpenError
		case d.faults.Full:
			d.counts.Full++
			return nil, 0, sqlite3vfs.CantOpenError
		}
		if c == nil {
			c = &content{}
			d.files[name] = c
		}
		c.exists = true
		c.shown = nil
		c.unsynced = append(c.unsynced, change{at: 0})
	}
	return &file{disk: d, content: c, boot: d.boot}, flags, nil
}

// Delete implements sqlite3vfs.VFS.
func (vfs) Delete(name string, dirSync bool) error {
	d := diskOf(name)
	if d == nil {
		return sqlite3vfs.IOError
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.files[name]
	if d.off {
		return sqlite3vfs.IOError
	}
	if c == nil || !c.exists {
		return nil
	}
	c.exists = false
	if dirSync {
		c.kept = false
	}
	return nil
}

// Access implements sqlite3vfs.VFS.
func (vfs) Access(name string, _ sqlite3vfs.AccessFlag) (bool, error) {
	d := diskOf(name)
	if d == nil {
		return false, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.files[name]
	return !d.off && c != nil && c.exists, nil
}

// FullPathname implements sqlite3vfs.VFS.
func (vfs) FullPathname(name string) string { return path.Clean(name) }

// Randomness implements sqlite3vfs.ExtendedVFSv1. SQLite takes its random numbers
// from the usual file system, so these are hardly used.
func (vfs) Randomness(p []byte) int {
	for i := range p {
		p[i] = byte(i*7 + 3)
	}
	return len(p)
}

// Sleep implements sqlite3vfs.ExtendedVFSv1. Nothing here takes time.
func (vfs) Sleep(time.Duration) {}

// CurrentTime implements sqlite3vfs.ExtendedVFSv1.
func (vfs) CurrentTime() time.Time { return time.Unix(0, 0) }
