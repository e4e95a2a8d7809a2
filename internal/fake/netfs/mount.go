//go:build linux

package netfs

import (
	"sync"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Limits are what a file system lacks or gets wrong. With the zero value it has no
// unnamed files, and everything else as the disk below.
type Limits struct {
	NoLocks bool          // ENOLCK for flock and fcntl
	NoLinks bool          // no hard links
	NoChown bool          // the owner of a file cannot be changed, as with root_squash
	Flat    bool          // rename takes no flags: EINVAL, as NFS answers
	Late    time.Duration // size and time of a file are shown so long after a write
	Stale   int           // so many opens of a file fail with ESTALE; the kernel repeats one that fails
	Slow    time.Duration // each read takes so long
	NoCase  bool          // names that differ by case only are the same
}

// FS is a mounted file system.
type FS struct {
	Dir string // where it is mounted

	limits Limits
	mu     sync.Mutex
	hung   chan struct{} // closed when operations go on; nil: they do
	stale  map[string]int
	shown  map[string]attributes
}

// attributes are the size and time of a file as they are shown, until due.
type attributes struct {
	attr fuse.Attr
	due  time.Time
}

// Mount mounts a folder with limits until the test ends.
func Mount(t *testing.T, folder string, l Limits) *FS {
	t.Helper()
	f := &FS{Dir: t.TempDir(), limits: l, stale: map[string]int{}, shown: map[string]attributes{}}
	var st unix.Stat_t
	if err := unix.Stat(folder, &st); err != nil {
		t.Fatal(err)
	}
	root := &fs.LoopbackRoot{Path: folder, Dev: st.Dev, NewNode: f.newNode}
	node := f.newNode(root, nil, "", nil)
	root.RootNode = node
	server, err := fs.Mount(f.Dir, node, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, AllowOther: true, FsName: "netfs", Name: "netfs", EnableLocks: l.NoLocks},
	})
	if err != nil {
		t.Skipf("no FUSE here: %v", err)
	}
	t.Cleanup(func() {
		f.Resume()
		if err := server.Unmount(); err != nil {
			t.Errorf("unmount %s: %v", f.Dir, err)
			_ = unix.Unmount(f.Dir, unix.MNT_DETACH)
		}
	})
	return f
}

// Hang makes every operation wait, as after the end of a server, until Resume.
func (f *FS) Hang() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hung == nil {
		f.hung = make(chan struct{})
	}
}

// Resume ends a Hang.
func (f *FS) Resume() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hung != nil {
		close(f.hung)
		f.hung = nil
	}
}

// await returns when the file system does not hang.
func (f *FS) await() {
	f.mu.Lock()
	hung := f.hung
	f.mu.Unlock()
	if hung != nil {
		<-hung
	}
}
