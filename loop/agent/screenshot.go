package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Screenshot returns the bytes that a session of KindShot left for a picture. They are
// those of a file that the session wrote, and were looked at by nobody. The error for
// a session that left none is fs.ErrNotExist.
func (r *Runner) Screenshot(session string) ([]byte, error) {
	if err := checkName("session", session); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(r.folder(session), fileShot))
	if err != nil {
		return nil, fmt.Errorf("picture of session %s: %w", session, err)
	}
	return data, nil
}

// DropScreenshot removes what Screenshot returns, once it is kept elsewhere.
func (r *Runner) DropScreenshot(session string) error {
	if err := checkName("session", session); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(r.folder(session), fileShot)); err != nil && !isGone(err) {
		return fmt.Errorf("picture of session %s: %w", session, err)
	}
	return nil
}

// shotPath returns the path of the file that a command of KindShot writes.
func (r *Runner) shotPath(session string) string {
	return filepath.Join(r.folder(session), dirBox, boxTmp, fileShot)
}

// keepShot copies what a command of KindShot left out of its TMPDIR, which is removed,
// into the session's folder. It says in the exit why there is nothing to copy. A full
// disk is an error, and Wait may be called again.
func (r *Runner) keepShot(x *ledger.Exit, folder string) error {
	var s spec
	if err := readJSON(filepath.Join(folder, fileSpec), &s); err != nil || s.Kind != ledger.KindShot || x.NotBegun {
		return nil //nolint:nilerr // nothing tells that it was to take a picture
	}
	kept := filepath.Join(folder, fileShot)
	if _, err := os.Lstat(kept); err == nil {
		return nil
	}
	data, err := readShot(filepath.Join(folder, dirBox))
	if err != nil {
		if x.Text == "" {
			x.Text = err.Error()
		}
		return nil
	}
	return fsutil.Replace(kept, data, 0o600)
}

// readShot reads the file, which the session could have made anything of: it follows
// no link, waits for no other end of a pipe, and reads no more than a file may have.
func readShot(box string) ([]byte, error) {
	root, err := os.OpenRoot(box)
	if err != nil {
		return nil, errors.New("its folder cannot be read")
	}
	defer func() { _ = root.Close() }()
	path := filepath.Join(boxTmp, fileShot)
	info, err := root.Lstat(path)
	if isGone(err) {
		return nil, errors.New("it left no picture")
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("what it left is no file")
	}
	f, err := root.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.New("what it left cannot be read")
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() { // nobody is there to put another one in its place; its session has ended
		return nil, errors.New("what it left is no file")
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return nil, errors.New("what it left is a link to another file")
	}
	data, err := io.ReadAll(io.LimitReader(f, ledger.MaxAttachment+1))
	switch {
	case err != nil:
		return nil, errors.New("what it left cannot be read")
	case len(data) > ledger.MaxAttachment:
		return nil, fmt.Errorf("its picture is larger than %d MB", ledger.MaxAttachment>>20)
	case len(data) == 0:
		return nil, errors.New("its picture is empty")
	}
	return data, nil
}
