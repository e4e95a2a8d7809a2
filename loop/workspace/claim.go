package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Claim keeps other nightporters from one repository: an exclusive flock(2) on
// its folder of objects and refs. It writes nothing, needs no right but to read,
// holds for all users and all paths to the folder, and ends with the process,
// however that ends. A lock file in a public folder would have none of this.
type Claim struct{ folder *os.File }

// HeldError is the error for a repository that another process has claimed.
type HeldError struct {
	Repo string
	PID  int // 0 = not known
}

// Error names the process if it is known.
func (e *HeldError) Error() string {
	by := ""
	if e.PID > 0 {
		by = fmt.Sprintf(" (pid %d)", e.PID)
	}
	return "another nightporter" + by + " works on " + e.Repo + ", with a state folder of its own"
}

// TakeClaim claims a user's repository, or returns a *HeldError. Where the file
// system knows no such lock, as some network file systems, it returns a Claim
// that keeps nobody away.
func TakeClaim(ctx context.Context, repo string) (*Claim, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	t, err := (&Workspace{o: Options{Repo: repo}, program: program}).openUser(ctx)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(t.commonDir)
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", repo, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer func() { _ = f.Close() }()
		return nil, &HeldError{Repo: repo, PID: holder(f)}
	}
	return &Claim{f}, nil //nolint:nilerr // no lock can be had there
}

// Covers reports whether the claim is one of the repository at path, which may
// be another checkout of it.
func (c *Claim) Covers(ctx context.Context, repo string) bool {
	program, err := exec.LookPath("git")
	if err != nil {
		return false
	}
	t, err := (&Workspace{o: Options{Repo: repo}, program: program}).openUser(ctx)
	if err != nil {
		return false
	}
	ours, err := c.folder.Stat()
	if err != nil {
		return false
	}
	theirs, err := os.Stat(t.commonDir)
	return err == nil && os.SameFile(ours, theirs)
}

// Release gives the claim back.
func (c *Claim) Release() { _ = c.folder.Close() }

// holder returns the process that holds the flock on a file, 0 if the kernel
// does not say.
func holder(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	locks, _ := os.ReadFile("/proc/locks") // none on other systems
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK  ADVISORY  WRITE 2211 08:01:131 0 EOF
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] != "FLOCK" || !strings.HasSuffix(fields[5], ":"+strconv.FormatUint(st.Ino, 10)) {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
