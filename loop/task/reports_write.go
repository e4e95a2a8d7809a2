package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/jsonform"
)

// Mark implements Source. With Options.CommitStatus it does nothing.
func (s *reportsSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	if ctx.Err() != nil || s.opts.CommitStatus || len(marks) == 0 {
		return context.Cause(ctx)
	}
	r, err := s.load(ctx)
	if err != nil {
		return s.markError(err, marks, nil)
	}
	var gone []string
	marks = s.opts.claiming(s.kind, marks)
	for n, m := range marks {
		if slices.ContainsFunc(marks[n+1:], func(later ledger.Marking) bool { return ledger.SameID(later.Task, m.Task) }) {
			continue
		}
		f := r.fileOf(m.Task)
		if f == nil {
			gone = append(gone, m.Task)
			continue
		}
		var missing []string
		err := f.rewrite(ctx, func(fresh []byte) (next []byte, err error) {
			next, missing, err = f.form.Mark(f.rel, fresh, []ledger.Marking{m})
			return next, err
		})
		switch {
		case errors.Is(err, fs.ErrNotExist) && s.blameRepository(err) == err:
			gone = append(gone, m.Task)
		case err != nil:
			return s.markError(err, marks, gone)
		}
		gone = append(gone, missing...)
	}
	return s.markError(nil, marks, gone)
}

// fileOf returns the file of a report, or nil.
func (r reportsReading) fileOf(id string) *reportFile {
	n := slices.IndexFunc(r.Tasks, func(t ledger.Task) bool { return ledger.SameID(t.ID, id) })
	if n < 0 {
		return nil
	}
	return r.files[n]
}

// Log implements Source, into a progress log in the folder. With Options.CommitStatus
// it does nothing.
func (s *reportsSource) Log(ctx context.Context, p ledger.Progress) error {
	if ctx.Err() != nil || s.opts.CommitStatus {
		return context.Cause(ctx)
	}
	names, err := reportNames(s.path)
	if err == nil {
		like := s.logFile()
		if len(names) > 0 {
			like = s.file(names[0]).sourcePath
		}
		log := appendedFile{s.logFile(), like}
		err = log.append(ctx, func(old []byte) []byte { return progressEntry(form.Name(s.rel), old, p, s.opts.Zone) })
	}
	if err = s.blameRepository(err); err != nil {
		return fmt.Errorf("log to %s: %w", s.logPath(), err)
	}
	return nil
}

func (s *reportsSource) logFile() sourcePath {
	return sourcePath{kind: s.kind, repo: s.repo, rel: s.logPath(), path: filepath.Join(s.repo, filepath.FromSlash(s.logPath()))}
}

// Stamp returns the reports' files and the progress log of a commit's tree with marks
// and an entry added, by path below the repository. read returns a file of that tree, or
// nil. What is not in the tree stays as it is.
func (s *reportsSource) Stamp(read func(path string) ([]byte, error), marks []ledger.Marking, p ledger.Progress) (map[string][]byte, error) {
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
			if text, err = read(f.rel); err != nil {
				return nil, err
			}
			if text == nil {
				continue
			}
		}
		if files[f.rel], _, err = f.form.Mark(f.rel, text, []ledger.Marking{m}); err != nil {
			return nil, fmt.Errorf("mark %s: %w", f.rel, err)
		}
	}
	log, err := read(s.logPath())
	if err != nil {
		return nil, err
	}
	files[s.logPath()] = AppendProgress(form.Name(s.rel), log, p, s.opts.Zone)
	return files, nil
}

