package agent

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Free space, in bytes, by which a command that failed is judged.
const (
	enoughDisk = 2 << 30 // a run starts with this much (docs/spec 2.0)
	noDisk     = 1 << 20 // less is a full disk, whatever the command says
)

// saysFull matches the words of programs that met a full disk. They count only on
// a disk with little space: a test can print anything.
var saysFull = regexp.MustCompile(`(?i)no space left on device|\bENOSPC\b|disk quota exceeded`)

// space is the free space of the file systems that a session writes to.
type space struct {
	state  uint64 // free bytes where the state folder is
	inodes bool   // that has free inodes, or does not count them
	least  uint64 // free bytes of the fullest
}

// freeSpace measures the file systems of the state folder and of other folders.
func freeSpace(state string, others []string) space {
	s := space{state: 1 << 62, inodes: true, least: 1 << 62}
	var st unix.Statfs_t
	free := func(dir string) (uint64, bool) {
		err := unix.Statfs(dir, &st)
		return st.Bavail * uint64(st.Bsize), err == nil
	}
	for _, dir := range others {
		if n, ok := free(dir); ok {
			s.least = min(s.least, n)
		}
	}
	if n, ok := free(state); ok {
		s.state, s.inodes, s.least = n, st.Files == 0 || st.Ffree > 0, min(s.least, n)
	}
	return s
}

// isFull reports whether a command that failed with an output met a full disk.
// Elsewhere than in the state folder a file system without space may be one that
// nobody writes to.
func (s space) isFull(output string) bool {
	return s.state < noDisk || !s.inodes || s.least < enoughDisk && saysFull.MatchString(output)
}

// filledBy reports whether a command that began with this space filled the disk
// by itself. Waiting for space would repeat that all night.
func (s space) filledBy(wrote uint64) bool { return s.state >= enoughDisk && wrote >= s.state/2 }

// writesTo returns the folders that the session writes to, as they are called
// outside of its mounts.
func (p plan) writesTo() []string {
	dirs := p.unmounted()
	for _, m := range p.Mounts {
		dirs = append(dirs, m.Upper)
	}
	return dirs
}

// unmounted returns the writable folders at which nothing is mounted.
func (p plan) unmounted() []string {
	mounted := map[string]bool{}
	for _, m := range p.Mounts {
		mounted[m.At] = true
	}
	var dirs []string
	for _, dir := range p.Write {
		if !mounted[dir] {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// judgeDisk corrects the session's exit if it failed for lack of space. That is
// nobody's fault, unless the session itself took all of it.
func (s *supervisor) judgeDisk() {
	if !s.metFullDisk() {
		return
	}
	x, wrote := &s.exit, uint64(0)
	if s.space.state >= enoughDisk {
		wrote = writtenSince(s.spec.Plan.writesTo(), x.Started.Unix())
	}
	if s.space.filledBy(wrote) {
		x.Reason, x.Text = ledger.ExitSelf, fmt.Sprintf("it wrote %.1f GB and filled the disk", float64(wrote)/1e9)
		return
	}
	x.Reason, x.Text = ledger.ExitDisk, "the disk is full"
}

// metFullDisk reports whether the session ended as it did for lack of space. What
// an agent prints is no sign of it, nor is its exit code: if its event was
// accepted, the reason does not matter.
func (s *supervisor) metFullDisk() bool {
	x, now := s.exit, freeSpace(s.spec.State, s.spec.Plan.writesTo())
	switch {
	case x.Reason == ledger.ExitDisk:
		return true
	case x.Reason == ledger.ExitNotStarted:
		return now.isFull(x.Text)
	case x.Reason != ledger.ExitSelf:
		return false
	case s.spec.Kind == ledger.KindAgent:
		return now.isFull("")
	}
	return x.Code != 0 && now.isFull(x.Tail)
}

// writtenSince returns the size, in bytes, of the files that changed since a
// time.
func writtenSince(dirs []string, unixTime int64) (size uint64) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read is not counted
			if err != nil || !d.Type().IsRegular() {
				return nil //nolint:nilerr // see above
			}
			if info, err := d.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok && changedAt(st) >= unixTime {
					size += uint64(st.Blocks) * 512
				}
			}
			return nil
		})
	}
	return size
}
