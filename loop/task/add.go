package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/backlog"
	"github.com/nightporter/nightporter/loop/task/form"
)

// AddOnce adds tasks to a source, unless an earlier call has added them. To a file,
// looking and adding are one change, so a repetition after a crash adds nothing. A
// source that takes no tasks is a *ReadOnlyError.
func AddOnce(ctx context.Context, s Source, a ledger.AddTasks) (ledger.AddedTasks, error) {
	if o, ok := s.(onceAdder); ok {
		return o.addOnce(ctx, a)
	}
	adder, ok := s.(Adder)
	if !ok {
		return ledger.AddedTasks{}, &ReadOnlyError{File: strings.Join(s.Owned(), ", ")}
	}
	now, err := s.Read(ctx)
	if err != nil {
		return ledger.AddedTasks{}, err
	}
	ids, all := a.Has(now.Tasks)
	if all {
		return ledger.AddedTasks{IDs: ids, Found: true, Snapshot: now}, nil
	}
	write := func(tasks []ledger.Task) ([]string, error) { return adder.Add(ctx, tasks) }
	ids, err = addMissing(a, ids, write)
	if a.Needs != nil && refused(err) {
		a.Needs = nil // what was written before the refusal has its id, and stays the only one
		ids, err = addMissing(a, ids, write)
	}
	if err != nil {
		return ledger.AddedTasks{}, err
	}
	if now, err = s.Read(ctx); err != nil {
		return ledger.AddedTasks{}, err
	}
	done := ledger.AddedTasks{IDs: ids, Snapshot: now}
	if w, ok := s.(interface {
		written(ctx context.Context, ids []string) (string, error)
	}); ok {
		done.Text, err = w.written(ctx, ids)
	}
	return done, err
}

// TakesTasks reports with a *ReadOnlyError that no task can be added to a source.
func TakesTasks(s Source) error {
	_, ok := s.(Adder)
	switch s := s.(type) {
	case *fileSource:
		_, ok = s.form.(form.Adder)
	case *folderSource, *reportsSource:
		ok = true
	}
	if !ok {
		return &ReadOnlyError{File: strings.Join(s.Owned(), ", ")}
	}
	return nil
}

// onceAdder is a source whose additions are one change each.
type onceAdder interface {
	addOnce(ctx context.Context, a ledger.AddTasks) (ledger.AddedTasks, error)
}

// addedRemover is a source whose additions can be taken out.
type addedRemover interface {
	removeAdded(ctx context.Context, r ledger.RemoveTasks) error
}

// addOnce implements onceAdder.
func (s *fileSource) addOnce(ctx context.Context, a ledger.AddTasks) (done ledger.AddedTasks, err error) {
	err = s.change(ctx, func(fresh []byte) (grown []byte, err error) {
		grown, done, err = AddToText(s.form, s.rel, fresh, a)
		return grown, err
	})
	return done, err
}

// AddToText is AddOnce for the text of a file: it returns the text with the tasks, and
// what was done. file names the text in errors. A form that takes no tasks is a
// *ReadOnlyError.
func AddToText(f form.Form, file string, fresh []byte, a ledger.AddTasks) (grown []byte, done ledger.AddedTasks, err error) {
	adder, ok := f.(form.Adder)
	if !ok {
		return nil, done, &ReadOnlyError{File: file}
	}
	now, err := f.Parse(file, fresh)
	if err != nil {
		// A list that is empty cannot be read, and takes its first task.
		if _, _, refused := adder.Add(file, fresh, a.Tasks); refused != nil {
			return nil, done, unreadable(err, fresh, a)
		}
	}
	missing, all := a.Has(now.Tasks)
	if all {
		return fresh, ledger.AddedTasks{IDs: missing, Found: true, Snapshot: now}, nil
	}
	grown = fresh
	write := func(tasks []ledger.Task) (added []string, err error) {
		grown, added, err = adder.Add(file, grown, tasks)
		return added, err
	}
	ids, err := addMissing(a, missing, write)
	if a.Needs != nil && refused(err) {
		a := a
		grown, a.Needs = fresh, nil
		ids, err = addMissing(a, missing, write)
	}
	if err != nil {
		return nil, done, err
	}
	if a, plain := withoutTables(a); plain && looksLikeBacklog(f, file, fresh, grown) {
		return AddToText(f, file, fresh, a)
	}
	if now, err = f.Parse(file, grown); err != nil {
		return nil, done, err
	}
	return grown, ledger.AddedTasks{IDs: ids, Text: inserted(fresh, grown), Snapshot: now}, nil
}

// looksLikeBacklog reports whether a text of another form became a backlog, too, by what
// was added to it: a list that can be read in two ways is read in none (docs/spec 3.6).
func looksLikeBacklog(f form.Form, file string, fresh, grown []byte) bool {
	table := backlog.Table{}
	return f != form.Form(table) && table.Recognise(file, grown) != "" && table.Recognise(file, fresh) == ""
}

// tableRule matches the line below the header of a table in Markdown.
var tableRule = regexp.MustCompile(`(?m)^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*:?-*:?[ \t]*(?:\n|$)`)

// withoutTables returns the tasks with bodies whose tables are plain lines, and whether
// there were any.
func withoutTables(a ledger.AddTasks) (ledger.AddTasks, bool) {
	changed := false
	a.Tasks = slices.Clone(a.Tasks)
	for n := range a.Tasks {
		t := &a.Tasks[n]
		plain := tableRule.ReplaceAllString(t.Body, "")
		changed = changed || plain != t.Body
		t.Body = plain
	}
	return a, changed
}

