package task

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Options are the settings of a project that concern its source.
type Options struct {
	// CommitStatus leaves the checkout alone: Mark and Log write nothing, and
	// the marks travel in each task's commit instead (MarkPlan, AppendProgress).
	CommitStatus bool
	// Zone is the person's time zone, for times in the progress log. Nil keeps
	// the zone that an entry's own time is written in.
	Zone *time.Location
}

// Source is where one run's tasks come from. It is safe for concurrent use,
// also by several processes on the same file.
type Source interface {
	// Read parses the source as it is now. Malformed input is a
	// *ledger.InputError with every finding; nothing of it may be used then.
	Read(ctx context.Context) (ledger.Snapshot, error)
	// Mark writes statuses into the user's own file. Tasks that the file no
	// longer has come back as a *GoneError; the others are written all the same.
	Mark(ctx context.Context, marks []ledger.Marking) error
	// Log appends to the progress log, unless an entry with p's key is there.
	Log(ctx context.Context, p ledger.Progress) error
	// Watch calls changed, from one goroutine, after the file's content was
	// changed since it was last read, until ctx ends; it then returns nil.
	Watch(ctx context.Context, changed func()) error
	// Owned returns the slash-separated paths below the repository that are
	// never in a session's scope: the file, its progress log.
	Owned() []string
}

// GoneError says which tasks a Mark did not find any more. Their marks were
// not written; everything else was.
type GoneError struct {
	File  string   // as in findings
	Tasks []string // ids as they were asked for
	Err   error    // why, where the whole file is gone; else nil
}

// Error names the file and the tasks.
func (e *GoneError) Error() string {
	text := fmt.Sprintf("%s no longer has %s", e.File, strings.Join(e.Tasks, ", "))
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives fs.ErrNotExist where the whole file is gone.
func (e *GoneError) Unwrap() error { return e.Err }

func inputError(file, text, fix string) *ledger.InputError {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: file, Text: text, Remedy: fix}}}
}

// place is a source's file inside a repository, as the user named it.
type place struct {
	kind *Kind
	repo string // absolute, without links
	rel  string // slash-separated, below repo
	path string // absolute
}

// newPlace puts path below repo by its letters; links are looked at by target,
// each time anew, because they can change during a night.
func newPlace(k *Kind, path, repo string) (place, error) {
	if strings.TrimSpace(path) == "" {
		return place{}, inputError("", "the source has no path", k.writeIt())
	}
	abs, err := filepath.Abs(repo)
	if err != nil {
		return place{}, fmt.Errorf("open source: %w", err)
	}
	// The repository may have two names, one of them through a link, and path
	// may be given below either.
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return place{}, inputError(repo, "there is no such folder", "Check --repo")
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(abs, path)
	}
	rel, ok := below(abs, full)
	if !ok {
		rel, ok = below(real, full)
	}
	if !ok {
		return place{}, outside(path, abs)
	}
	return place{kind: k, repo: real, rel: filepath.ToSlash(rel), path: filepath.Join(real, rel)}, nil
}

// below returns path relative to dir if it lies inside, by letters.
func below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

func outside(path, repo string) error {
	return inputError(path, "lies outside the repository "+repo,
		"Move it into the repository, or give the path of one inside it")
}

// target resolves every link on the way and returns the real path of the
// regular file, which is inside the repository. A missing file is an error
// that wraps fs.ErrNotExist.
func (p place) target() (string, error) {
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		return "", err
	}
	if _, ok := below(p.repo, real); !ok {
		return "", inputError(p.rel, "is a link to "+real+", which lies outside the repository "+p.repo,
			"Put the file itself into the repository")
	}
	info, err := os.Lstat(real)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		what := "is no regular file"
		if info.IsDir() {
			what = "is a folder"
		}
		return "", inputError(p.rel, what+": expected a file", "Name the file, for example "+p.kind.Example)
	}
	return real, nil
}

// short is how findings name the place, as people say it.
func (p place) short() string { return filepath.Base(p.path) }

// owned is the place below the repository, and where it really is if a link
// leads elsewhere.
func (p place) owned() []string {
	paths := []string{p.rel}
	if real, err := filepath.EvalSymlinks(p.path); err == nil {
		if rel, ok := below(p.repo, real); ok && filepath.ToSlash(rel) != p.rel {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}
