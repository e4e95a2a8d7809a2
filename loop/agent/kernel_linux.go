package agent

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// installedMemory returns the memory of the machine in bytes, 0 if unknown.
func installedMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// changedAt returns when a file or its attributes changed last, in seconds since 1970.
func changedAt(st *syscall.Stat_t) int64 { return st.Ctim.Sec }

// allocate gives a file space on the disk. Its error is EOPNOTSUPP or ENOSYS where the
// file system cannot.
func allocate(f *os.File, size int64) error { return unix.Fallocate(int(f.Fd()), 0, 0, size) }

// onOverlay reports whether a folder lies on an overlay.
func onOverlay(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Type == unix.OVERLAYFS_SUPER_MAGIC
}
