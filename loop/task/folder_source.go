package task

import (
	"context"
	"errors"
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
	"github.com/nightporter/nightporter/loop/task/backlogmd"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Places in a folder of Backlog.md.
const (
	openFolderName = "tasks"
	doneFolderName = "completed"
	archiveFolder  = "archive/tasks"
	rootConfig     = "backlog.config.yml" // in the repository's root
)

// configNames are the names of a folder's configuration; the first that is there
// counts, and the one in the root after them.
var configNames = []string{"config.yml", "config.yaml"}

// folderSource is a folder of Backlog.md in the user's checkout: a file for each task.
type folderSource struct {
	sourcePath // of the folder
	opts       Options

	mu    sync.Mutex
	files map[string]*folderFile // by path below the repository
	known []string               // those that the last reading had
}

// folderFile is a file of the folder with its last reading.
type folderFile struct {
	sharedFile
	at   settle.Stamp
	hash contentHash
	task *backlogmd.File // nil for a file that is no task's
	err  error           // what is wrong with its text
}

// taskFile is the file of a task in one reading.
type taskFile struct {
	*folderFile
	task *backlogmd.File
}

// openFolder opens a folder of Backlog.md.
func openFolder(at sourcePath, opts Options) (Source, error) {
	if err := at.insideFolder(true, nil); err != nil {
		return nil, err
	}
	if err := at.checkFolder(); err != nil {
		return nil, at.folderError(err)
	}
	return &folderSource{sourcePath: at, opts: opts, files: map[string]*folderFile{}}, nil
}

// isTaskFolder reports whether a folder of a repository is one of Backlog.md: it has a
// task's file, or a configuration that names a project.
func isTaskFolder(repo, rel string) bool {
	for _, sub := range []string{openFolderName, doneFolderName} {
		names, err := namesIn(filepath.Join(repo, filepath.FromSlash(rel), sub))
		if err != nil {
			continue
		}
		for _, name := range names {
			if data, err := readBelow(repo, path.Join(rel, sub, name)); err == nil && backlogmd.IsTaskName(name) && backlogmd.IsTask(data) {
				return true
			}
		}
	}
	info, err := os.Stat(filepath.Join(repo, filepath.FromSlash(rel), openFolderName))
	if err != nil || !info.IsDir() {
		return false
	}
	return slices.ContainsFunc(configNames, func(name string) bool {
		data, err := readBelow(repo, path.Join(rel, name))
		return err == nil && backlogmd.IsConfig(data)
	})
}

// checkFolder returns what is wrong with the folder itself: it must be one of the
// repository, also where links lead.
func (p sourcePath) checkFolder() error {
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		return err
	}
	if _, ok := below(p.repo, real); !ok {
		return inputError(p.rel, "is a link to "+real+", which lies outside the repository "+p.repo, "Put the folder itself into the repository")
	}
	_, err = os.Stat(filepath.Join(real, openFolderName))
	return err
}

// folderError turns an error of reading the folder into one with a remedy.
func (p sourcePath) folderError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return inputError(p.rel, "has no folder "+openFolderName+": expected "+openFolderName+"/task-1 - Title.md, as Backlog.md keeps its tasks", "Check the path after "+p.kind.Name+":")
	}
	return p.readError(err)
}

// namesIn returns the names of the Markdown files of a folder.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".") && strings.ToValidUTF8(name, "") == name {
			names = append(names, name)
		}
	}
	return names, nil
}

// listing is what lies in the folder now.
type listing struct {
	open, completed []string // paths below the repository
	archived        []string // names
}

// all returns the paths of all tasks' files.
func (l listing) all() []string { return slices.Concat(l.open, l.completed) }

// list lists the files. Those of open tasks come first, so that one that is moved
// meanwhile is found in its new place.
func (s *folderSource) list() (l listing, err error) {
	for _, sub := range []struct {
		name string
		to   *[]string
	}{{openFolderName, &l.open}, {doneFolderName, &l.completed}, {archiveFolder, &l.archived}} {
		names, err := namesIn(filepath.Join(s.path, filepath.FromSlash(sub.name)))
		if errors.Is(err, fs.ErrNotExist) && sub.name != openFolderName {
			continue
		}
		if err != nil {
			return l, err
		}
		for _, name := range names {
			if sub.name != archiveFolder {
				name = path.Join(s.rel, sub.name, name)
			}
			*sub.to = append(*sub.to, name)
		}
	}
	return l, nil
}

// file returns a file of the folder, the same one each time.
func (s *folderSource) file(rel string) *folderFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[rel]
	if f == nil {
		at := sourcePath{kind: s.kind, repo: s.repo, rel: rel, path: filepath.Join(s.repo, filepath.FromSlash(rel))}
		f = &folderFile{sharedFile: sharedFile{sourcePath: at, exchange: exchange.Files}}
		s.files[rel] = f
	}
	return f
}

