//go:build linux

package netfs

import (
	"bufio"
	"fmt"
	"io"
	"sync"
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

// served is a file system that this process serves.
type served struct {
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

// Serve mounts folder at dir and serves it until in ends. It writes "mounted", or why
// not, and after that each line of in, "hang" or "resume", when it is in force.
func Serve(folder, dir string, l Limits, in io.Reader, out io.Writer) error {
	f := &served{limits: l, stale: map[string]int{}, shown: map[string]attributes{}}
	var st unix.Stat_t
	if err := unix.Stat(folder, &st); err != nil {
		return err
	}
	root := &fs.LoopbackRoot{Path: folder, Dev: st.Dev, NewNode: f.newNode}
	node := f.newNode(root, nil, "", nil)
	root.RootNode = node
	server, err := fs.Mount(dir, node, &fs.Options{
		MountOptions: fuse.MountOptions{DirectMountStrict: true, AllowOther: true, FsName: "netfs", Name: "netfs", EnableLocks: l.NoLocks},
	})
	if err != nil {
		_, err = fmt.Fprintln(out, err)
		return err
	}
	fmt.Fprintln(out, "mounted")
	for lines := bufio.NewScanner(in); lines.Scan(); fmt.Fprintln(out, lines.Text()) {
		f.hang(lines.Text() == "hang")
	}
	f.hang(false)
	if err := server.Unmount(); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	return nil
}

// hang makes every operation wait, or go on.
func (f *served) hang(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case on && f.hung == nil:
		f.hung = make(chan struct{})
	case !on && f.hung != nil:
		close(f.hung)
		f.hung = nil
	}
}

// await returns when the file system does not hang.
func (f *served) await() {
	f.mu.Lock()
	hung := f.hung
	f.mu.Unlock()
	if hung != nil {
		<-hung
	}
}
