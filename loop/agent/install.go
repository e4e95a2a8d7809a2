package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// install copies nightporter and hat to STATE/bin/HASH and returns that folder.
// Shims run from this copy, because sessions outlive the daemon and its
// release, and because `go run` deletes its program at exit.
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
		return dir, nil // the folder is renamed into place, so it is complete
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // after the rename it no longer exists
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
		if _, statErr := os.Stat(dir); statErr == nil {
			return dir, nil // another process has installed the same content
		}
		return "", err
	}
	return dir, fsutil.SyncDir(parent)
}

// reinstall makes the copies of New again if they are gone: STATE/bin may be deleted.
// Where this program's file was replaced meanwhile, its old content is read from the
// process.
func (r *Runner) reinstall() error {
	if _, err := os.Stat(r.Program()); !errors.Is(err, fs.ErrNotExist) {
		return nil // whatever else is wrong is found by what needs the program
	}
	for _, self := range []string{r.o.Self, "/proc/self/exe"} {
		o := r.o
		o.Self = self
		if dir, err := install(o); err == nil && dir == r.bin {
			return nil
		}
	}
	return missingPrograms(r.bin)
}

// missingPrograms is the error of a folder of programs that cannot be made again: the
// release was replaced, and the next start makes the folder of that one.
type missingPrograms string

func (m missingPrograms) Error() string {
	return fmt.Sprintf("%s is gone and cannot be made again, because another release is installed: start nightporter again", string(m))
}

// Fault makes missingPrograms a fault.Error of internal/fault.
func (missingPrograms) Fault() ledger.Fault { return ledger.FaultMachine }

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
	// The umask restricts the mode given at creation, so Chmod sets it again.
	return errors.Join(out.Chmod(0o755), out.Sync(), out.Close())
}
