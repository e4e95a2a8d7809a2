package daemon

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/internal/statelock"
)

// takeState takes the state folder's lock. While nobody listens there, it is
// held by a command that only asks or by a daemon that is about to listen, and
// is worth a short wait: a person's status line must not keep a run from
// starting, nor two of them each other from answering.
func takeState(ctx context.Context, dir string) (*statelock.Lock, error) {
	const patience, pause = 5 * time.Second, 10 * time.Millisecond
	for end := time.Now().Add(patience); ; {
		lock, err := statelock.Take(dir)
		var inUse *statelock.InUseError
		if !errors.As(err, &inUse) || Listens(dir) && !gone(inUse.PID) || time.Now().After(end) {
			return lock, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// gone reports whether a process is there no more. One that was killed can
// leave a child between its fork and its program, which holds what it held for
// a moment longer: lock and socket alike.
func gone(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// Listens reports whether a daemon holds the state folder and can be asked.
func Listens(state string) bool {
	c, err := net.DialTimeout("unix", socket.OperatorPath(state), time.Second) //nolint:noctx // bounded by its own time
	if err != nil {
		return false
	}
	_ = c.Close() // it was a question only
	return true
}
