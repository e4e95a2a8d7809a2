package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/settle"
	"github.com/nightporter/nightporter/internal/sleep"

	"github.com/nightporter/nightporter/loop/task/form"
)

// lockTime limits the wait for another program that holds the file's lock.
const lockTime = 10 * time.Second

// sharedFile is a user's file that other programs also write, without
// coordination. Each access opens it by path, because editors and git replace
// the file.
type sharedFile struct {
	sourcePath
	exchange func(a, b string) error // swaps two names; errors.ErrUnsupported where the file system cannot

	mu          sync.Mutex
	lastWritten settle.Stamp // state after our last write; reading it need not wait
	lastRead    contentHash  // content of the last read
}

// read returns the whole content, at most one byte more than a plan may have.
func (f *sharedFile) read(ctx context.Context) ([]byte, error) {
	path, err := f.target()
	if err != nil {
		return nil, err
	}
	data, _, err := f.readSettled(ctx, path)
	if err == nil {
		f.mu.Lock()
		f.lastRead = hashOf(data)
		f.mu.Unlock()
	}
	return data, err
}

// readSettled reads a file once no other program is in the middle of writing it.
func (f *sharedFile) readSettled(ctx context.Context, path string) ([]byte, fs.FileInfo, error) {
	return settle.Read(ctx, opener(path), form.MaxBytes+1, func(s settle.Stamp) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.lastWritten == s
	})
}

func opener(path string) settle.Opener {
	// Without O_NONBLOCK, opening would block if a pipe had replaced the file.
	return func() (*os.File, error) {
		return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	}
}

// lock opens the file and takes its lock. The lock is on the file itself, which
// leaves no lock file in the user's folder. If the file was replaced during the
// wait, lock starts over. Closing the result unlocks it.
func (f *sharedFile) lock(ctx context.Context) (*os.File, string, error) {
	return lockFile(ctx, func() (*os.File, string, error) {
		path, err := f.target()
		if err != nil {
			return nil, "", err
		}
		file, err := opener(path)()
		return file, path, err
	})
}

func lockFile(ctx context.Context, open func() (*os.File, string, error)) (*os.File, string, error) {
	deadline := time.Now().Add(lockTime)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		file, path, err := open()
		if err != nil {
			return nil, "", err
		}
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EBADF) || errors.Is(err, unix.ENOLCK) || errors.Is(err, errors.ErrUnsupported) {
			err = nil // some network file systems have no locks; rewrite is safe without one
		}
		if err == nil {
			held, err1 := file.Stat()
			named, err2 := os.Lstat(path)
			if err1 == nil && err2 == nil && os.SameFile(held, named) {
				return file, path, nil
			}
		}
		file.Close()
		switch {
		case err != nil && !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return nil, "", fmt.Errorf("lock %s: %w", path, err)
		case time.Now().After(deadline):
			return nil, "", fmt.Errorf("lock %s: another program has held it for %v", path, lockTime)
		}
		if err := sleep.For(ctx, wait); err != nil {
			return nil, "", err
		}
	}
}

// rewrite replaces the content by the result of edit, without losing what other
// programs save at the same time. edit may be called again with a newer text.
// When edit returns an error, the file keeps the text of the others.
//
// Other programs take no lock. So rewrite exchanges the new file with the old
// one instead of overwriting it, and compares the old one with the text that
// edit received. A difference means that somebody saved in between, and their
// text is edited next. Whoever saves again before that is there saves on top of
// a file that lacks it, and both texts are joined. The new file is locked before
// it has its name: other calls would find it free.
func (f *sharedFile) rewrite(ctx context.Context, edit func(fresh []byte) ([]byte, error)) error {
	locked, path, err := f.lock(ctx)
	if err != nil {
		return err
	}
	locks := []*os.File{locked}
	defer func() {
		for _, l := range locks {
			l.Close()
		}
	}()
	base, info, err := f.readSettled(ctx, path)
	if err != nil {
		return err
	}
	for holds := base; ; { // holds is the content of path as far as we know
		next, err := edit(base)
		if err != nil {
			next = base
		}
		if bytes.Equal(next, holds) {
			return err
		}
		found, swapped, perr := f.publish(path, next, holds, info, func(l *os.File) { locks = append(locks, l) })
		if perr != nil {
			return errors.Join(err, perr)
		}
		if bytes.Equal(found, holds) {
			return errors.Join(err, fsutil.SyncDir(filepath.Dir(path)))
		}
		if base = joined(base, holds, next, found); swapped {
			holds = next
		} else {
			holds = found
		}
	}
}

