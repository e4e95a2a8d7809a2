package task

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/backlog"
)

// written returns the rows of tasks as they stand in the backlog, and their specs: what
// Add has just written. Text that is not whole is none, and can not be taken out.
func (s *backlogSource) written(ctx context.Context, ids []string) (string, error) {
	data, err := s.file.content(ctx)
	if err != nil {
		return "", s.readError(s.blameRepository(err))
	}
	added, err := s.addedText(data, ids)
	if err != nil {
		return "", nil //nolint:nilerr // the tasks are there; a person can take them out
	}
	return string(added.rows) + string(added.specs), nil
}

// addedText is what Add wrote for some tasks.
type addedText struct {
	rows, specs []byte
	files       []string // the specs, absolute
}

// addedText returns what stands in a backlog and its specs for tasks; a task that the
// backlog lacks is left out.
func (s *backlogSource) addedText(data []byte, ids []string) (added addedText, err error) {
	list, err := backlog.ReadList(s.rel, data)
	if err != nil {
		return added, err
	}
	for _, row := range list.Rows {
		if !names(ids, row.ID) {
			continue
		}
		span, _ := backlog.RowSpan(s.rel, data, row.ID)
		added.rows = append(added.rows, data[span.Start:span.End]...)
		rel, _ := s.specPath(row, nil)
		if rel == "" {
			continue
		}
		at, err := newSourcePath(s.kind, filepath.Join(s.repo, filepath.FromSlash(rel)), s.repo)
		if err != nil {
			return added, err
		}
		real, err := at.target()
		if err != nil {
			return added, err
		}
		spec, err := os.ReadFile(real)
		if err != nil {
			return added, err
		}
		added.specs, added.files = append(added.specs, spec...), append(added.files, real)
	}
	return added, nil
}

// removeAdded implements addedRemover. The rows go first: a spec without a row is no
// task. Specs are moved away before they are compared, so that what somebody saves
// meanwhile is not lost.
func (s *backlogSource) removeAdded(ctx context.Context, r ledger.RemoveTasks) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.remove(ctx, r)
	if changed := (*ChangedError)(nil); err == nil || errors.As(err, &changed) {
		return err
	}
	return s.readError(s.blameRepository(err))
}

func (s *backlogSource) remove(ctx context.Context, r ledger.RemoveTasks) error {
	changed := &ChangedError{File: s.rel}
	var added addedText
	err := s.file.rewrite(ctx, func(fresh []byte) (left []byte, err error) {
		added, err = s.addedText(fresh, r.IDs)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, changed
		}
		if err != nil || len(added.rows) == 0 {
			return fresh, err
		}
		if string(added.rows)+string(added.specs) != r.Text {
			return nil, changed
		}
		left = fresh
		for _, id := range r.IDs {
			if span, ok := backlog.RowSpan(s.rel, left, id); ok {
				left = slices.Concat(left[:span.Start], left[span.End:])
			}
		}
		return left, nil
	})
	if err != nil {
		return err
	}
	return s.removeSpecs(added)
}

// removeSpecs removes the specs of tasks that are taken out, if they still say what
// was read of them. One that somebody saved meanwhile stays.
func (s *backlogSource) removeSpecs(added addedText) error {
	var aside []movedFile
	var now []byte
	for _, file := range added.files {
		moved, err := moveAside(file)
		if err != nil {
			return errors.Join(err, putBack(aside))
		}
		aside = append(aside, moved)
		data, err := os.ReadFile(moved.temp)
		if err != nil {
			return errors.Join(err, putBack(aside))
		}
		now = append(now, data...)
	}
	if !bytes.Equal(now, added.specs) {
		return putBack(aside)
	}
	for _, m := range aside {
		if err := errors.Join(os.Remove(m.temp), fsutil.SyncDir(filepath.Dir(m.path))); err != nil {
			return err
		}
	}
	return nil
}
