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
)

// lockTime is how long to wait for another program that holds the file's lock.
const lockTime = 10 * time.Second

// sharedFile is a file of the user that other programs write too, without
// knowing of us. It is used by path each time: editors and git replace it.
type sharedFile struct {
	place
	exchange func(a, b string) error // swaps two names; errors.ErrUnsupported where the file system cannot

	mu   sync.Mutex
	own  settle.Stamp // of what we wrote last: that needs no rest
	seen contentHash  // of what was read last
}

// read returns the whole content, at most one byte more than a plan may have.
func (f *sharedFile) read(ctx context.Context) ([]byte, error) {
	path, err := f.target()
	if err != nil {
		return nil, err
	}
	data, _, err := f.settled(ctx, path)
	if err == nil {
		f.mu.Lock()
		f.seen = hashOf(data)
		f.mu.Unlock()
	}
	return data, err
}

// settled reads a file once no other program is in the middle of writing it.
func (f *sharedFile) settled(ctx context.Context, path string) ([]byte, fs.FileInfo, error) {
	return settle.Read(ctx, opener(path), maxPlanBytes+1, func(s settle.Stamp) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.own == s
	})
}

func opener(path string) settle.Opener {
	// Without O_NONBLOCK, a pipe put in the file's place would hold us up.
	return func() (*os.File, error) {
		return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	}
}

// lock opens the file and takes its lock: on the file itself, so that nothing
// is left in the user's folder. Whoever waited for one that was replaced
// meanwhile starts over. Closing the result unlocks.
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
			err = nil // some network file systems; nothing is lost without it (see rewrite)
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

// rewrite replaces the content by what edit makes of it, without losing what
// anybody else saves meanwhile. edit may be called again, with a fresher text;
// where it returns an error the file stays as the others left it.
//
// Others take no lock. So the new file is not put over the old one but
// exchanged with it, and what came out is looked at: if it is not what edit
// was given, somebody saved in between, and their text is the next to edit.
func (f *sharedFile) rewrite(ctx context.Context, edit func(fresh []byte) ([]byte, error)) error {
	locked, path, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer locked.Close()
	base, info, err := f.settled(ctx, path)
	if err != nil {
		return err
	}
	for holds := base; ; { // what the path holds as far as we know
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

// publish puts data at path, and returns what was there before. Where the
// system cannot exchange two files, it looks right before it replaces, and
// replaces only what is expected; swapped tells whether it did.
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
	f.own = settle.StampOf(info)
	f.mu.Unlock()
	err = f.exchange(temp, path)
	if errors.Is(err, errors.ErrUnsupported) {
		found, _, _, err = settle.Peek(opener(path), maxPlanBytes+1)
		if err != nil || !bytes.Equal(found, expected) {
			return found, false, err
		}
		return found, true, os.Rename(temp, path)
	}
	if err != nil {
		return nil, false, err
	}
	// An editor may still have open what came out, and write into it what is
	// nowhere else: no cancelling from here on.
	found, _, writing, err := settle.Peek(opener(temp), maxPlanBytes+1)
	if err == nil && (writing || !bytes.Equal(found, expected)) {
		found, _, err = f.settled(context.Background(), temp)
	}
	if err != nil {
		keep = true
		return nil, true, fmt.Errorf("%w; the file as it was is in %s", err, temp)
	}
	return found, true, nil
}

// tempPattern names what lies beside the user's file for some microseconds.
func tempPattern(path string) string { return "." + filepath.Base(path) + ".nightporter-*" }

// writeNamed is writeTemp for systems and folders that need a name from the
// beginning.
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

// fill writes data to a new file and gives it mode and owner of another. The
// owner is kept as far as the system lets us: always as root.
func fill(file *os.File, data []byte, like fs.FileInfo) error {
	uid, gid := owner(like)
	if err := file.Chown(uid, gid); err != nil && os.Geteuid() == 0 {
		return err
	} else if err != nil {
		// Not ours to give away; the group may be.
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
