package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/fsutil"
)

// install puts nightporter and hat into STATE/bin/HASH and returns that
// folder. Sessions outlive the daemon and its release, and `go run` deletes
// its program at exit: shims run from a copy that nobody replaces.
func install(o Options) (string, error) {
	self := o.Self
	if self == "" {
		var err error
		if self, err = os.Executable(); err != nil {
			return "", err
		}
	}
	files := map[string]string{"nightporter": self}
	if o.Hat != "" {
		files["hat"] = o.Hat
	}
	sum := sha256.New()
	for _, n := range []string{"nightporter", "hat"} {
		if files[n] == "" {
			continue
		}
		if _, err := io.WriteString(sum, n+"\x00"); err != nil {
			return "", err
		}
		if err := readInto(sum, files[n]); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(o.State, "bin", hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // it appeared in one step, so it is whole
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // gone already where it was renamed
	for n, from := range files {
		if err := copyProgram(filepath.Join(tmp, n), from); err != nil {
			return "", err
		}
	}
	if o.Hat == "" {
		if err := os.Symlink("nightporter", filepath.Join(tmp, "hat")); err != nil {
			return "", err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	if err := fsutil.SyncDir(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return dir, nil // another process was faster, with the same content
		}
		return "", err
	}
	return dir, fsutil.SyncDir(parent)
}

func readInto(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(w, f)
	return err
}

func copyProgram(to, from string) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if err := readInto(out, from); err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", from, err), out.Close())
	}
	// Chmod besides the mode above, which the umask cuts.
	return errors.Join(out.Chmod(0o755), out.Sync(), out.Close())
}
