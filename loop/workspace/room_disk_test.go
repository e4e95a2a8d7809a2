package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// smallDisk mounts a file system of a few megabytes, and returns a function that
// leaves so many bytes free on it; -1 frees all that it took.
func smallDisk(t *testing.T) (dir string, leave func(free int64)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can mount a small disk")
	}
	dir = filepath.Join(t.TempDir(), "disk")
	must(t, os.Mkdir(dir, 0o755))
	must(t, unix.Mount("none", dir, "tmpfs", 0, "size=40m"))
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir, func(free int64) {
		t.Helper()
		ballast := filepath.Join(dir, "ballast")
		must(t, os.RemoveAll(ballast))
		var s unix.Statfs_t
		must(t, unix.Statfs(dir, &s))
		if free < 0 {
			return
		}
		f, err := os.Create(ballast)
		must(t, err)
		must(t, unix.Fallocate(int(f.Fd()), 0, 0, int64(s.Bavail)*s.Bsize-free))
		must(t, f.Close())
	}
}

// TestFullDisk fills the disk at each step of a check. Each error says so,
// whichever program met it, and the same step works once there is space.
func TestFullDisk(t *testing.T) {
	bothWays(t, func(t *testing.T, mounts bool) {
		if !mounts && os.Getenv("NIGHTPORTER_SOAK") == "" {
			t.Skip("SKIPPED: NIGHTPORTER_SOAK=1 fills the disk below copied rooms, too")
		}
		disk, leave := smallDisk(t)
		r := newRoomWorld(t, mounts, func(o *Options) { o.State = disk })
		var files strings.Builder
		for n := range 12 {
			fmt.Fprintf(&files, "head -c 100000 /dev/urandom >data%d\n", n)
		}
		use := ledger.RoomUse{Tree: r.tree(files.String()), Parent: r.base.Commit, Setup: r.use.Setup}
		own := ledger.RoomUse{Tree: r.tree(files.String() + "echo 'module own' >go.mod"), Parent: r.base.Commit, Setup: r.use.Setup}
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"restore the work folder", func() error { return r.w.Restore(t.Context(), only("r1", use.Tree)) }},
			{"begin a layer", func() error { _, err := r.w.SetupRoom(t.Context(), own, 0); return err }},
			{"lay a room over a new layer", func() error { _, err := r.w.LayRoom(t.Context(), own, true); return err }},
			{"make a layer without setup, and lay a room", func() error {
				_, err := r.w.LayRoom(t.Context(), ledger.RoomUse{Tree: use.Tree}, true)
				return err
			}},
		} {
			leave(0)
			if err := step.do(); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s on a full disk: %v", step.name, err)
			}
			leave(-1)
			if err := step.do(); err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		}
		r.setup(r.use)
		for _, free := range []int64{0, 100 << 10} {
			leave(free)
			if _, err := r.w.LayRoom(t.Context(), use, true); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("lay a room, %d bytes free: %v", free, err)
			}
		}
		leave(-1)
		if got := inRoom(t, r.lay(use, false), "ls data* | wc -l; git status --porcelain --untracked-files=no; cat node_modules/from"); got != "12\nmodule shop" {
			t.Errorf("the room shows %q", got)
		}
	})
}

// TestFaultWords tells git's words for errors of the system from names of files.
func TestFaultWords(t *testing.T) {
	dir := t.TempDir()
	for stderr, want := range map[string]error{
		"error: unable to create file f98: No space left on device\n":                                             syscall.ENOSPC,
		"error: copy-fd: write returned: No space left on device\nfatal: cannot copy 'a' to 'b': x\n":             syscall.ENOSPC,
		"fatal: sha1 file '/s/x.lock' write error. Out of diskspace\n":                                            syscall.ENOSPC,
		"fatal: unable to write loose object file: Disk quota exceeded\n":                                         syscall.EDQUOT,
		"fatal: Unable to create '/s/.git/index.lock': File exists.\n\nAnother git process seems to be running\n": syscall.EBUSY,
		"error: cannot lock ref 'refs/heads/x': Unable to create '/s/x.lock': File exists.\n":                     syscall.EBUSY,
		"fatal: Unable to create '/s/x.lock': Permission denied\n":                                                nil,
		"error: open(\"a\"): Too many open files\n":                                                               syscall.EMFILE,
		"error: cannot fork() for rev-list: Resource temporarily unavailable\n":                                   syscall.EAGAIN,
		"fatal: Out of memory, malloc failed (tried to allocate 9 bytes)\n":                                       syscall.ENOMEM,
		"fatal: cannot pread pack file: Input/output error\n":                                                     syscall.EIO,
		"error: unable to create temporary file: Read-only file system\n":                                         syscall.EROFS,
		"error: rev-list died of signal 9\n":                                                                      syscall.EINTR,
		"error: unable to write file f997\n":                                                                      nil, // there is space
		"error: invalid path 'x: No space left on device'\n":                                                      nil,
		"fatal: pathspec 'No space left on device' did not match any files\n":                                     nil,
		"fatal: not a git repository: '/x'\n":                                                                     nil,
		"warning: x: No space left on device, or so somebody named a file\nfatal: bad object\n":                   nil,
	} {
		if got := gitFault(stderr, dir, ""); got != want { //nolint:errorlint // the very value
			t.Errorf("%q: %v, want %v", stderr, got, want)
		}
	}
}
