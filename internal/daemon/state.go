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

// takeState locks the state folder. It retries for 5 s while the folder is
// locked and no daemon listens there: the holder is then a short command or a
// daemon that is starting. Without the retry, a status command could keep a run
// from starting.
func takeState(ctx context.Context, dir string) (*statelock.Lock, error) {
	const patience, pause = 5 * time.Second, 10 * time.Millisecond
	for end := time.Now().Add(patience); ; {
		lock, err := statelock.Take(dir)
		var inUse *statelock.InUseError
		if !errors.As(err, &inUse) || Listens(dir) && !processEnded(inUse.PID) || time.Now().After(end) {
			return lock, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// processEnded reports whether a process has ended. A killed process can leave
// a child between fork and exec, which holds the parent's lock and socket for a
// moment longer.
func processEnded(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// Listens reports whether a daemon answers on the state folder's socket.
func Listens(state string) bool {
	c, err := net.DialTimeout("unix", socket.OperatorPath(state), time.Second) //nolint:noctx // bounded by its own time
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
