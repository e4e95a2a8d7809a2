//go:build unix

package task

import (
	"io/fs"
	"syscall"
)

// owner returns user and group of a file, -1 where they are unknown.
func owner(info fs.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return -1, -1
}