// addOnce implements onceAdder: a file for each report.
func (s *reportsSource) addOnce(ctx context.Context, a ledger.AddTasks) (done ledger.AddedTasks, err error) {
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	lock, err := lockDir(ctx, s.path)
	if err != nil {
		return done, s.folderError(err)
	}
	defer lock.Close()
	r, err := s.load(ctx)
	if err != nil {
		return done, s.folderError(err)
	}
	ids, all := a.Has(r.Tasks)
	if all {
		return ledger.AddedTasks{IDs: ids, Found: true, Snapshot: r.Snapshot}, nil
	}
	text, err := s.writeReports(r, a.Tasks, ids)
	if err != nil {
		return done, s.folderError(err)
	}
	if r, err = s.load(ctx); err != nil {
		return done, s.folderError(err)
	}
	return ledger.AddedTasks{IDs: ids, Text: text, Snapshot: r.Snapshot}, nil
}

// reportNumber matches the ids that number reports; longer ones are made otherwise.
var reportNumber = regexp.MustCompile(`(?i)^B(\d{1,7})$`)

// fileID matches an id that can be the name of a file.
var fileID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// writeReports makes the files of the tasks whose place in ids is empty, puts their ids
// there, and returns their texts, one after the other. What it has made is removed when
// one fails.
func (s *reportsSource) writeReports(r reportsReading, tasks []ledger.Task, ids []string) (text string, err error) {
	taken, last := map[string]bool{}, 0
	for _, name := range r.names {
		taken[ledger.FoldID(jsonform.ReportID(name))] = true
	}
	for _, t := range r.Tasks {
		taken[ledger.FoldID(t.ID)] = true
	}
	for id := range taken {
		if m := reportNumber.FindStringSubmatch(id); m != nil {
			n, _ := strconv.Atoi(m[1]) // it has few digits
			last = max(last, n)
		}
	}
	like, err := s.likeOf(r)
	if err != nil {
		return "", err
	}
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	for n, t := range tasks {
		switch {
		case ids[n] != "":
			continue
		case len(t.DependsOn) > 0:
			return "", inputError(s.rel, "a report depends on nothing", "Leave the dependency out")
		case t.ID == "":
			last++
			t.ID = "B" + strconv.Itoa(last)
		case !fileID.MatchString(t.ID) || len(t.ID) > form.MaxID:
			return "", inputError(s.rel, fmt.Sprintf("the id %q can be no file's name", t.ID), "Give it letters, digits and dashes, or leave it out")
		case taken[ledger.FoldID(t.ID)]:
			return "", inputError(s.rel, t.ID+" is there already", "Give the new report another id, or none")
		}
		taken[ledger.FoldID(t.ID)] = true
		name, data := t.ID+".json", jsonform.NewReport(t)
		if err := writeNew(filepath.Join(s.path, name), data, like); err != nil {
			return "", fmt.Errorf("write %s: %w", name, err)
		}
		made = append(made, filepath.Join(s.path, name))
		f := s.file(name)
		f.mu.Lock()
		f.lastWritten = f.stamp()
		f.mu.Unlock()
		ids[n] = t.ID
		text += string(data)
	}
	return text, fsutil.SyncDir(s.path)
}

// likeOf returns the file whose mode and owner a new one gets: those of a report, or of
// the folder.
func (s *reportsSource) likeOf(r reportsReading) (fs.FileInfo, error) {
	if len(r.files) > 0 {
		return r.files[0].info()
	}
	folder, err := os.Stat(s.path)
	return noProgram{folder}, err
}

// noProgram is a folder's FileInfo for a file, which nobody runs.
type noProgram struct{ fs.FileInfo }

func (i noProgram) Mode() fs.FileMode { return i.FileInfo.Mode() & 0o666 }

// removeAdded implements addedRemover.
func (s *reportsSource) removeAdded(ctx context.Context, a ledger.RemoveTasks) error {
	lock, err := lockDir(ctx, s.path)
	if err != nil {
		return s.folderError(err)
	}
	defer lock.Close()
	r, err := s.load(ctx)
	if err != nil {
		return s.folderError(err)
	}
	var paths []string
	for _, id := range a.IDs {
		if f := r.fileOf(id); f != nil {
			paths = append(paths, f.path)
		}
	}
	return removeFiles(paths, a.Text, s.rel)
}
