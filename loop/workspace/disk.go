package workspace

import (
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/regexp"
)

// git's words for a write that failed. LC_ALL=C keeps them English. The reason
// ends its line; elsewhere the same words are part of a file's name.
var (
	saysFull  = regexp.MustCompile(`(?m)(?:: No space left on device|write error\. Out of diskspace)$`)
	saysQuota = regexp.MustCompile(`(?m): Disk quota exceeded$`)
	saysWrite = regexp.MustCompile(`(?m)^(?:error|fatal): (?:unable to write|failed to write|could not write|cannot write|write error)`)
)

// fullBelow is the free space, in bytes, below which a write that failed without
// a reason counts as failed for lack of space. git removes an unfinished file
// before it ends, so some space may be there again.
const fullBelow = 16 << 20

// diskError returns syscall.ENOSPC or syscall.EDQUOT if the standard error of a
// git that failed shows that it could not write for lack of space, else nil.
// git's checkout gives no reason where a write fails; then the free space of the
// file systems that git wrote to decides. paths may hold "".
func diskError(stderr string, paths ...string) error {
	switch {
	case saysFull.MatchString(stderr):
		return syscall.ENOSPC
	case saysQuota.MatchString(stderr):
		return syscall.EDQUOT
	case !saysWrite.MatchString(stderr):
		return nil
	}
	for _, p := range paths {
		var s unix.Statfs_t
		if p == "" || unix.Statfs(p, &s) != nil {
			continue
		}
		if s.Bavail*uint64(s.Bsize) < fullBelow || s.Files > 0 && s.Ffree == 0 {
			return syscall.ENOSPC
		}
	}
	return nil
}

// writesTo returns the folders that a call writes to.
func (c call) writesTo() []string {
	dirs := []string{c.work, c.gitDir}
	if c.index != "" {
		dirs = append(dirs, filepath.Dir(c.index))
	}
	return dirs
}
