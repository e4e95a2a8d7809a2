package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/settle"
	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop/ledger"
)

const (
	// maxShared is the size of the largest file that is rewritten to add an
	// item.
	maxShared = 16 << 20
	// lockTime limits the wait for another process's lock.
	lockTime = 10 * time.Second
)

// open opens the folder .ralph. It returns nil if there is no such folder and
// make is false, and an error for anything else of that name.
func (n *Notebook) open(make bool) (*os.Root, error) {
	repo, err := os.OpenRoot(n.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	info, err := repo.Lstat(".ralph")
	if errors.Is(err, fs.ErrNotExist) && make {
		if err := n.mkdir(repo, ".ralph"); err != nil {
			return nil, err
		}
		info, err = repo.Lstat(".ralph")
	}
	if errors.Is(err, fs.ErrNotExist) && !make {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errInTheWay(".ralph", info, "a folder")
	}
	root, err := repo.OpenRoot(".ralph")
	if err != nil {
		return nil, err
	}
	if in, err := root.Stat("."); err != nil || !os.SameFile(info, in) {
		root.Close()
		return nil, errors.Join(errors.New(".ralph was replaced while it was opened"), err)
	}
	return root, nil
}

// errInTheWay returns the error for anything else in the place of a folder or
// file.
func errInTheWay(file string, info fs.FileInfo, want string) error {
	what := "a file"
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	case mode.IsDir():
		what = "a folder"
	case !mode.IsRegular():
		what = "no plain file"
	}
	return inputError(ledger.Diagnostic{File: file, Text: fmt.Sprintf("is %s, and %s has to be there for what sessions remember", what, want), Remedy: "move it away: mv " + file + " " + file + ".old"})
}

// mkdir makes a folder owned by the repository's owner. It leaves an existing
// one as it is.
func (n *Notebook) mkdir(root *os.Root, name string) error {
	info, err := os.Stat(n.repo)
	if err != nil {
		return err
	}
	if err := root.Mkdir(name, info.Mode().Perm()|0o700); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	}
	owner, err := ownerOf(n.repo)
	if err != nil || owner == nil {
		return err
	}
	return root.Lchown(name, int(owner.Uid), int(owner.Gid))
}

// openFolder opens .ralph and locks it, with its .gitignore and a folder in it, each of
// which it makes where it is missing. The caller holds n.mu and closes both.
func (n *Notebook) openFolder(ctx context.Context, dir string) (*os.Root, *os.File, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if away := fault.Away(n.repo); away != nil {
		return nil, nil, away // the folder of a mount that is missing is not written into
	}
	root, err := n.open(true)
	if err != nil {
		return nil, nil, err
	}
	lock, err := lockFolder(ctx, root)
	if err != nil {
		root.Close()
		return nil, nil, err
	}
	if err := n.furnish(root, dir); err != nil {
		lock.Close()
		root.Close()
		return nil, nil, err
	}
	return root, lock, nil
}

// furnish makes the .gitignore of .ralph, and a folder in it.
func (n *Notebook) furnish(root *os.Root, dir string) error {
	// The .gitignore comes first, so that no file of the folder ever shows up
	// as untracked.
	if _, err := root.Lstat(".gitignore"); errors.Is(err, fs.ErrNotExist) {
		if err := n.replace(root, ".gitignore", []byte("*\n"), nil); err != nil {
			return err
		}
	}
	if err := n.mkdir(root, dir); err != nil {
		return err
	}
	info, err := root.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errInTheWay(".ralph/"+dir, info, "a folder")
	}
	return nil
}

