package task

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// writeTemp writes a file beside path and returns its name. The file stays
// unnamed until it is complete and on disk, so that a crash leaves nothing
// behind.
func writeTemp(path string, data []byte, like fs.FileInfo) (string, error) {
	dir := filepath.Dir(path)
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return writeNamed(path, data, like) // the file system has no unnamed files
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	if err := fill(file, data, like); err != nil {
		return "", err
	}
	for {
		name := filepath.Join(dir, strings.Replace(tempPattern(path), "*", fmt.Sprintf("%016x", rand.Uint64()), 1))
		err := unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
		switch {
		case err == nil:
			return name, nil
		case !errors.Is(err, unix.EEXIST):
			return writeNamed(path, data, like) // /proc is missing
		}
	}
}
