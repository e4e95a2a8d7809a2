package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// KindAuto stands for the kind that a path has, or that the only list of open tasks
// of a repository has. Resolve replaces it; no source has it.
const KindAuto = "auto"

// autoKind is the row of auto.
var autoKind = Kind{Name: KindAuto, Reserved: true, Labels: NoLabels, Endings: NoEndings, Default: NoDefault, Push: "never", Order: ledger.OrderDocument}

// Recognised is a kind that can read a file or folder.
type Recognised struct {
	Kind *Kind
	Why  string // what in it shows that, in words for people
}

// Recognise returns the kinds that can read the file or folder at path, which is
// absolute or relative to repo and lies inside it. What is no text at all is a
// *ledger.InputError with the line that shows it.
func Recognise(ctx context.Context, repo, path string) ([]Recognised, error) {
	at, err := newSourcePath(Proposed(), path, repo)
	if err != nil {
		return nil, err
	}
	at.kind = &autoKind
	data := []byte(nil)
	info, err := os.Stat(at.path)
	switch {
	case err != nil:
		return nil, at.readError(err)
	case info.IsDir():
	default:
		file := sharedFile{sourcePath: at}
		if data, err = file.read(ctx); err != nil {
			return nil, at.readError(err)
		}
	}
	found := recogniseData(at.rel, info.IsDir(), data)
	if len(found) > 0 {
		return found, nil
	}
	if info.IsDir() {
		return nil, inputError(at.rel, "is a folder without a list of tasks: expected a file", "Name the file in it")
	}
	if bad := form.CheckText(at.rel, "list of tasks", data, form.MaxBytes); bad != nil {
		return nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{*bad}}
	}
	return nil, nil
}

func recogniseData(rel string, folder bool, data []byte) []Recognised {
	var found []Recognised
	for _, k := range kinds {
		if why := k.recognise(rel, folder, data); why != "" {
			found = append(found, Recognised{k, why})
		}
	}
	return found
}

// recognise returns what shows that a file or folder is of this kind, or "".
func (k *Kind) recognise(rel string, folder bool, data []byte) string {
	switch {
	case k.Reserved:
		return ""
	case k.Recognise != nil:
		return k.Recognise(rel, folder, data)
	case folder:
		return ""
	}
	if f, ok := k.Form.(form.Recogniser); ok {
		return f.Recognise(rel, data)
	}
	return ""
}

// Resolve returns the kind and path of a source in repo that is written as
// "auto:PATH", or as "auto" alone, and any other as it is. What it cannot tell for
// sure is a *ledger.InputError with what to write instead: which list is worked on at
// night is never guessed.
func Resolve(ctx context.Context, repo, kind, path string) (string, string, error) {
	switch {
	case kind != KindAuto:
		return kind, path, nil
	case path != "":
		k, err := only(ctx, repo, path)
		if err != nil {
			return "", "", err
		}
		return k.Name, path, nil
	}
	all, err := FindAll(ctx, repo)
	if err != nil {
		return "", "", err
	}
	open := slices.DeleteFunc(slices.Clone(all), func(f Found) bool { return f.Err != nil || f.Open == 0 })
	switch {
	case len(open) == 1:
		return open[0].Kind.Name, open[0].Path, nil
	case len(open) > 1:
		var names []string
		for _, f := range open {
			names = append(names, fmt.Sprintf("%s:%s (%d open)", f.Kind.Name, f.Path, f.Open))
		}
		return "", "", inputError("", "source = \"auto\", and several lists have open tasks: "+joinSome(names, 6), fmt.Sprintf("Name one: source = %q", open[0].Kind.Name+":"+open[0].Path))
	case len(all) == 1:
		return all[0].Kind.Name, all[0].Path, nil
	case len(all) > 1:
		return "", "", inputError("", "source = \"auto\", and no list has open tasks that can be read", fmt.Sprintf("Add a task, or name the list: source = %q", all[0].Kind.Name+":"+all[0].Path))
	}
	return "", "", inputError("", "source = \"auto\", and "+repo+" has no list of tasks where they usually are", "Name it, source = \"auto:PATH\", or write one: nightporter init --sample-plan")
}

// only returns the one kind that can read what is at path.
func only(ctx context.Context, repo, path string) (*Kind, error) {
	found, err := Recognise(ctx, repo, path)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 1:
		return found[0].Kind, nil
	case len(found) == 0:
		return nil, unrecognised(ctx, repo, path)
	case named(path, found) != nil:
		return named(path, found), nil
	}
	return nil, inputError(path, "can be read in more than one way: "+found[0].Kind.Name+" ("+found[0].Why+"), "+found[1].Kind.Name+" ("+found[1].Why+")",
		fmt.Sprintf("Say which: source = %q", found[0].Kind.Name+":"+path))
}

