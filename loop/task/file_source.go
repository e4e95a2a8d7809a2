package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

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
	log  appendedFile
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
	return &fileSource{sourcePath: at, form: k.Form, log: appendedFile{log, at}, opts: opts, file: &sharedFile{sourcePath: at, exchange: exchange.Files}}, nil
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
	snapshot.Tasks = s.opts.claimedByOthers(snapshot.Tasks)
	if beside := s.companions(); len(beside) > 0 {
		for i := range snapshot.Tasks {
			if t := &snapshot.Tasks[i]; len(t.Material) == 0 {
				t.Material = beside
			}
		}
	}
	return s.finish(snapshot)
}

// finish returns a reading with the kind's warnings, or an error if it has more tasks
// than a run can have.
func (p sourcePath) finish(snapshot ledger.Snapshot) (ledger.Snapshot, error) {
	if n := len(snapshot.Tasks); n > form.MaxTasks {
		return ledger.Snapshot{}, inputError(p.rel, fmt.Sprintf("has %d tasks: expected at most %d", n, form.MaxTasks), "Split the file, or move finished tasks out of it")
	}
	if found := tooLong(p.displayName(), snapshot.Tasks); len(found) > 0 {
		return ledger.Snapshot{}, &ledger.InputError{Diagnostics: found}
	}
	snapshot.Warnings = append(snapshot.Warnings, p.kind.Lint(snapshot)...)
	slices.SortStableFunc(snapshot.Warnings, func(a, b ledger.Diagnostic) int { return a.Line - b.Line })
	return snapshot, nil
}

// tooLong returns the findings about ids and titles that are longer than any that a
// person wrote: they stand in commit subjects, on buttons and in every message.
func tooLong(file string, tasks []ledger.Task) (found []ledger.Diagnostic) {
	for i := range tasks {
		t := &tasks[i]
		for _, part := range []struct {
			name, text string
			most       int
		}{{"an id", t.ID, form.MaxID}, {"a title", t.Title, form.MaxTitle}} {
			if len(part.text) <= part.most {
				continue
			}
			if n := utf8.RuneCountInString(part.text); n > part.most && len(found) < form.MaxFindings {
				found = append(found, ledger.Diagnostic{
					File: file, Line: t.Line, Text: fmt.Sprintf("%s of %d characters, %s…: expected at most %d", part.name, n, string([]rune(part.text[:200])[:40]), part.most),
					Remedy: "Write a short one, and the rest into the lines below it",
				})
			}
		}
	}
	return found
}

// maxCompanions limits the documents that are found beside a list: a prompt names them
// all.
const maxCompanions = 20

// companions returns the documents that stand beside the file, as slash-separated paths
// below the repository. What cannot be read is none: sessions see the commit, not the
// checkout, and look for themselves.
func (s *fileSource) companions() []string {
	f, ok := s.form.(form.Companions)
	if !ok {
		return nil
	}
	dir, err := os.OpenRoot(s.repo)
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	root := dir.FS()
	var found []string
	for _, pattern := range f.Beside(s.rel) {
		paths, err := fs.Glob(root, pattern)
		if err != nil {
			continue
		}
		for _, p := range paths {
			if info, err := fs.Stat(root, p); err != nil || !info.Mode().IsRegular() || p == s.rel || slices.Contains(found, p) {
				continue
			}
			if found = append(found, p); len(found) == maxCompanions {
				return found
			}
		}
	}
	return found
}

// Mark implements Source. With Options.CommitStatus it does nothing.
func (s *fileSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	if ctx.Err() != nil || s.opts.CommitStatus || len(marks) == 0 {
		return context.Cause(ctx)
	}
	var gone []string
	marks = s.opts.claiming(s.kind, marks)
	err := s.file.rewrite(ctx, func(fresh []byte) ([]byte, error) {
		next, missing, err := s.form.Mark(s.rel, fresh, marks)
		gone = missing
		if err != nil {
			return nil, err
		}
		return s.count(next, marks)
	})
	return s.markError(err, marks, gone)
}

// count returns the text with what marks say of tries, in a form that records them.
func (s *fileSource) count(data []byte, marks []ledger.Marking) (counted []byte, err error) {
	f, ok := s.form.(form.Counter)
	for _, m := range marks {
		if !ok || m.Tries == nil {
			continue
		}
		if data, _, err = f.Count(s.rel, data, m.Task, m.Tries.Failures, m.Tries.Last); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// markError returns the error of Source.Mark for one of writing marks into the file,
// which lacks the tasks gone.
func (p sourcePath) markError(err error, marks []ledger.Marking, gone []string) error {
	if err = p.blameRepository(err); fault.Of(err) != "" {
		return err
	}
	input := (*ledger.InputError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		for _, m := range marks {
			gone = append(gone, m.Task)
		}
		return &GoneError{File: p.displayName(), Tasks: gone, Err: fs.ErrNotExist}
	case errors.As(err, &input):
		return err
	case err != nil:
		return fmt.Errorf("mark %s: %w", p.rel, err)
	case len(gone) > 0:
		return &GoneError{File: p.displayName(), Tasks: gone}
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
