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
	"strings"
	"sync"

	"github.com/nightporter/nightporter/internal/exchange"
	"github.com/nightporter/nightporter/internal/settle"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/jsonform"
)

// maxReportBytes is the size of the largest file that is a bug report.
const maxReportBytes = 1 << 20

// reportsSource is a folder of bug reports in the user's checkout: a file for each. A
// file with a mistake keeps no other from being read.
type reportsSource struct {
	sourcePath // of the folder
	opts       Options

	mu    sync.Mutex
	files map[string]*reportFile // by name
	known []string               // names that the last reading had
}

// reportFile is a file of the folder with its last reading.
type reportFile struct {
	sharedFile
	form form.Form
	at   settle.Stamp
	hash contentHash
	read ledger.Snapshot
	err  error // what is wrong with its text
}

// openReports opens a folder of bug reports.
func openReports(at sourcePath, opts Options) (Source, error) {
	s := &reportsSource{sourcePath: at, opts: opts, files: map[string]*reportFile{}}
	if err := s.check(); err != nil {
		return nil, s.folderError(err)
	}
	return s, nil
}

// check returns what is wrong with the folder itself.
func (s *reportsSource) check() error {
	real, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return err
	}
	if _, ok := below(s.repo, real); !ok {
		return inputError(s.rel, "is a link to "+real+", which lies outside the repository "+s.repo, "Put the folder itself into the repository")
	}
	return nil
}

// folderError turns an error of reading the folder into one with a remedy.
func (s *reportsSource) folderError(err error) error {
	if err = s.blameRepository(err); errors.Is(err, fs.ErrNotExist) {
		return inputError(s.rel, "there is no such folder in "+s.repo, "Check the path after "+s.kind.Name+":")
	}
	return s.readError(err)
}

// formOfReport returns how a file with a report is read, nil for one that is no report.
func formOfReport(name string) form.Form {
	base := strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "."), strings.ToValidUTF8(name, "") != name, strings.HasSuffix(base, ".progress.md"), strings.HasPrefix(base, "readme."):
		return nil
	case strings.HasSuffix(base, ".json"):
		return jsonform.Bugs{Single: true}
	case strings.HasSuffix(base, ".md"), strings.HasSuffix(base, ".txt"):
		return reportText{}
	}
	return nil
}

// reportNames returns the names of the reports of a folder.
func reportNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() && formOfReport(e.Name()) != nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// file returns a file of the folder, the same one each time.
func (s *reportsSource) file(name string) *reportFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[name]
	if f == nil {
		at := sourcePath{kind: s.kind, repo: s.repo, rel: path.Join(s.rel, name), path: filepath.Join(s.path, name)}
		f = &reportFile{sharedFile: sharedFile{sourcePath: at, exchange: exchange.Files}, form: formOfReport(name)}
		s.files[name] = f
	}
	return f
}

