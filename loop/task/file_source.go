package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/nightporter/nightporter/internal/exchange"
	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// fileSource is a file in the user's checkout that one form reads and writes, with
// a progress log beside it.
type fileSource struct {
	sourcePath
	form form.Form
	log  sourcePath
	opts Options
	file *sharedFile
}

// openFile is the Open of kinds whose tasks are all in one file.
func openFile(k *Kind, path, repo string, opts Options) (Source, error) {
	at, err := newSourcePath(k, path, repo)
	if err != nil {
		return nil, err
	}
	if name := form.Name(at.rel); filepath.Ext(name) == ".progress" {
		return nil, inputError(at.rel, "is a progress log, not a "+k.Name, "Name the "+k.Name+" beside it")
	}
	if _, err := at.target(); err != nil {
		return nil, at.readError(err)
	}
	log, err := newSourcePath(k, filepath.Join(filepath.Dir(at.path), form.Name(at.rel)+".progress.md"), at.repo)
	if err != nil {
		return nil, err
	}
	return &fileSource{sourcePath: at, form: k.Form, log: log, opts: opts, file: &sharedFile{sourcePath: at, exchange: exchange.Files}}, nil
}

// readError turns an error of reading a file into an input error with a remedy.
func (p sourcePath) readError(err error) error {
	if input := (*ledger.InputError)(nil); errors.As(err, &input) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return inputError(p.rel, "there is no such file in "+p.repo, "Check the path after "+p.kind.Name+":")
	case errors.Is(err, fs.ErrPermission):
		return inputError(p.rel, "cannot be read: "+err.Error(), "Give the user that runs nightporter access to it")
	}
	return fmt.Errorf("read %s: %w", p.rel, err)
}

// Read implements Source.
func (s *fileSource) Read(ctx context.Context) (ledger.Snapshot, error) {
	if ctx.Err() != nil {
		return ledger.Snapshot{}, context.Cause(ctx)
	}
	data, err := s.file.read(ctx)
	if err != nil {
		return ledger.Snapshot{}, s.readError(err)
	}
	snapshot, err := s.form.Parse(s.rel, data)
	if err != nil {
		return ledger.Snapshot{}, s.mistaken(data, err)
	}
	if n := len(snapshot.Tasks); n > form.MaxTasks {
		return ledger.Snapshot{}, inputError(s.rel, fmt.Sprintf("has %d tasks: expected at most %d", n, form.MaxTasks), "Split the file, or move finished tasks out of it")
	}
	snapshot.Warnings = append(snapshot.Warnings, s.kind.Lint(snapshot)...)
	slices.SortStableFunc(snapshot.Warnings, func(a, b ledger.Diagnostic) int { return a.Line - b.Line })
	return snapshot, nil
}

// Mark implements Source. With Options.CommitStatus it does nothing.
func (s *fileSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	if ctx.Err() != nil || s.opts.CommitStatus || len(marks) == 0 {
		return context.Cause(ctx)
	}
	var gone []string
	err := s.file.rewrite(ctx, func(fresh []byte) ([]byte, error) {
		next, missing, err := s.form.Mark(s.rel, fresh, marks)
		gone = missing
		return next, err
	})
	if err = s.blameRepository(err); fault.Of(err) != "" {
		return err
	}
	input := (*ledger.InputError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		for _, m := range marks {
			gone = append(gone, m.Task)
		}
		return &GoneError{File: s.displayName(), Tasks: gone, Err: fs.ErrNotExist}
	case errors.As(err, &input):
		return err
	case err != nil:
		return fmt.Errorf("mark %s: %w", s.rel, err)
	case len(gone) > 0:
		return &GoneError{File: s.displayName(), Tasks: gone}
	}
	return nil
}

// blameRepository returns what is wrong with the repository in the place of err, a
// failure to find or reach a file of it, where all of it is away: then nothing is
// known of the file.
func (p sourcePath) blameRepository(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		if away := fault.Away(p.repo); away != nil {
			return away
		}
	}
	return err
}

// Owned implements Source.
func (s *fileSource) Owned() []string {
	return slices.Concat(s.sourcePath.owned(), s.log.owned())
}

// Add implements Adder.
func (s *fileSource) Add(ctx context.Context, tasks []ledger.Task) (ids []string, err error) {
	adder, ok := s.form.(form.Adder)
	if !ok {
		return nil, &ReadOnlyError{File: s.rel}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err = s.file.rewrite(ctx, func(fresh []byte) ([]byte, error) {
		next, added, err := adder.Add(s.rel, fresh, tasks)
		ids = added
		return next, err
	})
	if err = s.blameRepository(err); err != nil {
		if fault.Of(err) != "" {
			return nil, err
		}
		return nil, s.readError(err)
	}
	return ids, nil
}
