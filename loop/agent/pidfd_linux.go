package agent

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// killIf ends the process with a number if it is the one that is meant. is is asked once
// the number cannot be reused unnoticed any more.
func killIf(pid int, is func() bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil { // the kernel predates 5.3
		if is() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if is() {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// waitProcess waits until the process that began at start has ended.
func waitProcess(ctx context.Context, pid int, start uint64) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil { // the kernel predates 5.10
		return pollProcess(ctx, pid, start)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer func() { _ = f.Close() }()
	// Checked after PidfdOpen: from there on the number cannot be reused
	// unnoticed.
	if !sameProcess(pid, start) {
		return nil
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		return err == nil && n > 0 && p[0].Revents != 0
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
