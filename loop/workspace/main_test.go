package workspace

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/leaktest"
)

func TestMain(m *testing.M) {
	leaktest.Main(func() int {
		defer func() { _ = os.RemoveAll(firstShop.dir) }()
		dir := memoryDir()
		if dir == "" {
			return m.Run()
		}
		defer func() {
			_ = makeAccessible(dir)
			_ = os.RemoveAll(dir)
		}()
		if err := os.Setenv("TMPDIR", dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	})
}

// memoryDir makes a folder in memory for the folders of all tests, or returns "".
// They start some ten thousand git processes, and a disk makes them take twice as
// long. Other packages cannot have it: a session sees a /dev/shm of its own. make
// soak runs the tests on the disk.
//
// The file system has to let the tests do what a disk does: run the programs that
// traps would start, and lie below and above an overlay.
func memoryDir() string {
	const shm = "/dev/shm"
	var fs unix.Statfs_t
	if os.Getenv("NIGHTPORTER_SOAK") != "" || unix.Statfs(shm, &fs) != nil || fs.Type != unix.TMPFS_MAGIC ||
		fs.Flags&unix.MS_NOEXEC != 0 || fs.Bavail*uint64(fs.Bsize) < 2<<30 { //nolint:gosec // the size of a block is positive
		return ""
	}
	dir, err := os.MkdirTemp(shm, "np")
	if err != nil {
		return ""
	}
	if os.Chmod(dir, 0o755) != nil || unix.Setxattr(dir, "user.overlay.opaque", []byte("x"), 0) != nil { // Linux 6.6
		_ = os.Remove(dir)
		return ""
	}
	return dir
}
