//go:build linux

package netfs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is a file or folder. What it does not override is done as below.
type node struct {
	fs.LoopbackNode
	f *served
}

func (f *served) newNode(root *fs.LoopbackRoot, _ *fs.Inode, _ string, _ *syscall.Stat_t) fs.InodeEmbedder {
	return &node{LoopbackNode: fs.LoopbackNode{RootData: root}, f: f}
}

func (n *node) below(name string) string {
	return filepath.Join(n.RootData.Path, n.Path(nil), name)
}

// name returns the name that a folder has for name.
func (n *node) name(name string) string {
	if !n.f.limits.NoCase {
		return name
	}
	list, err := os.ReadDir(n.below(""))
	if err != nil {
		return name
	}
	for _, e := range list {
		if strings.EqualFold(e.Name(), name) {
			return e.Name()
		}
	}
	return name
}

// Lookup finds an entry.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.f.await()
	return n.LoopbackNode.Lookup(ctx, n.name(name), out)
}

// Getattr shows a size and a time that may be old.
func (n *node) Getattr(ctx context.Context, h fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.f.await()
	errno := n.LoopbackNode.Getattr(ctx, h, out)
	late := n.f.limits.Late
	if errno != 0 || late == 0 || out.Mode&syscall.S_IFREG == 0 {
		return errno
	}
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	path, now := n.below(""), time.Now()
	was, known := n.f.shown[path]
	changed := was.attr.Size != out.Size || was.attr.Mtime != out.Mtime || was.attr.Mtimensec != out.Mtimensec || was.attr.Ino != out.Ino
	switch {
	case !known || !changed:
		n.f.shown[path] = attributes{attr: out.Attr}
	case was.due.IsZero():
		was.due = now.Add(late)
		n.f.shown[path] = was
		fallthrough
	case now.Before(was.due):
		out.Attr = was.attr
	default:
		n.f.shown[path] = attributes{attr: out.Attr}
	}
	return errno
}

// Open opens a file, or finds that its handle is stale.
func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	n.f.await()
	n.f.mu.Lock()
	path := n.below("")
	n.f.stale[path]++
	stale := n.f.stale[path] <= n.f.limits.Stale
	n.f.mu.Unlock()
	if stale {
		return nil, 0, syscall.ESTALE
	}
	time.Sleep(n.f.limits.Slow)
	return n.LoopbackNode.Open(ctx, flags)
}

// Rename renames an entry. Over a file that somebody has open it is what it is on
// any disk: FUSE keeps the old one under another name itself.
func (n *node) Rename(ctx context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	n.f.await()
	if flags != 0 && n.f.limits.Flat {
		return syscall.EINVAL
	}
	to, ok := parent.(*node)
	if !ok {
		return syscall.EXDEV
	}
	return n.LoopbackNode.Rename(ctx, n.name(name), &to.LoopbackNode, to.name(newName), flags)
}

// Link makes a hard link.
func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.f.await()
	t, ok := target.(*node)
	if n.f.limits.NoLinks || !ok {
		return nil, syscall.EOPNOTSUPP
	}
	return n.LoopbackNode.Link(ctx, &t.LoopbackNode, name, out)
}

// Tmpfile makes no file without a name.
func (n *node) Tmpfile(context.Context, uint32, uint32, *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return nil, nil, 0, syscall.EOPNOTSUPP
}

// Setattr changes mode, size, owner and times.
func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.f.await()
	_, uid := in.GetUID()
	_, gid := in.GetGID()
	if n.f.limits.NoChown && (uid || gid) {
		return syscall.EPERM
	}
	return n.LoopbackNode.Setattr(ctx, h, in, out)
}

// Getlk, Setlk and Setlkw refuse locks; they are called for Limits.NoLocks alone.
func (n *node) Getlk(context.Context, fs.FileHandle, uint64, *fuse.FileLock, uint32, *fuse.FileLock) syscall.Errno {
	return syscall.ENOLCK
}

// Setlk refuses a lock.
func (n *node) Setlk(context.Context, fs.FileHandle, uint64, *fuse.FileLock, uint32) syscall.Errno {
	return syscall.ENOLCK
}

// Setlkw refuses a lock.
func (n *node) Setlkw(context.Context, fs.FileHandle, uint64, *fuse.FileLock, uint32) syscall.Errno {
	return syscall.ENOLCK
}