// update replaces the content of a file below .ralph by the result of edit,
// under a lock of the whole folder. It may call edit again with newer content,
// since people save their files without a lock.
func (n *Notebook) update(ctx context.Context, file string, edit func(old []byte) []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	root, lock, err := n.openFolder(ctx, path.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	defer lock.Close()
	for try := 0; ; try++ {
		old, info, err := n.readSettled(ctx, root, file)
		if err != nil {
			return err
		}
		text := edit(old)
		if info != nil && bytes.Equal(text, old) {
			return nil
		}
		now, err := root.Lstat(file)
		if unchanged := info == nil && errors.Is(err, fs.ErrNotExist) || info != nil && err == nil && settle.StampOf(info) == settle.StampOf(now); unchanged || try == 20 {
			return n.replace(root, file, text, info)
		}
	}
}

// lockFolder locks the folder itself, which needs no lock file. Closing the
// result unlocks it.
func lockFolder(ctx context.Context, root *os.Root) (*os.File, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(lockTime)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil, errors.Is(err, unix.EBADF), errors.Is(err, unix.ENOLCK), errors.Is(err, errors.ErrUnsupported):
			return dir, nil // some network file systems cannot lock; usually one process uses a checkout
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			dir.Close()
			return nil, fmt.Errorf("lock .ralph: %w", err)
		case time.Now().After(deadline):
			dir.Close()
			return nil, fmt.Errorf("lock .ralph: another program has held it for %v", lockTime)
		}
		if err := sleep.For(ctx, wait); err != nil {
			dir.Close()
			return nil, err
		}
	}
}

// readSettled reads a file once no other program is in the middle of writing
// it; info is nil if there is none.
func (n *Notebook) readSettled(ctx context.Context, root *os.Root, file string) ([]byte, fs.FileInfo, error) {
	data, info, err := settle.Read(ctx, func() (*os.File, error) { return openShared(root, file) }, maxShared+1, func(s settle.Stamp) bool { return n.own[file] == s })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return data, info, err
}

// openShared opens a file for reading if it is one that may be rewritten.
func openShared(root *os.Root, file string) (*os.File, error) {
	info, err := root.Lstat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errInTheWay(".ralph/"+file, info, "a file")
	case info.Size() > maxShared:
		return nil, inputError(ledger.Diagnostic{File: ".ralph/" + file, Text: fmt.Sprintf("is larger than %d MB", maxShared>>20), Remedy: "move it away: mv .ralph/" + file + " .ralph/" + file + ".old"})
	}
	return root.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// replace replaces a file by data and keeps its mode and owner. A new file gets
// the repository's owner and a mode by its folder's. After a crash the file is
// the old or the new one; the next call removes a temporary file left beside
// it.
func (n *Notebook) replace(root *os.Root, file string, data []byte, old fs.FileInfo) (err error) {
	temp := path.Join(path.Dir(file), "."+path.Base(file)+".nightporter")
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		f.Close()
		if err != nil {
			_ = root.Remove(temp) // on failure, the next call removes it
		}
	}()
	if err := n.setModeAndOwner(f, old); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := root.Rename(temp, file); err != nil {
		return err
	}
	n.own[file] = settle.StampOf(info)
	dir, err := root.Open(path.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// setModeAndOwner gives a new file its mode and owner.
func (n *Notebook) setModeAndOwner(f *os.File, old fs.FileInfo) error {
	if old != nil {
		if st, ok := old.Sys().(*syscall.Stat_t); ok {
			if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil && os.Geteuid() == 0 {
				return err
			} else if err != nil {
				_ = f.Chown(-1, int(st.Gid)) // only root may change the owner; we may still be allowed to change the group
			}
		}
		return f.Chmod(old.Mode().Perm())
	}
	info, err := os.Stat(n.repo)
	if err != nil {
		return err
	}
	owner, err := ownerOf(n.repo)
	if err != nil {
		return err
	}
	if owner != nil {
		if err := f.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(info.Mode().Perm()&0o666 | 0o600)
}

// ignoreAbsent returns nil if err means that a notebook has no plain file of a
// name, which is no error for a reader. It returns any other err unchanged.
func ignoreAbsent(file string, err error) error {
	var errno syscall.Errno
	switch _, input := errors.AsType[*ledger.InputError](err); {
	case err == nil, input, errors.Is(err, fs.ErrNotExist):
		return nil
	case !errors.As(err, &errno), errno == syscall.ENOTDIR, errno == syscall.ELOOP, errno == syscall.ENXIO, errno == syscall.EINVAL, errno == syscall.ENAMETOOLONG:
		return nil // not an errno: the path leads out of the folder
	}
	return fmt.Errorf("read %s: %w", file, err)
}
