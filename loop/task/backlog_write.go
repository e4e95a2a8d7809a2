package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/backlog"
)

// Mark implements Source. With Options.CommitStatus it does nothing.
//
// Specs are written before the backlog: a mark that is made again after a crash finds
// the row as it was, and so knows which specs were in step with it.
func (s *backlogSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	if ctx.Err() != nil || s.opts.CommitStatus || len(marks) == 0 {
		return context.Cause(ctx)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.markSpecs(ctx, marks)
	var gone []string
	if err == nil {
		err = s.file.rewrite(ctx, func(fresh []byte) ([]byte, error) {
			next, _, missing, err := backlog.Mark(s.rel, fresh, marks)
			gone = missing
			return next, err
		})
	}
	return s.markError(err, marks, gone)
}

// markSpecs moves the specs along that say what their rows say.
func (s *backlogSource) markSpecs(ctx context.Context, marks []ledger.Marking) error {
	data, err := s.file.content(ctx)
	if err != nil {
		return err
	}
	_, changes, _, err := backlog.Mark(s.rel, data, marks)
	if err != nil {
		return err
	}
	names := s.specNames()
	for _, c := range changes {
		rel, _ := s.specPath(c.Row, names)
		if rel == "" || c.To == c.Row.Status || !c.Row.Names(rel) {
			continue
		}
		err := s.rewriteSpec(ctx, rel, func(text []byte) []byte { return backlog.MarkSpec(rel, text, c) })
		if err != nil {
			return err
		}
	}
	return nil
}

// rewriteSpec changes a spec. One that is not there, or that is no file of the
// repository, stays as it is: the backlog alone counts.
func (s *backlogSource) rewriteSpec(ctx context.Context, rel string, edit func(text []byte) []byte) error {
	f, err := s.specFile(rel)
	if err != nil {
		return nil
	}
	err = f.rewrite(ctx, func(fresh []byte) ([]byte, error) { return edit(fresh), nil })
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*ledger.InputError)) {
		return s.awayOnly(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	return nil
}

// awayOnly returns what is wrong with the repository if all of it is away, else nil.
func (p sourcePath) awayOnly(err error) error {
	if away := p.blameRepository(err); away != err {
		return away
	}
	return nil
}

// content returns the file's text without taking it for what was read last: Watch
// still tells of it.
func (f *sharedFile) content(ctx context.Context) ([]byte, error) {
	path, err := f.target()
	if err != nil {
		return nil, err
	}
	data, _, err := f.readSettled(ctx, path)
	return data, err
}

// Log implements Source. It writes lines into the diary, and the whole entry into the
// log of the task's spec; the diary gets the whole one where there is no spec. With
// Options.CommitStatus it does nothing.
func (s *backlogSource) Log(ctx context.Context, p ledger.Progress) error {
	if ctx.Err() != nil || s.opts.CommitStatus {
		return context.Cause(ctx)
	}
	rel, err := s.ownSpec(ctx, p.Task)
	whole := rel == ""
	if err == nil && !whole {
		err = s.rewriteSpec(ctx, rel, func(old []byte) []byte { return s.withSpecEntry(rel, old, p) })
	}
	if err == nil {
		err = s.diary.append(ctx, func(old []byte) []byte { return diaryEntry(old, p, whole, s.opts.Zone) })
	}
	if err = s.blameRepository(err); err != nil {
		return fmt.Errorf("log to %s: %w", s.diary.rel, err)
	}
	return nil
}

// ownSpec returns the path of the existing spec that is a task's own, or "".
func (s *backlogSource) ownSpec(ctx context.Context, task string) (string, error) {
	if task == "" {
		return "", nil
	}
	data, err := s.file.content(ctx)
	if err != nil {
		return "", err
	}
	return s.ownSpecIn(data, task, func(rel string) bool {
		f, err := s.specFile(rel)
		if err != nil {
			return false
		}
		_, err = f.target()
		return err == nil
	}), nil
}

// ownSpecIn returns the path of the spec that is a task's own in a backlog's text.
func (s *backlogSource) ownSpecIn(data []byte, task string, exists func(rel string) bool) string {
	list, err := backlog.ReadList(s.rel, data)
	if err != nil {
		return ""
	}
	for _, row := range list.Rows {
		if !ledger.SameID(row.ID, task) {
			continue
		}
		if rel, _ := s.specPath(row, s.specNames()); rel != "" && row.Names(rel) && exists(rel) {
			return rel
		}
	}
	return ""
}

func (s *backlogSource) withSpecEntry(rel string, old []byte, p ledger.Progress) []byte {
	return backlog.AppendSpecLog(rel, old, specEntry(p, s.opts.Zone), progressKey(p.Key))
}

// Stamp returns the backlog, the specs and the diary of a commit's tree with marks and
// an entry added, by path below the repository. read returns a file of that tree, or
// nil. What is not in the tree stays as it is: the ledger alone decides which tasks
// are done.
func (s *backlogSource) Stamp(read func(path string) ([]byte, error), marks []ledger.Marking, p ledger.Progress) (map[string][]byte, error) {
	data, err := read(s.rel)
	if err != nil || data == nil {
		return nil, err
	}
	marked, changes, _, err := backlog.Mark(s.rel, data, marks)
	if err != nil {
		return nil, fmt.Errorf("mark %s: %w", s.rel, err)
	}
	files := map[string][]byte{s.rel: marked}
	edit := func(rel string, change func(old []byte) []byte) (bool, error) {
		old := files[rel]
		if old == nil {
			if old, err = read(rel); err != nil || old == nil {
				return false, err
			}
		}
		files[rel] = change(old)
		return true, nil
	}
	names := s.specNames()
	whole := true
	for _, c := range changes {
		rel, _ := s.specPath(c.Row, names)
		if rel == "" || !c.Row.Names(rel) {
			continue
		}
		there, err := edit(rel, func(old []byte) []byte {
			next := backlog.MarkSpec(rel, old, c)
			if ledger.SameID(c.Row.ID, p.Task) {
				next = s.withSpecEntry(rel, next, p)
			}
			return next
		})
		if err != nil {
			return nil, err
		}
		whole = whole && !(there && ledger.SameID(c.Row.ID, p.Task))
	}
	diary, err := read(s.diary.rel)
	if err != nil {
		return nil, err
	}
	files[s.diary.rel] = append(diary, diaryEntry(diary, p, whole, s.opts.Zone)...)
	return files, nil
}

// maxAddTries limits how often ids are looked for that nobody else takes meanwhile.
const maxAddTries = 20

// Add implements Adder. A task with a body, a scope or acceptance criteria gets a
// spec, which is there before its row.
func (s *backlogSource) Add(ctx context.Context, tasks []ledger.Task) ([]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	ids, err := s.add(ctx, tasks)
	for n := 0; n < maxAddTries && errors.As(err, new(*backlog.TakenError)); n++ {
		ids, err = s.add(ctx, tasks) // somebody else has added a row, and its id is taken
	}
	if err = s.blameRepository(err); err != nil {
		return nil, s.readError(err)
	}
	return ids, nil
}

func (s *backlogSource) add(ctx context.Context, tasks []ledger.Task) (ids []string, err error) {
	data, err := s.file.content(ctx)
	if err != nil {
		return nil, err
	}
	list, err := backlog.ReadList(s.rel, data)
	if err != nil {
		return nil, err
	}
	var used []string
	for _, name := range s.specNames() {
		used = append(used, backlog.IDOf(name))
	}
	if ids, err = backlog.NextIDs(s.rel, list.Rows, used, tasks); err != nil {
		return nil, err
	}
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	rows := make([]backlog.NewRow, len(tasks))
	for n, t := range tasks {
		t.ID = ids[n]
		rows[n].Task = t
		if t.Body == "" && t.Scope == "" && len(t.Acceptance) == 0 {
			continue
		}
		rows[n].Link = path.Join(specFolder, specName(t, s.now()))
		file, err := s.writeSpec(rows[n].Link, backlog.NewSpec(t, s.now().Format(time.DateOnly)))
		if err != nil {
			return nil, err
		}
		made = append(made, file)
	}
	err = s.file.rewrite(ctx, func(fresh []byte) ([]byte, error) { return backlog.AddRows(s.rel, fresh, rows) })
	return ids, err
}

// now returns the time in the person's zone, for dates.
func (s *backlogSource) now() time.Time {
	if s.opts.Zone != nil {
		return time.Now().In(s.opts.Zone)
	}
	return time.Now()
}

// writeSpec makes a new spec with the mode and owner of the backlog.
func (s *backlogSource) writeSpec(link string, data []byte) (string, error) {
	at, err := s.beside(link)
	if err != nil {
		return "", err
	}
	like, err := s.info()
	if err != nil {
		return "", err
	}
	if err := makeFolder(dirOf(at.path), dirOf(s.path)); err != nil {
		return "", err
	}
	temp, err := writeNamed(at.path, data, like)
	if err != nil {
		return "", err
	}
	defer os.Remove(temp)
	if err := os.Link(temp, at.path); err != nil { // unlike a rename, it replaces nothing
		return "", fmt.Errorf("write %s: %w", at.rel, err)
	}
	return at.path, fsutil.SyncDir(filepath.Dir(at.path))
}

// specName returns the name of a new spec: TECH-070-2026-02-02-limits-of-lines.md.
func specName(t ledger.Task, now time.Time) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(text.First(t.Title, 60)))
	words := strings.FieldsFunc(slug, func(r rune) bool { return r == '-' })
	name := t.ID + "-" + now.Format(time.DateOnly)
	if len(words) > 0 {
		name += "-" + strings.Join(words[:min(len(words), 5)], "-")
	}
	return strings.ReplaceAll(name, "/", "-") + ".md"
}
