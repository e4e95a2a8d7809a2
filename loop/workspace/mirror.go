package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Mirror is the copy of a project's ledger in its checkout (docs/spec 8.2): JSON Lines in
// .ralph/events/PROJECT-rN.jsonl, a file for each run. What was committed before a run
// was planned is in the file before, and before the first one in PROJECT-r0.jsonl. What
// all projects share is in house.jsonl.
//
// Nothing depends on it: a file that people removed or damaged is no error of a run.
// Only its owner can read it, because it has what people and agents said.
type Mirror struct {
	notebook *Notebook
	project  string // "" for what all projects share
}

// NewMirror returns the mirror of a project in the checkout at repo, an absolute path, or
// with "" that of what all projects share. It does no I/O.
func NewMirror(repo, project string) *Mirror { return &Mirror{NewNotebook(repo), project} }

// mirrorFolder is the folder of mirrors below .ralph.
const mirrorFolder = "events"

// MirrorFolder returns the folder of the mirrors in the checkout at repo.
func MirrorFolder(repo string) string { return filepath.Join(repo, ".ralph", mirrorFolder) }

// file returns the path below .ralph of a run's file.
func (m *Mirror) file(run int) string {
	if m.project == "" {
		return path.Join(mirrorFolder, "house.jsonl")
	}
	return path.Join(mirrorFolder, m.project+"-r"+strconv.Itoa(run)+".jsonl")
}

// End returns the last line of the mirror, without its newline, and the number of the
// run whose file has it; no line if there is none. A line that was cut off, as by a loss
// of power, is removed before.
func (m *Mirror) End(ctx context.Context) (run int, line []byte, err error) {
	m.notebook.mu.Lock()
	defer m.notebook.mu.Unlock()
	root, lock, err := m.notebook.openFolder(ctx, mirrorFolder)
	if err != nil {
		return 0, nil, m.notebook.asInputError("read the copy of the ledger", err)
	}
	defer root.Close()
	defer lock.Close()
	runs, err := m.runs(root)
	for _, run := range slices.Backward(runs) {
		line, err := lastLine(root, m.file(run))
		if err != nil {
			return 0, nil, m.notebook.asInputError("read the copy of the ledger", err)
		}
		if len(line) > 0 {
			return run, line, nil
		}
	}
	return 0, nil, err
}

// runs returns the numbers of the runs that have a file, in ascending order.
func (m *Mirror) runs(root *os.Root) (runs []int, err error) {
	if m.project == "" {
		if _, err := root.Lstat(m.file(0)); err == nil {
			return []int{0}, nil
		}
		return nil, nil
	}
	files, err := fs.ReadDir(root.FS(), mirrorFolder)
	for _, f := range files {
		number, ok := strings.CutPrefix(f.Name(), m.project+"-r")
		number, is := strings.CutSuffix(number, ".jsonl")
		if run, err := strconv.Atoi(number); ok && is && err == nil && f.Name() == path.Base(m.file(run)) {
			runs = append(runs, run)
		}
	}
	slices.Sort(runs)
	return runs, err
}

// lastLine returns the last line of a file without its newline, and removes what
// follows it.
func lastLine(root *os.Root, file string) ([]byte, error) {
	f, size, err := openMirror(root, file, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const block = 64 << 10
	var tail []byte
	end := int64(-1) // behind the newline of the last whole line
	for at := size; ; {
		if cut := bytes.LastIndexByte(tail, '\n'); cut >= 0 && end < 0 {
			tail = tail[:cut]
			if end = at + int64(cut) + 1; end < size {
				if err := f.Truncate(end); err != nil {
					return nil, err
				}
			}
		}
		if end >= 0 {
			if cut := bytes.LastIndexByte(tail, '\n'); cut >= 0 {
				return tail[cut+1:], nil
			}
		}
		if at == 0 {
			if end < 0 {
				return nil, f.Truncate(0)
			}
			return tail, nil
		}
		n := min(at, block)
		before := make([]byte, n, n+int64(len(tail)))
		if _, err := f.ReadAt(before, at-n); err != nil {
			return nil, err
		}
		tail, at = append(before, tail...), at-n
	}
}

// openMirror opens a plain file of a mirror.
func openMirror(root *os.Root, file string, flags int) (*os.File, int64, error) {
	if info, err := root.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return nil, 0, errInTheWay(".ralph/"+file, info, "a file")
	}
	f, err := root.OpenFile(file, flags|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Append writes whole lines to the end of a run's file. It does not wait for the disk:
// what a loss of power takes away is found by End, and copied again.
func (m *Mirror) Append(ctx context.Context, run int, lines []byte) (err error) {
	m.notebook.mu.Lock()
	defer m.notebook.mu.Unlock()
	defer func() {
		if err != nil {
			err = m.notebook.asInputError("copy the ledger", err)
		}
	}()
	root, lock, err := m.notebook.openFolder(ctx, mirrorFolder)
	if err != nil {
		return err
	}
	defer root.Close()
	defer lock.Close()
	f, size, err := openMirror(root, m.file(run), os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if size == 0 {
		if owner, err := ownerOf(m.notebook.repo); err == nil && owner != nil {
			if err := f.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
				return err
			}
		}
	}
	_, err = f.Write(lines)
	return err
}

// SetAside renames the files of the mirror, because they are the copy of another ledger:
// the state folder is a new one, or an older one.
func (m *Mirror) SetAside(ctx context.Context) error {
	m.notebook.mu.Lock()
	defer m.notebook.mu.Unlock()
	root, lock, err := m.notebook.openFolder(ctx, mirrorFolder)
	if err != nil {
		return m.notebook.asInputError("put the copy of another ledger aside", err)
	}
	defer root.Close()
	defer lock.Close()
	runs, err := m.runs(root)
	for _, run := range runs {
		err = errors.Join(err, setAside(root, m.file(run)))
	}
	if err != nil {
		return m.notebook.asInputError("put the copy of another ledger aside", err)
	}
	return nil
}

// setAside gives a file the first name that is free.
func setAside(root *os.Root, file string) error {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.%d.old", file, n)
		if _, err := root.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return root.Rename(file, to)
		}
	}
}