// publish puts data at path and returns the previous content. Where the system
// cannot exchange two files, publish compares the content with expected first,
// and replaces the file only if they are equal; swapped reports whether it did. hold
// gets the lock of the new file.
func (f *sharedFile) publish(path string, data, expected []byte, like fs.FileInfo, hold func(*os.File)) (found []byte, swapped bool, err error) {
	temp, err := writeTemp(path, data, like)
	if err != nil {
		return nil, false, err
	}
	keep := false
	defer func() {
		if !keep {
			os.Remove(temp)
		}
	}()
	if lock := lockNew(temp); lock != nil {
		hold(lock)
	}
	info, err := os.Lstat(temp)
	if err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	f.lastWritten = settle.StampOf(info)
	f.mu.Unlock()
	err = f.exchange(temp, path)
	if errors.Is(err, errors.ErrUnsupported) {
		found, _, _, err = settle.Peek(opener(path), form.MaxBytes+1)
		if err != nil || !bytes.Equal(found, expected) {
			return found, false, err
		}
		return found, true, os.Rename(temp, path)
	}
	if err != nil {
		return nil, false, err
	}
	// An editor may still have the file open that was swapped out, and no other
	// copy of its text exists: cancellation stops here.
	found, writing, err := peekSwapped(temp)
	if err == nil && (writing || !bytes.Equal(found, expected)) {
		found, _, err = f.readSettled(context.Background(), temp)
	}
	if err != nil {
		keep = true
		return nil, true, fmt.Errorf("%w; the file as it was is in %s", err, temp)
	}
	return found, true, nil
}

// lockNew takes the lock of a file that nobody else knows. A file system without locks,
// or one that does not find the file by its name yet, has none: nil.
func lockNew(path string) *os.File {
	file, err := opener(path)()
	if err != nil {
		return nil
	}
	_ = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return file
}

// peekSwapped reads a file that was just exchanged. A network file system may know
// it by a handle of its old name for a moment.
func peekSwapped(path string) (text []byte, writing bool, err error) {
	for range 3 {
		text, _, writing, err = settle.Peek(opener(path), form.MaxBytes+1)
		if !errors.Is(err, unix.ESTALE) {
			break
		}
	}
	return text, writing, err
}

// tempPattern is the pattern of the temporary file's name beside the user's
// file.
func tempPattern(path string) string { return "." + filepath.Base(path) + ".nightporter-*" }

// writeNamed replaces writeTemp on systems and in folders without unnamed
// temporary files.
func writeNamed(path string, data []byte, like fs.FileInfo) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), tempPattern(path))
	if err != nil {
		return "", err
	}
	err = fill(file, data, like)
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// fill writes data to a new file and copies mode and owner of another file.
// Copying the owner may fail unless the process is root. Some network file systems
// refuse it to root as well, even where nothing changes.
func fill(file *os.File, data []byte, like fs.FileInfo) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	uid, gid := owner(like)
	if u, g := owner(info); u == uid && g == gid {
		// the owner is right already
	} else if err := file.Chown(uid, gid); err != nil && os.Geteuid() == 0 {
		return err
	} else if err != nil {
		// Only root may change the owner; the group may be permitted.
		_ = file.Chown(-1, gid)
	}
	if err := file.Chmod(like.Mode().Perm()); err != nil {
		return err
	}
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}
