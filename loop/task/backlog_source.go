package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/internal/exchange"
	"github.com/nightporter/nightporter/internal/settle"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/backlog"
	"github.com/nightporter/nightporter/loop/task/form"
)

// backlogSource is a backlog in the user's checkout with the specs that its rows
// name, and a diary.
type backlogSource struct {
	sourcePath
	diary    appendedFile
	opts     Options
	file     *sharedFile
	lookPath func(string) (string, error)

	writing sync.Mutex // marks of one row move its spec one after the other

	mu     sync.Mutex
	specs  map[string]*specFile // by path below the repository
	listed []string             // specs of all rows at the last reading
	open   []string             // those of rows that can still be worked on
}

// specFile is a spec with its last reading.
type specFile struct {
	sharedFile
	at   settle.Stamp
	spec *backlog.Spec
}

// openBacklog is the Open of backlogs.
func openBacklog(k *Kind, path, repo string, opts Options) (Source, error) {
	at, err := newSourcePath(k, path, repo)
	if err != nil {
		return nil, err
	}
	if _, err := at.target(); err != nil {
		return nil, at.readError(err)
	}
	diary, err := at.beside(diaryName)
	if err != nil {
		return nil, err
	}
	return &backlogSource{
		sourcePath: at, diary: appendedFile{diary, at}, opts: opts, lookPath: exec.LookPath,
		file: &sharedFile{sourcePath: at, exchange: exchange.Files}, specs: map[string]*specFile{},
	}, nil
}

// beside returns the path of another file, relative to the source's folder.
func (p sourcePath) beside(name string) (sourcePath, error) {
	return newSourcePath(p.kind, filepath.Join(dirOf(p.path), filepath.FromSlash(name)), p.repo)
}

// Read implements Source.
func (s *backlogSource) Read(ctx context.Context) (ledger.Snapshot, error) {
	if ctx.Err() != nil {
		return ledger.Snapshot{}, context.Cause(ctx)
	}
	data, err := s.file.read(ctx)
	if err != nil {
		return ledger.Snapshot{}, s.readError(err)
	}
	list, err := backlog.ReadList(s.rel, data)
	if err != nil {
		return ledger.Snapshot{}, s.mistaken(data, err)
	}
	r := reading{backlogSource: s, names: s.specNames(), snapshot: ledger.Snapshot{Name: form.Name(s.rel), Path: s.rel, Warnings: list.Warnings}}
	for _, row := range list.Rows {
		if err := r.add(ctx, row); err != nil {
			return ledger.Snapshot{}, err
		}
	}
	if len(r.errors) > 0 {
		return ledger.Snapshot{}, &ledger.InputError{Diagnostics: r.errors}
	}
	r.warnOfDrafts()
	r.warnOfDrift()
	s.mu.Lock()
	s.listed, s.open = r.listed, r.open
	s.mu.Unlock()
	return s.finish(r.snapshot)
}

// reading is the state of Read.
type reading struct {
	*backlogSource
	names    []string // of the specs' folder
	snapshot ledger.Snapshot
	errors   []ledger.Diagnostic
	listed   []string
	open     []string
	drafts   []string            // ids
	drift    map[string][]string // ids of finished rows whose specs say something else, by what they say
}

func (r *reading) warn(row backlog.Row, text, remedy string) {
	r.snapshot.Warnings = append(r.snapshot.Warnings, ledger.Diagnostic{File: r.displayName(), Line: row.Line, Text: row.ID + ": " + text, Remedy: remedy})
}

// add adds a row's task, with what its spec says.
func (r *reading) add(ctx context.Context, row backlog.Row) error {
	if row.Status == backlog.Draft {
		r.drafts = append(r.drafts, row.ID)
	}
	finished := row.Status == backlog.Done || row.Status == backlog.Draft
	spec, err := r.specOf(ctx, row, finished)
	if err != nil {
		return err
	}
	if spec != nil {
		r.judge(row, spec, finished)
	}
	if row.Status == backlog.InProgress {
		r.warn(row, "was left in_progress: it counts as queued", "Set its status to done or blocked if it is")
	}
	if row.Status != backlog.Draft {
		r.snapshot.Tasks = append(r.snapshot.Tasks, row.Task(spec))
	}
	return nil
}

