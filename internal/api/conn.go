package api

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// exchange connects, sends the request and reads the answer. An answer that
// does not arrive completely is an ErrLater.
func exchange(ctx context.Context, socket string, request []byte) (response, error) {
	f, err := dial(socket)
	if err != nil {
		return response{}, fmt.Errorf("%w: %w", ErrLater, err)
	}
	defer f.Close()
	// When ctx ends, a deadline in the past wakes any wait on the connection.
	stop := context.AfterFunc(ctx, func() { _ = f.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	_, writeErr := f.Write(request)
	// Read even after a failed write: a daemon that refuses a request early
	// answers and hangs up before it has read everything.
	answer, err := readResponse(f)
	if err != nil && writeErr != nil {
		return response{}, fmt.Errorf("%w: send: %w", ErrLater, writeErr)
	}
	return answer, err
}

// dial connects to a Unix socket by system calls. Package net would double the
// start-up time of hat.
func dial(path string) (*os.File, error) {
	// The lock keeps a child started at this moment from inheriting the
	// descriptor; not every system has SOCK_CLOEXEC.
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	// Non-blocking, so that os.File supports deadlines. A connection to a Unix
	// socket succeeds at once or, with a full backlog, fails (EAGAIN).
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return nil, fmt.Errorf("socket: %w", err)
	}
	for {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		_ = syscall.Close(fd)
		return nil, fmt.Errorf("connect %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}
