package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/exchange"
	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/settle"
	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxFile limits a state file, in bytes.
const maxFile = 8 << 20

// lockTime limits the wait for another step with a state file of the same
// folder.
const lockTime = 10 * time.Second

// ChangedError is the error of a step whose state file was written by somebody
// else while it ran. Their text stands.
type ChangedError struct{ File string }

// Error names the file.
func (e *ChangedError) Error() string {
	return e.File + " was changed by somebody else during this step, which therefore wrote nothing. The next call goes on from their text"
}

// BusyError is the error of a step that another one keeps waiting.
type BusyError struct{ Dir string }

// Error names the folder.
func (e *BusyError) Error() string {
	return fmt.Sprintf("another tick has worked with a state file in %s for %v. Wait until it has ended", e.Dir, lockTime)
}

// lock keeps other steps away from the state files of a folder, until unlock or
// the end of the process. It writes nothing.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for wait, left := time.Millisecond, lockTime; ; wait = min(2*wait, 100*time.Millisecond) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		if left -= wait; left <= 0 {
			_ = f.Close()
			return nil, &BusyError{Dir: dir}
		}
		if err := sleep.For(ctx, wait); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
}

// read returns the text of a state file, once nobody is in the middle of writing
// it. A file that is not there has the text of a new one, and nil as its bytes.
func read(ctx context.Context, path string) (*document, []byte, error) {
	unusable := func(text, remedy string) error {
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: path + " " + text, Remedy: remedy}}}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, unusable("is no regular file", "Move it away, or name another file: --state FILE")
	}
	text, _, err := settle.Read(ctx, opener(path), maxFile+1, func(settle.Stamp) bool { return false })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return nil, nil, unusable("is a link to a file that is not there", "Make that file, or remove the link")
		}
		d, err := parseDocument(path, []byte(newState))
		return d, nil, err
	case err != nil:
		return nil, nil, err
	case len(text) > maxFile:
		return nil, nil, unusable(fmt.Sprintf("is larger than %d MB", maxFile>>20), "Shorten its memory")
	}
	d, err := parseDocument(path, text)
	return d, text, err
}

func opener(path string) settle.Opener {
	// Without O_NONBLOCK, opening would block if a pipe had replaced the file.
	return func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) }
}

// write replaces the text was of a state file by next, or returns a
// *ChangedError. The file has the one or the other at every moment, also after a
// power cut.
//
// Others take no lock. So write exchanges the new file with the old one and
// compares that with was: what somebody saved in between comes to light, and is
// put back.
func write(path string, was, next []byte) error {
	target, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		path = target
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case was != nil: // deleted meanwhile
		return &ChangedError{File: path}
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := writeTemp(path, next, mode)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }()
	if was == nil {
		err = fsutil.Publish(temp, path)
		if errors.Is(err, fs.ErrExist) {
			return &ChangedError{File: path}
		}
	} else {
		err = swap(temp, path, was)
	}
	if err != nil {
		return err
	}
	return fsutil.SyncDir(filepath.Dir(path))
}

// swap puts temp in the place of path if that has the text was.
func swap(temp, path string, was []byte) error {
	if now, err := os.ReadFile(path); err != nil {
		return err
	} else if !bytes.Equal(now, was) {
		return &ChangedError{File: path}
	}
	return trade(temp, path, was)
}

// trade exchanges the two files, and again if path had another text than was.
func trade(temp, path string, was []byte) error {
	err := exchange.Files(temp, path)
	if errors.Is(err, errors.ErrUnsupported) {
		return os.Rename(temp, path)
	}
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(temp); err != nil || !bytes.Equal(now, was) {
		return errors.Join(err, exchange.Files(temp, path), &ChangedError{File: path})
	}
	return nil
}

// writeTemp writes a file beside path and returns its name.
func writeTemp(path string, text []byte, mode os.FileMode) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".nightporter-*.tmp")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
