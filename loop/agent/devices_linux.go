package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// deviceLinks are the links of /dev that programs rely on. /dev/ptmx leads to
// the session's own terminals.
var deviceLinks = [][2]string{
	{"/proc/self/fd", "/dev/fd"},
	{"/proc/self/fd/0", "/dev/stdin"},
	{"/proc/self/fd/1", "/dev/stdout"},
	{"/proc/self/fd/2", "/dev/stderr"},
	{"pts/ptmx", "/dev/ptmx"},
}

// mountDevices gives the session a /dev of its own, with shared memory and
// terminals of its own. In the machine's /dev, whoever owns a terminal reads
// what is typed there, turns its echo off and prints into it, and a session
// often has the user who owns all of them.
func mountDevices(l Limits) error {
	if _, err := os.Lstat("/dev"); err != nil {
		return nil //nolint:nilerr // a machine without /dev has no devices to give
	}
	handles := map[string]int{}
	defer func() {
		for _, fd := range handles {
			_ = unix.Close(fd)
		}
	}()
	for _, path := range devices {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		handles[path] = fd
	}
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=1m"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for path, fd := range handles {
		s := mountStep{path: path, from: fd}
		if err := s.do(); err != nil {
			return err
		}
	}
	for _, l := range deviceLinks {
		if err := os.Symlink(l[0], l[1]); err != nil {
			return err
		}
	}
	for _, dir := range []string{"shm", "pts"} {
		if err := os.Mkdir(filepath.Join("/dev", dir), 0o755); err != nil {
			return err
		}
	}
	shm := "mode=1777"
	if l.Memory > 0 {
		// Files there are memory that no process owns.
		shm += fmt.Sprintf(",size=%d", max(l.Memory/2, 64<<20))
	}
	if err := unix.Mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, shm); err != nil {
		return fmt.Errorf("mount /dev/shm: %w", err)
	}
	// A kernel that refuses this leaves /dev/pts empty: the session then has no
	// terminals, which most agents do not need (Runner.Terminals).
	err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("mount /dev/pts: %w", err)
	}
	return nil
}
