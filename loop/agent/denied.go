package agent

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/text"
)

// maxDenied limits how many rules of denied calls an exit names.
const maxDenied = 5

// deniedCalls returns the rules by which the session's wrappers refused calls,
// each once, at most maxDenied. They are for people alone: the session can write that file.
func deniedCalls(folder string) []string {
	fd, err := unix.Open(filepath.Join(folder, dirBox, boxTmp, guard.DeniedFile), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // nothing was denied
	}
	f := os.NewFile(uintptr(fd), guard.DeniedFile)
	defer func() { _ = f.Close() }()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, 8<<10))
	if err != nil {
		return nil
	}
	var out []string
	for line := range bytes.Lines(data) {
		call := text.OneLine(string(line[:min(len(line), 120)]))
		if call != "" && !slices.Contains(out, call) && len(out) < maxDenied {
			out = append(out, call)
		}
	}
	return out
}
