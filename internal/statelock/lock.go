package statelock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Name is the file name of the lock in the state folder.
const Name = "lock"

// InUseError is the error for a state folder that another process holds. The
// commands that need the folder exit with code 3 then.
type InUseError struct {
	Dir string
	PID int // 0 if the holder has not written it yet
}

// Error names the holder, for example "another nightporter has this state
// folder (pid 2211)".
func (e *InUseError) Error() string {
	pid := "pid not known"
	if e.PID > 0 {
		pid = "pid " + strconv.Itoa(e.PID)
	}
	return "another nightporter has this state folder (" + pid + "): " + e.Dir
}

// NoLocksError is the error for a state folder on a file system without locks. Two
// processes could write its ledger there, so none does.
type NoLocksError struct{ Dir string }

// Error says what to do.
func (e *NoLocksError) Error() string {
	return e.Dir + ": its file system has no locks, so nothing keeps two processes from its ledger; choose a folder on a local disk: --state DIR"
}

// Lock is a held lock. Release or the end of the process gives it back.
type Lock struct{ f *os.File }

// Take takes the lock of the existing state folder dir and writes this
// process's id into the file. It never waits: if another process, or another
// Lock of this one, holds it, the error is an *InUseError.
func Take(dir string) (*Lock, error) {
	// Mode 0600, because any process that can open the file can lock it.
	f, err := os.OpenFile(filepath.Join(dir, Name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Foreign(dir, fmt.Errorf("lock state folder: %w", err))
	}
	if err := lock(f); err != nil {
		pid := readPID(f)
		_ = f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, &InUseError{Dir: dir, PID: pid}
		}
		if errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) {
			return nil, &NoLocksError{Dir: dir}
		}
		return nil, fmt.Errorf("lock state folder: %s: %w", f.Name(), err)
	}
	if err := writePID(f, os.Getpid()); err != nil {
		_ = f.Close() // releases the lock
		return nil, fmt.Errorf("lock state folder: %w", err)
	}
	return &Lock{f: f}, nil
}

// Release releases the lock. It keeps the file: if it were removed, two
// processes could lock two different files at the same path.
func (l *Lock) Release() error {
	if err := errors.Join(writePID(l.f, 0), l.f.Close()); err != nil {
		return fmt.Errorf("release state folder: %w", err)
	}
	return nil
}

// Held reports whether a process holds the lock of the state folder dir, and
// its id (0 if unknown). It never takes the lock, not even for a moment, so it
// cannot disturb a daemon that is starting. A folder without a lock file is not
// held.
func Held(dir string) (pid int, held bool, err error) {
	f, err := os.Open(filepath.Join(dir, Name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("ask for the state folder's lock: %w", err)
	}
	defer func() { _ = f.Close() }()
	return Query(f)
}

// Query is Held for an open lock file, for a process that can no longer reach
// the path.
func Query(f *os.File) (pid int, held bool, err error) {
	l := wholeFile(unix.F_WRLCK)
	if err := fcntl(f, getlk, &l); err != nil {
		return 0, false, fmt.Errorf("ask for the state folder's lock: %s: %w", f.Name(), err)
	}
	if l.Type == unix.F_UNLCK {
		return 0, false, nil
	}
	// The kernel reports no process id for locks of this kind.
	return readPID(f), true, nil
}

func lock(f *os.File) error {
	l := wholeFile(unix.F_WRLCK)
	return fcntl(f, setlk, &l)
}

// wholeFile describes a lock on every byte of a file.
func wholeFile(kind int16) unix.Flock_t {
	return unix.Flock_t{Type: kind, Whence: io.SeekStart}
}

// fcntl calls fcntl, again after an interrupt by a signal.
func fcntl(f *os.File, cmd int, l *unix.Flock_t) error {
	for {
		err := unix.FcntlFlock(f.Fd(), cmd, l)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// readPID returns the process id in the file, 0 if it contains none.
func readPID(f *os.File) int {
	buf := make([]byte, 32)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// writePID replaces the file's content by pid, or by nothing for 0.
func writePID(f *os.File, pid int) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	if pid == 0 {
		return nil
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(pid)+"\n"), 0)
	return err
}
