package programtest

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// mountDisk mounts a file system in memory with a size, or gives a mounted one
// another size; -1 is the size that makes it full.
func mountDisk(dir string, megabytes int, mounted bool) error {
	size, flags := fmt.Sprintf("%dm", megabytes), uintptr(0)
	if mounted {
		flags = unix.MS_REMOUNT
	}
	if megabytes < 0 {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			return err
		}
		size = fmt.Sprint((int64(st.Blocks) - int64(st.Bfree)) * st.Bsize)
	}
	return unix.Mount("none", dir, "tmpfs", flags, "size="+size)
}

func unmountDisk(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }

// canMount reports whether disks can be mounted, by mounting one.
func canMount() bool {
	dir, err := os.MkdirTemp("", "disk")
	if err != nil {
		return false
	}
	defer func() { _ = os.Remove(dir) }()
	return mountDisk(dir, 1, false) == nil && unmountDisk(dir) == nil
}

// endWithTest ends a process with the test that started it.
func endWithTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