// specOf reads the spec of a row. It is nil for a row without one.
func (r *reading) specOf(ctx context.Context, row backlog.Row, finished bool) (*backlog.Spec, error) {
	rel, problem := r.specPath(row, r.names)
	if problem != "" && !finished {
		r.warn(row, problem, "Link its spec: [spec]("+specFolder+"/"+row.ID+".md)")
	}
	if rel == "" {
		return nil, nil
	}
	r.listed = append(r.listed, rel)
	if !finished {
		r.open = append(r.open, rel)
	}
	f, err := r.specFile(rel)
	if err != nil {
		if !finished {
			r.warn(row, err.Error(), "Move its spec into the repository")
		}
		return nil, nil
	}
	spec, err := f.read(ctx)
	input := (*ledger.InputError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.As(err, &input):
		if away := r.blameRepository(err); away != err && input == nil {
			return nil, away
		}
		if !finished {
			why := "there is no " + rel
			if !errors.Is(err, fs.ErrNotExist) {
				why = rel + " cannot be read: " + err.Error()
			}
			r.warn(row, "its spec is missing: "+why, "Write it, or correct the link")
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", rel, err)
	}
	return spec, nil
}

// judge reports what is wrong with a row's spec, and what it says about its status.
func (r *reading) judge(row backlog.Row, spec *backlog.Spec, finished bool) {
	if own := row.Names(spec.Path); !own {
		if !finished {
			r.warn(row, "its link leads to "+path.Base(spec.Path)+", which is named after another id", "Check the link; that spec's own status is left alone")
		}
	} else if drift := row.SpecDrift(spec); drift != "" {
		if finished {
			key := fmt.Sprintf("%s where the backlog says %s", spec.StatusText, row.Status)
			if r.drift == nil {
				r.drift = map[string][]string{}
			}
			r.drift[key] = append(r.drift[key], row.ID)
		} else {
			r.warn(row, drift, "Write the same status in both")
		}
	}
	if finished {
		return
	}
	r.errors = append(r.errors, spec.Errors...)
	r.snapshot.Warnings = append(r.snapshot.Warnings, spec.Warnings...)
	if spec.Scope == "" && len(spec.Errors) == 0 {
		r.warn(row, "its spec lists no allowed files: its sessions may change any", "List them below `## Allowed Files`")
	}
	for _, program := range missingPrograms(spec, r.lookPath) {
		r.warn(row, "its spec needs "+program+", which is not on PATH here", "Install it, or see that the sessions have it")
	}
}

// warnOfDrift adds a warning for all finished rows whose specs say the same wrong
// status: in old backlogs these are many.
func (r *reading) warnOfDrift() {
	for _, key := range slices.Sorted(maps.Keys(r.drift)) {
		r.snapshot.Warnings = append(r.snapshot.Warnings, ledger.Diagnostic{File: r.displayName(),
			Text: fmt.Sprintf("spec says %s, and the backlog counts: %s", key, firstOf(r.drift[key], 5))})
	}
}

// warnOfDrafts adds one warning for all drafts.
func (r *reading) warnOfDrafts() {
	if len(r.drafts) > 0 {
		r.snapshot.Warnings = append(r.snapshot.Warnings, ledger.Diagnostic{File: r.displayName(),
			Text: "draft, and so no task yet: " + firstOf(r.drafts, 20), Remedy: "Set its status to queued when one may be worked on"})
	}
}

// firstOf returns the first n ids as text, and how many more there are.
func firstOf(ids []string, n int) string {
	text := strings.Join(ids[:min(len(ids), n)], ", ")
	if more := len(ids) - n; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// specNames returns the names in the folder of specs, sorted.
func (s *backlogSource) specNames() []string {
	entries, err := os.ReadDir(filepath.Join(dirOf(s.path), specFolder))
	if err != nil {
		return nil // then only links lead to specs
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
	}
	return names
}

// specPath returns the path of a row's spec below the repository: where its link
// leads from the backlog's folder or from the repository's, or else the file that is
// named after its id. problem says what is doubtful about it.
func (s *backlogSource) specPath(row backlog.Row, names []string) (rel, problem string) {
	if row.Link != "" {
		for _, from := range []string{path.Dir(s.rel), "."} {
			at := path.Join(from, row.Link)
			if path.IsAbs(row.Link) { // as forges read it, from the repository
				at = path.Join(".", row.Link[1:])
			}
			if at == "." || at == ".." || strings.HasPrefix(at, "../") {
				continue
			}
			if rel == "" {
				rel = at
			}
			if _, err := os.Lstat(filepath.Join(s.repo, filepath.FromSlash(at))); err == nil {
				return at, ""
			}
		}
	}
	name, several := specNamed(names, row.ID)
	named := path.Join(path.Dir(s.rel), specFolder, name)
	switch {
	case name != "" && several:
		return named, "has several specs, " + name + " is the first"
	case name != "" && row.Link != "":
		return named, "its link leads nowhere, and " + name + " is used"
	case name != "":
		return named, ""
	case rel != "":
		return rel, ""
	case row.Link != "":
		return "", "its link leads out of the repository: " + row.Link
	case row.Prose != "":
		return "", "has a remark where the link to its spec should be"
	}
	return "", ""
}

// specFile returns the file of a spec, the same one each time.
func (s *backlogSource) specFile(rel string) (*specFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.specs[rel]; f != nil {
		return f, nil
	}
	at, err := newSourcePath(s.kind, filepath.Join(s.repo, filepath.FromSlash(rel)), s.repo)
	if err != nil {
		return nil, err
	}
	f := &specFile{sharedFile: sharedFile{sourcePath: at, exchange: exchange.Files}}
	s.specs[rel] = f
	return f, nil
}

// read returns the spec. A file that has not changed is not read again.
func (f *specFile) read(ctx context.Context) (*backlog.Spec, error) {
	at := f.stamp()
	f.mu.Lock()
	spec, known := f.spec, f.at == at && at != settle.Stamp{}
	f.mu.Unlock()
	if known {
		return spec, nil
	}
	data, err := f.sharedFile.read(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) {
		f.lastRead = absent
	}
	if err != nil {
		return nil, err
	}
	f.at, f.spec = at, backlog.ReadSpec(f.rel, data)
	return f.spec, nil
}

// Watch implements Source, for the backlog and the specs of its open rows.
func (s *backlogSource) Watch(ctx context.Context, changed func()) error {
	w := watch{files: func() []*sharedFile {
		files := []*sharedFile{s.file}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, rel := range s.open {
			if f := s.specs[rel]; f != nil {
				files = append(files, &f.sharedFile)
			}
		}
		return files
	}}
	return w.run(ctx, changed)
}

// Owned implements Source. The specs of all rows are nightporter's: their statuses
// are written together with the rows'.
func (s *backlogSource) Owned() []string {
	s.mu.Lock()
	listed := s.listed
	s.mu.Unlock()
	if listed == nil {
		listed = s.listedNow()
	}
	owned := slices.Concat(s.owned(), s.diary.owned())
	for _, rel := range listed {
		if f, err := s.specFile(rel); err == nil {
			owned = append(owned, f.owned()...)
		}
	}
	slices.Sort(owned)
	return slices.Compact(owned)
}

// listedNow returns the specs of all rows before the first reading.
func (s *backlogSource) listedNow() []string {
	path, err := s.target()
	if err != nil {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	list, err := backlog.ReadList(s.rel, data)
	if err != nil {
		return nil // nothing can run on it
	}
	var listed []string
	names := s.specNames()
	for _, row := range list.Rows {
		if rel, _ := s.specPath(row, names); rel != "" {
			listed = append(listed, rel)
		}
	}
	return listed
}
