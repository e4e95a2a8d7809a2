package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/backlogmd"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Mark implements Source. With Options.CommitStatus it does nothing. A completed task
// has no status to write: it is done by its place, and counts as gone for any other
// mark.
func (s *folderSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	if ctx.Err() != nil || s.opts.CommitStatus || len(marks) == 0 {
		return context.Cause(ctx)
	}
	r, err := s.load(ctx)
	if err != nil {
		return s.markError(err, marks, nil)
	}
	var gone []string
	for n, m := range marks {
		if slices.ContainsFunc(marks[n+1:], func(later ledger.Marking) bool { return ledger.SameID(later.Task, m.Task) }) {
			continue
		}
		f := r.fileOf(m.Task)
		if f == nil || f.task.Completed && m.Mark != ledger.MarkDone {
			gone = append(gone, m.Task)
			continue
		}
		if f.task.Completed {
			continue
		}
		err := f.rewrite(ctx, func(fresh []byte) ([]byte, error) { return backlogmd.Mark(r.config, f.rel, fresh, m.Mark) })
		if errors.Is(err, fs.ErrNotExist) && s.blameRepository(err) == err {
			gone = append(gone, m.Task) // moved since it was listed
		} else if err != nil {
			return s.markError(err, marks, gone)
		}
	}
	return s.markError(nil, marks, gone)
}

// fileOf returns the file of a task, or nil.
func (r *folderReading) fileOf(id string) *taskFile {
	n := slices.IndexFunc(r.files, func(f taskFile) bool { return ledger.SameID(f.task.ID, id) })
	if n < 0 {
		return nil
	}
	return &r.files[n]
}

// Log implements Source, into a progress log in the folder. With Options.CommitStatus
// it does nothing.
func (s *folderSource) Log(ctx context.Context, p ledger.Progress) error {
	if ctx.Err() != nil || s.opts.CommitStatus {
		return context.Cause(ctx)
	}
	err := s.log(ctx, p)
	if err = s.blameRepository(err); err != nil {
		return fmt.Errorf("log to %s: %w", s.progressPath(), err)
	}
	return nil
}

func (s *folderSource) log(ctx context.Context, p ledger.Progress) error {
	l, err := s.list()
	if err != nil {
		return err
	}
	like := s.progressPath()
	if all := l.all(); len(all) > 0 {
		like = all[0]
	}
	log := appendedFile{s.file(s.progressPath()).sourcePath, s.file(like).sourcePath}
	return log.append(ctx, func(old []byte) []byte { return progressEntry(form.Name(s.rel), old, p, s.opts.Zone) })
}

// Stamp returns the tasks' files and the progress log of a commit's tree with marks
// and an entry added, by path below the repository. read returns a file of that tree,
// or nil. What is not in the tree stays as it is: the ledger alone decides which tasks
// are done.
func (s *folderSource) Stamp(read func(path string) ([]byte, error), marks []ledger.Marking, p ledger.Progress) (map[string][]byte, error) {
	r, err := s.load(context.Background())
	if err != nil {
		return nil, s.folderError(err)
	}
	files := map[string][]byte{}
	for _, m := range marks {
		f := r.fileOf(m.Task)
		if f == nil {
			continue
		}
		text := files[f.rel]
		if text == nil {
			if text, err = read(f.rel); err != nil || text == nil {
				return nil, err
			}
		}
		if files[f.rel], err = backlogmd.Mark(r.config, f.rel, text, m.Mark); err != nil {
			return nil, fmt.Errorf("mark %s: %w", f.rel, err)
		}
	}
	log, err := read(s.progressPath())
	if err != nil {
		return nil, err
	}
	files[s.progressPath()] = AppendProgress(form.Name(s.rel), log, p, s.opts.Zone)
	return files, nil
}

// lockFolder keeps other calls of nightporter from adding files. Closing the result
// unlocks it.
func (s *folderSource) lockFolder(ctx context.Context) (*os.File, error) {
	return lockDir(ctx, filepath.Join(s.path, openFolderName))
}

// lockDir takes the lock of a folder. Closing the result unlocks it.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	file, _, err := lockFile(ctx, func() (*os.File, string, error) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, "", err
		}
		file, err := os.OpenFile(real, os.O_RDONLY|unix.O_DIRECTORY, 0)
		return file, real, err
	})
	return file, err
}

// addOnce implements onceAdder: a file for each task.
func (s *folderSource) addOnce(ctx context.Context, a ledger.AddTasks) (ledger.AddedTasks, error) {
	if ctx.Err() != nil {
		return ledger.AddedTasks{}, context.Cause(ctx)
	}
	added, err := s.add(ctx, a)
	if err = s.blameRepository(err); err != nil {
		return ledger.AddedTasks{}, s.folderError(err)
	}
	return added, nil
}

func (s *folderSource) add(ctx context.Context, a ledger.AddTasks) (done ledger.AddedTasks, err error) {
	lock, err := s.lockFolder(ctx)
	if err != nil {
		return done, err
	}
	defer lock.Close()
	r, err := s.load(ctx)
	if err != nil {
		return done, err
	}
	now, err := s.snapshot(r)
	if err != nil {
		return done, err
	}
	ids, all := a.Has(now.Tasks)
	if done = (ledger.AddedTasks{IDs: ids, Found: all, Snapshot: now}); all {
		return done, nil
	}
	ids, tasks, err := s.withIDs(r, a, ids)
	if err != nil {
		return done, err
	}
	text, err := s.writeFiles(r, tasks)
	if err != nil {
		return done, err
	}
	if r, err = s.load(ctx); err != nil {
		return done, err
	}
	if now, err = s.snapshot(r); err != nil {
		return done, err
	}
	return ledger.AddedTasks{IDs: ids, Text: text, Snapshot: now}, nil
}