// InFile is what the remedy ends with where a text that cannot be read has the words of
// all new tasks: an earlier call that was cut off may have written them.
const InFile = "The new words are in the file already: once it can be read, they count"

// unreadable returns the error of a text that tasks cannot be added to.
func unreadable(err error, text []byte, a ledger.AddTasks) error {
	input := (*ledger.InputError)(nil)
	missing := func(t ledger.Task) bool { return !bytes.Contains(text, []byte(t.Title)) }
	if !errors.As(err, &input) || len(input.Diagnostics) == 0 || slices.ContainsFunc(a.Tasks, missing) {
		return err
	}
	told := slices.Clone(input.Diagnostics)
	if told[0].Remedy != "" {
		told[0].Remedy += ". "
	}
	told[0].Remedy += InFile
	return &ledger.InputError{Diagnostics: told}
}

// refused reports whether a source did not take tasks for what they say. A list without
// ids, and a forge, have no place for dependencies: the order is what is left of them.
func refused(err error) bool { return errors.As(err, new(*ledger.InputError)) }

// addMissing adds the tasks of a whose place in ids is empty, and returns ids with
// those that they got, also with an error. Where tasks depend on each other they are
// added one by one, because the id of one is written into the next.
func addMissing(a ledger.AddTasks, ids []string, add func([]ledger.Task) ([]string, error)) ([]string, error) {
	ids = slices.Clone(ids)
	var tasks []ledger.Task
	var places []int
	flush := func() error {
		if len(tasks) == 0 {
			return nil
		}
		added, err := add(tasks)
		for k, id := range added {
			ids[places[k]] = id
		}
		tasks, places = nil, nil
		return err
	}
	for n, t := range a.Tasks {
		if ids[n] != "" {
			continue
		}
		if a.Needs != nil {
			t.DependsOn = slices.Clip(t.DependsOn)
			for _, m := range a.Needs[n] {
				t.DependsOn = append(t.DependsOn, ids[m])
			}
		}
		tasks, places = append(tasks, t), append(places, n)
		if a.Needs != nil {
			if err := flush(); err != nil {
				return ids, err
			}
		}
	}
	return ids, flush()
}

// inserted returns the one piece of text that grown has and fresh has not, "" if they
// differ in another way.
func inserted(fresh, grown []byte) string {
	n := len(grown) - len(fresh)
	if n <= 0 {
		return ""
	}
	at := 0
	for at < len(fresh) && fresh[at] == grown[at] {
		at++
	}
	if !bytes.Equal(fresh[at:], grown[at+n:]) {
		return ""
	}
	return string(grown[at : at+n])
}

// ChangedError is the error of RemoveAdded for tasks that somebody has changed since
// they were added.
type ChangedError struct{ File string }

func (e *ChangedError) Error() string {
	return "the text in " + e.File + " was changed since: take it out there yourself"
}

// RemoveAdded takes tasks out of a source again, with exactly the text that AddOnce
// wrote. It does nothing if they are gone. Where the text stands there no longer as it
// was written, the error is a *ChangedError.
func RemoveAdded(ctx context.Context, s Source, r ledger.RemoveTasks) error {
	o, ok := s.(addedRemover)
	if !ok || r.Text == "" {
		return &ChangedError{File: strings.Join(s.Owned(), ", ")}
	}
	return o.removeAdded(ctx, r)
}

// removeAdded implements addedRemover.
func (s *fileSource) removeAdded(ctx context.Context, r ledger.RemoveTasks) error {
	return s.change(ctx, func(fresh []byte) ([]byte, error) { return RemoveFromText(s.form, s.rel, fresh, r) })
}

// RemoveFromText is RemoveAdded for the text of a file: it returns the text without the
// tasks. file names the text in errors.
func RemoveFromText(f form.Form, file string, fresh []byte, r ledger.RemoveTasks) ([]byte, error) {
	now, err := f.Parse(file, fresh)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(now.Tasks, func(t ledger.Task) bool { return names(r.IDs, t.ID) }) {
		return fresh, nil
	}
	for at := 0; ; at++ {
		n := bytes.Index(fresh[at:], []byte(r.Text))
		if n < 0 {
			return nil, &ChangedError{File: file}
		}
		at += n
		cut := slices.Concat(fresh[:at], fresh[at+len(r.Text):])
		if left, err := f.Parse(file, cut); err == nil && lacksOnly(now.Tasks, left.Tasks, r.IDs) {
			return cut, nil
		}
	}
}

func names(ids []string, id string) bool {
	return slices.ContainsFunc(ids, func(o string) bool { return ledger.SameID(o, id) })
}

// lacksOnly reports whether after has the tasks of before but for those with ids.
func lacksOnly(before, after []ledger.Task, ids []string) bool {
	stay := slices.DeleteFunc(slices.Clone(before), func(t ledger.Task) bool { return names(ids, t.ID) })
	return slices.EqualFunc(stay, after, func(a, b ledger.Task) bool {
		return ledger.SameID(a.ID, b.ID) && a.Title == b.Title && a.Body == b.Body && a.Mark == b.Mark
	})
}

// change rewrites the file. A failure that a person can mend is a *ledger.InputError.
func (s *fileSource) change(ctx context.Context, edit func(fresh []byte) ([]byte, error)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := s.blameRepository(s.file.rewrite(ctx, edit))
	changed := (*ChangedError)(nil)
	if err == nil || fault.Of(err) != "" || errors.As(err, &changed) {
		return err
	}
	if input := (*ledger.InputError)(nil); errors.As(err, &input) {
		return err
	}
	return fmt.Errorf("write %s: %w", s.rel, s.readError(err))
}
