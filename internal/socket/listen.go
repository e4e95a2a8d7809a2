package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/nightporter/nightporter/internal/api"
)

// ErrInUse: another process answers at the path.
var ErrInUse = errors.New("another process listens there")

// Option is an option of Listen.
type Option func(*options)

type options struct{ uid, gid int }

// WithOwner makes a user and group the owner of the socket: the session's, if
// sessions run as another user. -1 leaves either unchanged.
func WithOwner(uid, gid int) Option {
	return func(o *options) { o.uid, o.gid = uid, gid }
}

// Listen creates a Unix socket at path with exactly the given mode, regardless
// of the umask. It replaces a socket left by an earlier process. If another
// process listens at the path, the error is an ErrInUse; any other file is an
// error and stays. The path has at most api.MaxPath bytes.
//
// Clients can connect only after mode and owner are set. Closing the listener
// removes the socket, unless another one has replaced it.
func Listen(path string, mode fs.FileMode, opts ...Option) (net.Listener, error) {
	o := options{uid: -1, gid: -1}
	for _, opt := range opts {
		opt(&o)
	}
	if len(path) > api.MaxPath {
		return nil, fmt.Errorf("listen: the path has %d bytes, at most %d are possible: %s: use a shorter folder", len(path), api.MaxPath, path)
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, fmt.Errorf("listen: %q is no path", path)
	}
	// Absolute, so that Close removes the same file after a change of
	// directory.
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := removeStale(path); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l, err := bind(path, mode, o)
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	return l, nil
}

// bind does the steps of net.Listen one by one, because mode and owner must be
// set between bind and listen: before bind there is no file, after listen
// clients connect.
func bind(path string, mode fs.FileMode, o options) (_ net.Listener, err error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close() // net.FileListener works on a copy
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	if err := os.Chmod(path, mode); err != nil {
		return nil, err
	}
	if o.uid != -1 || o.gid != -1 {
		if err := os.Lchown(path, o.uid, o.gid); err != nil {
			return nil, err
		}
	}
	if err := syscall.Listen(fd, syscall.SOMAXCONN); err != nil {
		return nil, err
	}
	made, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	l, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l, path: path, made: made}, nil
}

// removeStale removes a socket at which no process listens.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there and is no socket: move it away", path)
	}
	c, err := net.Dial("unix", path) //nolint:noctx // a local socket answers at once or never
	if err == nil {
		_ = c.Close()
		return fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		// For example a full backlog: a process listens and is busy.
		return fmt.Errorf("%s: %w: %w", path, ErrInUse, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// listener removes its own socket when it is closed.
type listener struct {
	net.Listener
	path string
	made fs.FileInfo
	once sync.Once
	err  error
}

// Close stops listening and removes the socket.
func (l *listener) Close() error {
	l.once.Do(func() {
		// Remove first: a client that still finds this file gets an answer or a
		// refusal from us, and never confuses it with a successor's socket.
		if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.made) {
			_ = os.Remove(l.path)
		}
		l.err = l.Listener.Close()
	})
	return l.err
}