// withIDs returns ids with those that the tasks of a get whose place in it is empty,
// and these tasks, each with its id and with those of the tasks that it needs.
func (s *folderSource) withIDs(r folderReading, a ledger.AddTasks, ids []string) ([]string, []ledger.Task, error) {
	ids = slices.Clone(ids)
	var tasks []ledger.Task
	var places []int
	for n, t := range a.Tasks {
		if ids[n] == "" {
			tasks, places = append(tasks, t), append(places, n)
		}
	}
	next := func() ([]string, error) {
		return backlogmd.NextIDs(r.config, s.rel, r.tasks(), slices.Concat(r.all(), r.archived), tasks)
	}
	given, err := next()
	if err != nil {
		return nil, nil, err
	}
	for k, n := range places {
		ids[n], tasks[k].ID = given[k], given[k]
	}
	for k, n := range places {
		if a.Needs == nil {
			break
		}
		for _, m := range a.Needs[n] {
			tasks[k].DependsOn = append(slices.Clip(tasks[k].DependsOn), ids[m])
		}
	}
	_, err = next() // looks at the dependencies, too
	return ids, tasks, err
}

// writeFiles makes the files of new tasks and returns their texts, one after the
// other. What it has made is removed when one fails.
func (s *folderSource) writeFiles(r folderReading, tasks []ledger.Task) (text string, err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	like, err := s.likeOf(r)
	if err != nil {
		return "", err
	}
	for _, t := range tasks {
		name, data, err := backlogmd.NewFile(r.config, t, time.Now())
		if err != nil {
			return "", err
		}
		path := filepath.Join(s.path, openFolderName, name)
		if err := writeNew(path, data, like); err != nil {
			return "", fmt.Errorf("write %s: %w", name, err)
		}
		made = append(made, path)
		f := s.file(s.pathOf(name))
		f.mu.Lock()
		f.lastWritten = f.stamp()
		f.mu.Unlock()
		text += string(data)
	}
	return text, fsutil.SyncDir(filepath.Join(s.path, openFolderName))
}

// pathOf returns the path of an open task's file, below the repository.
func (s *folderSource) pathOf(name string) string { return path.Join(s.rel, openFolderName, name) }

// likeOf returns the file whose mode and owner a new one gets.
func (s *folderSource) likeOf(r folderReading) (fs.FileInfo, error) {
	if len(r.files) > 0 {
		return r.files[0].info()
	}
	return os.Stat(filepath.Join(s.path, openFolderName))
}

// writeNew writes a file that is not there yet.
func writeNew(path string, data []byte, like fs.FileInfo) error {
	temp, err := writeNamed(path, data, like)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	return os.Link(temp, path) // unlike a rename, it replaces nothing
}

// removeAdded implements addedRemover.
func (s *folderSource) removeAdded(ctx context.Context, r ledger.RemoveTasks) error {
	lock, err := s.lockFolder(ctx)
	if err != nil {
		return s.folderError(s.blameRepository(err))
	}
	defer lock.Close()
	now, err := s.load(ctx)
	if err != nil {
		return s.folderError(s.blameRepository(err))
	}
	var paths []string
	for _, id := range r.IDs {
		if f := now.fileOf(id); f != nil {
			paths = append(paths, f.path)
		}
	}
	return removeFiles(paths, r.Text, s.rel)
}

// removeFiles removes files whose texts, one after the other, are text. A file is moved
// away before it is compared, so that what somebody saves meanwhile is not lost. folder
// names them in errors.
func removeFiles(paths []string, text, folder string) error {
	var aside []movedFile
	for _, path := range paths {
		moved, err := moveAside(path)
		if err != nil {
			return errors.Join(err, putBack(aside))
		}
		aside = append(aside, moved)
	}
	var found []byte
	for _, m := range aside {
		data, err := os.ReadFile(m.temp)
		if err != nil {
			return errors.Join(err, putBack(aside))
		}
		found = append(found, data...)
	}
	if len(aside) > 0 && string(found) != text {
		return errors.Join(putBack(aside), &ChangedError{File: folder})
	}
	for _, m := range aside {
		if err := os.Remove(m.temp); err != nil {
			return err
		}
	}
	if len(aside) == 0 {
		return nil
	}
	return fsutil.SyncDir(filepath.Dir(paths[0]))
}

// movedFile is a file under a hidden name.
type movedFile struct{ path, temp string }

func moveAside(path string) (movedFile, error) {
	file, err := os.CreateTemp(filepath.Dir(path), tempPattern(path))
	if err != nil {
		return movedFile{}, err
	}
	m := movedFile{path: path, temp: file.Name()}
	if err := errors.Join(file.Close(), os.Rename(path, m.temp)); err != nil {
		os.Remove(m.temp)
		return m, err
	}
	return m, nil
}

// putBack gives files their names back. One whose name somebody has used meanwhile keeps
// its hidden one, which the error names.
func putBack(files []movedFile) (err error) {
	for _, m := range files {
		failed := os.Link(m.temp, m.path)
		if failed == nil {
			failed = os.Remove(m.temp)
		}
		err = errors.Join(err, failed)
	}
	return err
}