// load reads the file, unless it is as it was. It returns nil for one that is no
// task's. A missing one is an error that wraps fs.ErrNotExist.
func (f *folderFile) load(ctx context.Context) (*backlogmd.File, error) {
	at := f.stamp()
	f.mu.Lock()
	task, wrong, same := f.task, f.err, f.at == at && at != settle.Stamp{}
	f.mu.Unlock()
	if same {
		return task, wrong
	}
	data, err := f.content(ctx)
	if err != nil {
		return nil, err
	}
	task, wrong = nil, nil
	if name := path.Base(f.rel); backlogmd.IsTaskName(name) || backlogmd.IsTask(data) {
		if task, wrong = backlogmd.ReadFile(f.rel, data); task != nil {
			task.Completed = path.Base(path.Dir(f.rel)) == doneFolderName
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.hash, f.task, f.err = at, hashOf(data), task, wrong
	return task, wrong
}

// folderReading is one reading of all files.
type folderReading struct {
	listing
	config backlogmd.Config
	files  []taskFile
	errors []ledger.Diagnostic
}

// tasks returns the tasks' files as the form reads them.
func (r *folderReading) tasks() []*backlogmd.File {
	var tasks []*backlogmd.File
	for _, f := range r.files {
		tasks = append(tasks, f.task)
	}
	return tasks
}

// load reads the folder. Mistakes in its files are r.errors.
func (s *folderSource) load(ctx context.Context) (r folderReading, err error) {
	if err := s.checkFolder(); err != nil {
		return r, err
	}
	if r.config, err = s.loadConfig(ctx); err != nil {
		return r, err
	}
	if r.listing, err = s.list(); err != nil {
		return r, err
	}
	for _, rel := range r.all() {
		f := s.file(rel)
		task, err := f.load(ctx)
		input := (*ledger.InputError)(nil)
		switch {
		case errors.Is(err, fs.ErrNotExist): // moved or removed since it was listed
		case errors.As(err, &input):
			r.errors = append(r.errors, input.Diagnostics...)
		case err != nil:
			return r, f.readError(err)
		case task != nil:
			r.files = append(r.files, taskFile{f, task})
		}
	}
	return r, nil
}

// loadConfig reads the folder's configuration, which may be missing.
func (s *folderSource) loadConfig(ctx context.Context) (backlogmd.Config, error) {
	for _, rel := range s.configPaths() {
		data, err := s.file(rel).content(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return backlogmd.Config{}, s.file(rel).readError(err)
		}
		return backlogmd.ReadConfig(path.Base(rel), data)
	}
	return backlogmd.ReadConfig(configNames[0], nil)
}

// configPaths returns where the configuration can be, below the repository.
func (s *folderSource) configPaths() []string {
	var paths []string
	for _, name := range configNames {
		paths = append(paths, path.Join(s.rel, name))
	}
	return append(paths, rootConfig)
}

// Read implements Source.
func (s *folderSource) Read(ctx context.Context) (ledger.Snapshot, error) {
	if ctx.Err() != nil {
		return ledger.Snapshot{}, context.Cause(ctx)
	}
	r, err := s.load(ctx)
	if err = s.blameRepository(err); err != nil {
		return ledger.Snapshot{}, s.folderError(err)
	}
	s.remember(ctx, r)
	return s.snapshot(r)
}

// snapshot returns the tasks of a reading.
func (s *folderSource) snapshot(r folderReading) (ledger.Snapshot, error) {
	if len(r.errors) > 0 {
		return ledger.Snapshot{}, &ledger.InputError{Diagnostics: r.errors}
	}
	if len(r.files) == 0 {
		return ledger.Snapshot{}, inputError(s.rel, "has no tasks: expected "+openFolderName+"/task-1 - Title.md", `Add one: backlog task create "What is to be done"`)
	}
	tasks, warnings, err := backlogmd.Tasks(r.config, r.tasks(), r.archived)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	for i := range tasks {
		tasks[i].Material = s.existing(tasks[i].Material)
	}
	return s.finish(ledger.Snapshot{Name: form.Name(s.rel), Path: s.rel, Tasks: tasks, Warnings: warnings})
}

// existing returns those of the documents that are there.
func (s *folderSource) existing(paths []string) []string {
	var found []string
	for _, p := range paths {
		info, err := os.Stat(filepath.Join(s.repo, filepath.FromSlash(p)))
		if err == nil && info.Mode().IsRegular() && !slices.Contains(found, p) && len(found) < maxCompanions {
			found = append(found, p)
		}
	}
	return found
}

// remember takes a reading for what Watch compares with.
func (s *folderSource) remember(ctx context.Context, r folderReading) {
	for _, rel := range r.all() {
		f := s.file(rel)
		f.mu.Lock()
		if f.lastRead = f.hash; f.hash == (contentHash{}) {
			f.lastRead = absent
		}
		f.mu.Unlock()
	}
	for _, rel := range s.configPaths() {
		f := s.file(rel)
		now := f.currentHash(ctx)
		f.mu.Lock()
		f.lastRead = now
		f.mu.Unlock()
	}
	s.mu.Lock()
	s.known = r.all()
	s.mu.Unlock()
}

// Watch implements Source, for the files of all tasks and the configuration.
func (s *folderSource) Watch(ctx context.Context, changed func()) error {
	w := watch{
		files: func() []*sharedFile {
			l, _ := s.list() // one that fails leaves what was known, which is gone then
			s.mu.Lock()
			paths := slices.Concat(s.known, l.all())
			s.mu.Unlock()
			slices.Sort(paths)
			var files []*sharedFile
			for _, rel := range slices.Concat(s.configPaths(), slices.Compact(paths)) {
				files = append(files, &s.file(rel).sharedFile)
			}
			return files
		},
		entries: []string{filepath.Join(s.path, openFolderName), filepath.Join(s.path, doneFolderName)},
	}
	return w.run(ctx, changed)
}

// Owned implements Source: all that Backlog.md keeps of tasks. Its documents and
// decisions are the sessions' to write.
func (s *folderSource) Owned() []string {
	owned := []string{s.progressPath()}
	for _, name := range slices.Concat(configNames, []string{openFolderName, doneFolderName, "drafts", "archive"}) {
		owned = append(owned, path.Join(s.rel, name))
	}
	return owned
}

// progressPath returns the path of the progress log, below the repository.
func (s *folderSource) progressPath() string {
	return path.Join(s.rel, strings.TrimPrefix(form.Name(s.rel), ".")+".progress.md")
}
