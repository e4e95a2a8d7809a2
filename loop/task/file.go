package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/sleep"
)

// settleTime is how long a file must be unchanged before its content counts as
// complete: some editors truncate a file and then write it in place.
const settleTime = 50 * time.Millisecond

// emptyTime replaces settleTime for an empty file. An editor that writes in
// place leaves the file empty between truncating and writing, on a busy host
// for longer than settleTime. If that counted as complete, all tasks would be
// gone, and a mark would replace the file that the editor is about to write.
const emptyTime = time.Second

// lockTime limits the wait for another program that holds the file's lock.
const lockTime = 10 * time.Second

// sharedFile is a user's file that other programs also write, without
// coordination. Each access opens it by path, because editors and git replace
// the file.
type sharedFile struct {
	sourcePath
	exchange func(a, b string) error // swaps two names; errors.ErrUnsupported where the file system cannot

	mu          sync.Mutex
	lastWritten stamp       // state after our last write; it needs no settleTime
	lastRead    contentHash // content of the last read
}

// stamp identifies a state of a file without reading its content.
type stamp struct {
	dev, ino uint64
	size     int64
	mod      time.Time
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), mod: info.ModTime()}
	s.dev, s.ino = inode(info)
	return s
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

// readSettled reads a file after it has been unchanged for settleTime, or for
// emptyTime if it is empty. A file that changes all the time, or has a time in
// the future, is read after a limited wait.
func (f *sharedFile) readSettled(ctx context.Context, path string) ([]byte, fs.FileInfo, error) {
	for try := 0; ; try++ {
		now := time.Now() // taken before the read, which may be slow
		data, info, err := readWhole(path)
		if err != nil {
			return nil, nil, err
		}
		f.mu.Lock()
		own := f.lastWritten == stampOf(info)
		f.mu.Unlock()
		wait := settleTime
		if len(data) == 0 {
			wait = emptyTime
		}
		if age := now.Sub(info.ModTime()); own || try == 20 || age >= wait || age < -settleTime {
			return data, info, nil
		}
		if err := sleep.For(ctx, settleTime); err != nil {
			return nil, nil, err
		}
	}
}

// readWhole reads a regular file. It reads again when the file changed during
// the read.
func readWhole(path string) ([]byte, fs.FileInfo, error) {
	// Without O_NONBLOCK, opening would block if a pipe had replaced the file.
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	for {
		before, err := file.Stat()
		if err != nil {
			return nil, nil, err
		}
		if !before.Mode().IsRegular() {
			return nil, nil, fmt.Errorf("%s is no regular file", path)
		}
		data, err := io.ReadAll(io.NewSectionReader(file, 0, maxPlanBytes+1))
		if err != nil {
			return nil, nil, err
		}
		after, err := file.Stat()
		if err != nil {
			return nil, nil, err
		}
		if stampOf(before) == stampOf(after) {
			return data, after, nil
		}
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
		file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
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
// text is edited next.
func (f *sharedFile) rewrite(ctx context.Context, edit func(fresh []byte) ([]byte, error)) error {
	locked, path, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer locked.Close()
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
		found, swapped, perr := f.publish(path, next, holds, info)
		if perr != nil {
			return errors.Join(err, perr)
		}
		if bytes.Equal(found, holds) {
			return errors.Join(err, fsutil.SyncDir(filepath.Dir(path)))
		}
		base = found
		if holds = found; swapped {
			holds = next
		}
	}
}

// publish puts data at path and returns the previous content. Where the system
// cannot exchange two files, publish compares the content with expected first,
// and replaces the file only if they are equal; swapped reports whether it did.
func (f *sharedFile) publish(path string, data, expected []byte, like fs.FileInfo) (found []byte, swapped bool, err error) {
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
	info, err := os.Lstat(temp)
	if err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	f.lastWritten = stampOf(info)
	f.mu.Unlock()
	err = f.exchange(temp, path)
	if errors.Is(err, errors.ErrUnsupported) {
		found, _, err = readWhole(path)
		if err != nil || !bytes.Equal(found, expected) {
			return found, false, err
		}
		return found, true, os.Rename(temp, path)
	}
	if err != nil {
		return nil, false, err
	}
	// An editor may still be writing the file that was swapped out, and no
	// other copy of it exists: cancellation stops here.
	found, _, err = readWhole(temp)
	if err == nil && !bytes.Equal(found, expected) {
		found, _, err = f.readSettled(context.Background(), temp)
	}
	if err != nil {
		keep = true
		return nil, true, fmt.Errorf("%w; the file as it was is in %s", err, temp)
	}
	return found, true, nil
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
// Copying the owner may fail unless the process is root.
func fill(file *os.File, data []byte, like fs.FileInfo) error {
	uid, gid := owner(like)
	if err := file.Chown(uid, gid); err != nil && os.Geteuid() == 0 {
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