// load reads the file, unless it is as it was.
func (f *reportFile) load(ctx context.Context) (ledger.Snapshot, error) {
	at := f.stamp()
	f.mu.Lock()
	read, wrong, same := f.read, f.err, f.at == at && at != settle.Stamp{}
	f.mu.Unlock()
	if same {
		return read, wrong
	}
	data, err := f.content(ctx)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	if len(data) > maxReportBytes {
		wrong = inputError(path.Base(f.rel), fmt.Sprintf("is larger than %d MB: no bug report is", maxReportBytes>>20), "Keep what was done, seen and expected, or move the file away")
		read = ledger.Snapshot{}
	} else {
		read, wrong = f.form.Parse(f.rel, data)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.hash, f.read, f.err = at, hashOf(data), read, wrong
	return read, wrong
}

// reportsReading is what the folder has at one moment.
type reportsReading struct {
	names []string      // of the files
	files []*reportFile // with a report that can be read, in order of names
	ledger.Snapshot
}

// load reads the folder. What is wrong with single files is a warning each.
func (s *reportsSource) load(ctx context.Context) (r reportsReading, err error) {
	if err := s.check(); err != nil {
		return r, err
	}
	if r.names, err = reportNames(s.path); err != nil {
		return r, err
	}
	r.Name, r.Path = form.Name(s.rel), s.rel
	first := map[string]string{} // name of the file by folded id
	for _, name := range r.names {
		f := s.file(name)
		read, err := f.load(ctx)
		input := (*ledger.InputError)(nil)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since it was listed
			continue
		case errors.As(err, &input):
			for _, d := range input.Diagnostics {
				d.Text, d.Remedy = "no report is read from it: "+d.Text, orFix(d.Remedy)
				r.Warnings = append(r.Warnings, d)
			}
			continue
		case errors.Is(err, fs.ErrPermission):
			r.Warnings = append(r.Warnings, ledger.Diagnostic{File: name, Text: "no report is read from it: " + err.Error(), Remedy: "Give the user that runs nightporter access to it"})
			continue
		case err != nil:
			return r, f.readError(err)
		}
		id := ledger.FoldID(read.Tasks[0].ID)
		if other, twice := first[id]; twice {
			r.Warnings = append(r.Warnings, ledger.Diagnostic{File: name, Line: read.Tasks[0].Line, Text: "no report is read from it: " + read.Tasks[0].ID + " is the id of " + other, Remedy: "Rename it, or give one of them another id"})
			continue
		}
		first[id] = name
		r.files = append(r.files, f)
		r.Tasks = append(r.Tasks, read.Tasks[0])
		r.Warnings = append(r.Warnings, read.Warnings...)
	}
	if n := len(r.Warnings) - form.MaxFindings; n > 0 {
		r.Warnings = append(r.Warnings[:form.MaxFindings:form.MaxFindings], ledger.Diagnostic{File: s.rel, Text: fmt.Sprintf("and %d more", n)})
	}
	return r, nil
}

func orFix(remedy string) string {
	if remedy == "" {
		return "Mend it, or move it away"
	}
	return remedy
}

// Read implements Source. A folder without reports is an inbox that is empty; one in
// which no file can be read is an error.
func (s *reportsSource) Read(ctx context.Context) (ledger.Snapshot, error) {
	if ctx.Err() != nil {
		return ledger.Snapshot{}, context.Cause(ctx)
	}
	r, err := s.load(ctx)
	if err != nil {
		return ledger.Snapshot{}, s.folderError(err)
	}
	s.remember(r)
	return s.snapshot(r)
}

// snapshot returns the reports of a reading.
func (s *reportsSource) snapshot(r reportsReading) (ledger.Snapshot, error) {
	if len(r.Tasks) == 0 && len(r.Warnings) > 0 {
		return ledger.Snapshot{}, &ledger.InputError{Diagnostics: r.Warnings}
	}
	r.Snapshot.Tasks = s.opts.claimedByOthers(r.Snapshot.Tasks)
	return s.finish(r.Snapshot)
}

// remember takes a reading for what Watch compares with.
func (s *reportsSource) remember(r reportsReading) {
	for _, name := range r.names {
		f := s.file(name)
		f.mu.Lock()
		if f.lastRead = f.hash; f.hash == (contentHash{}) {
			f.lastRead = absent
		}
		f.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = r.names
}

// Watch implements Source, for the files of all reports.
func (s *reportsSource) Watch(ctx context.Context, changed func()) error {
	w := watch{
		files: func() []*sharedFile {
			names, _ := reportNames(s.path) // one that fails leaves what was known, which is gone then
			s.mu.Lock()
			names = slices.Concat(s.known, names)
			s.mu.Unlock()
			slices.Sort(names)
			var files []*sharedFile
			for _, name := range slices.Compact(names) {
				files = append(files, &s.file(name).sharedFile)
			}
			return files
		},
		entries: []string{s.path},
	}
	return w.run(ctx, changed)
}

// Owned implements Source: the whole folder.
func (s *reportsSource) Owned() []string { return s.owned() }

// logPath returns the path of the progress log, below the repository.
func (s *reportsSource) logPath() string {
	return path.Join(s.rel, strings.TrimPrefix(form.Name(s.rel), ".")+".progress.md")
}
