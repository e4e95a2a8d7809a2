//go:build unix

package task

import (
	"io/fs"
	"syscall"
)

// inode returns the device and inode number of a file.
func inode(info fs.FileInfo) (dev, ino uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), s.Ino //nolint:unconvert // not an uint64 on every system
	}
	return 0, 0
}

// owner returns user and group of a file, -1 where they are unknown.
func owner(info fs.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return -1, -1
}