// named returns the kind that the name of a file says, by more than its extension, of
// those that can read it: a backlog.md with a table of tasks has that table for its
// list, whatever boxes stand in the prose around it. Nil without one.
func named(path string, found []Recognised) *Kind {
	k := GuessKind(path)
	if k == nil || slices.Contains(k.Endings, filepath.Ext(path)) || !slices.ContainsFunc(found, func(f Recognised) bool { return f.Kind == k }) {
		return nil
	}
	return k
}

// likelyKinds are the kinds that a file is meant as, by the ending of its name, where
// nothing in it shows one.
var likelyKinds = map[string]string{".md": KindPlan, ".json": KindTasks, ".jsonl": KindBeads}

func likelyKind(path string) string {
	if k := GuessKind(path); k != nil {
		return k.Name
	}
	return likelyKinds[strings.ToLower(filepath.Ext(path))]
}

// unrecognised returns why nothing can read what is at path: the mistake that the
// likely kind finds in it, with its line, or what lists of tasks look like.
func unrecognised(ctx context.Context, repo, path string) error {
	kind := likelyKind(path)
	if at, err := newSourcePath(Proposed(), path, repo); err == nil {
		if info, err := os.Stat(at.path); err == nil && info.IsDir() {
			return inputError(path, "is a folder: expected a file with tasks", "Name the file in it")
		}
	}
	if kind != "" {
		source, err := Open(kind, path, repo, Options{})
		if err == nil {
			_, err = source.Read(ctx)
		}
		if err != nil {
			return err
		}
	}
	return inputError(path, "is no list of tasks that nightporter reads: "+expectedForms, "Write tasks as: - [ ] What is to be done")
}

// expectedForms says what every list of tasks looks like.
const expectedForms = "expected boxes \"- [ ] …\", headings \"### Task N: …\", a table with the columns ID and Status, or JSON with a list of tasks"

// joinSome joins at most n names.
func joinSome(names []string, n int) string {
	if len(names) > n {
		names = append(names[:n:n], fmt.Sprintf("and %d more", len(names)-n))
	}
	return strings.Join(names, ", ")
}

// Found is a source of a repository, where sources of its kind usually are.
type Found struct {
	Kind  *Kind
	Path  string // relative to the repository, with slashes
	Why   string // what in it shows the kind, in words for people; "" = its place alone
	Tasks int
	Open  int   // tasks that are not done
	Err   error // why it cannot be used; it has no tasks then
}

// FindAll reads the sources that a repository has in the usual places, in the order
// of the table.
func FindAll(ctx context.Context, repo string) ([]Found, error) {
	var found []Found
	for _, k := range kinds {
		if k.Reserved {
			continue
		}
		paths, err := k.Find(repo)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			f, err := find(ctx, k, repo, path)
			if err != nil {
				return nil, err
			}
			found = append(found, f)
		}
	}
	return found, nil
}

// find reads one source. Mistakes in its text are part of the result.
func find(ctx context.Context, k *Kind, repo, path string) (Found, error) {
	f := Found{Kind: k, Path: path}
	source, err := Open(k.Name, path, repo, Options{})
	if err != nil {
		return f, err
	}
	snapshot, err := source.Read(ctx)
	if ctx.Err() != nil {
		return f, context.Cause(ctx)
	}
	if found, err := Recognise(ctx, repo, path); err == nil {
		if n := slices.IndexFunc(found, func(r Recognised) bool { return r.Kind == k }); n >= 0 {
			f.Why = found[n].Why
		}
	}
	f.Err, f.Tasks = err, len(snapshot.Tasks)
	for _, t := range snapshot.Tasks {
		if t.Mark != ledger.MarkDone {
			f.Open++
		}
	}
	return f, nil
}

// mistaken adds to the error of reading a file which other kind it has, if another
// one recognises it and this one does not.
func (p sourcePath) mistaken(data []byte, err error) error {
	input := (*ledger.InputError)(nil)
	if !errors.As(err, &input) || p.kind.recognise(p.rel, false, data) != "" {
		return err
	}
	found := recogniseData(p.rel, false, data)
	if len(found) != 1 || found[0].Kind == p.kind {
		return err
	}
	other := found[0]
	return inputError(p.displayName(), fmt.Sprintf("is not of the kind %s: it has %s", p.kind.Name, other.Why), fmt.Sprintf("Write source = %q", other.Kind.Name+":"+p.rel))
}
