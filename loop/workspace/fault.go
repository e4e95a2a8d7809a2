package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/regexp"
)

// gitFaults lists git's words for errors of the system that make it fail.
// LC_ALL=C keeps them English. The reason ends its line; elsewhere the same words
// are part of a file's name.
var gitFaults = []struct {
	says *regexp.Regexp
	is   syscall.Errno
}{
	{regexp.MustCompile(`(?m)(?:: No space left on device|write error\. Out of diskspace)$`), syscall.ENOSPC},
	{regexp.MustCompile(`(?m): Disk quota exceeded$`), syscall.EDQUOT},
	{regexp.MustCompile(`(?m): Read-only file system$`), syscall.EROFS},
	{regexp.MustCompile(`(?m): Input/output error$`), syscall.EIO},
	{regexp.MustCompile(`(?m): Stale file handle$`), syscall.ESTALE},
	{regexp.MustCompile(`(?m): Transport endpoint is not connected$`), syscall.ENOTCONN},
	{regexp.MustCompile(`(?m): Cannot allocate memory$|^fatal: Out of memory, \w+ failed`), syscall.ENOMEM},
	{regexp.MustCompile(`(?m): Too many open files$`), syscall.EMFILE},
	{regexp.MustCompile(`(?m): Too many open files in system$`), syscall.ENFILE},
	{regexp.MustCompile(`(?m): Resource temporarily unavailable$`), syscall.EAGAIN},
	{regexp.MustCompile(`(?m): (?:Text file busy|Device or resource busy)$`), syscall.EBUSY},
	{saysLocked, syscall.EBUSY},
	{regexp.MustCompile(`(?m)^error: \S+ died of signal \d+$`), syscall.EINTR}, // a helper of git
}

// saysLocked matches git's words for a lock that another process holds, or that
// one left behind when it was killed.
var saysLocked = regexp.MustCompile(`(?m)Unable to create '(/.+\.lock)': File exists\.$`)

// saysWrite matches git's words for a write that failed for an unnamed reason.
var saysWrite = regexp.MustCompile(`(?m)^(?:error|fatal): (?:unable to write|failed to write|could not write|cannot write|write error)`)

// fullBelow is the free space, in bytes, below which a write that failed without
// a reason counts as failed for lack of space. git removes an unfinished file
// before it ends, so some space may be there again.
const fullBelow = 16 << 20

// gitFault returns the error of the system that made a git fail, by its standard
// error, or nil. It is called for a git that failed: one that succeeded may have
// met any of them. git's checkout gives no reason where a write fails; then the
// free space of the file systems that git wrote to decides. paths may hold "".
func gitFault(stderr string, paths ...string) error {
	for _, f := range gitFaults {
		if f.says.MatchString(stderr) {
			return f.is
		}
	}
	if !saysWrite.MatchString(stderr) {
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

// dropLockOf removes the lock that a git names as the reason of its failure, if it
// lies in our repository and is stale. A lock in the user's repository is never
// removed: the process that holds it may be on another machine.
func (w *Workspace) dropLockOf(ctx context.Context, stderr string) error {
	m := saysLocked.FindStringSubmatch(stderr)
	if m == nil {
		return nil
	}
	if in, err := filepath.Rel(w.gitDir, m[1]); err != nil || strings.HasPrefix(in, "..") {
		return nil
	}
	if err := w.dropStaleLock(ctx, m[1]); err != nil {
		return fmt.Errorf("after git: %w", err)
	}
	return nil
}
