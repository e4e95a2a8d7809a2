package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Options are the settings of a project that concern its source.
type Options struct {
	// CommitStatus leaves the checkout unchanged: Mark and Log write nothing,
	// and the marks become part of each task's commit instead (Form.Mark,
	// AppendProgress).
	CommitStatus bool
	// BdWrite closes issues of beads through bd, which may commit and push by itself.
	BdWrite bool
	// Zone is the person's time zone, for times in the progress log. Nil keeps
	// the zone in which an entry's time is written.
	Zone *time.Location
	// Tracker opens the issues of the repository's forge, for the kind forge. It is
	// asked before each use: what a person corrects in the settings counts at once.
	// Nil where no forge is known.
	Tracker func(ctx context.Context) (Tracker, error)
	// Self is the name by which this nightporter claims bug reports: the same on one
	// machine, another one on each. "" = "nightporter".
	Self string
	// KeepOpen leaves issues of finished tasks open: they get the label alone.
	KeepOpen bool
}

// Source provides the tasks of one run. It is safe for concurrent use, also by
// several processes on the same file.
type Source interface {
	// Read parses the current content. Malformed input is a *ledger.InputError
	// with all findings, and no task may then be used.
	Read(ctx context.Context) (ledger.Snapshot, error)
	// Mark writes statuses into the user's file. It writes the others when some
	// tasks no longer exist, and names those in a *GoneError. Marking.Tries is written
	// with the status where the file records it.
	Mark(ctx context.Context, marks []ledger.Marking) error
	// Log appends p to the progress log, unless the log has an entry with p's
	// key.
	Log(ctx context.Context, p ledger.Progress) error
	// Watch calls changed, from one goroutine, whenever the content differs
	// from that of the last read. It returns nil when ctx ends.
	Watch(ctx context.Context, changed func()) error
	// Owned returns the slash-separated paths below the repository that no
	// session may write: the file and its progress log.
	Owned() []string
}

// Adder is a Source of several files that new tasks can be written into. AddOnce adds
// to a source of one file by itself.
type Adder interface {
	// Add writes tasks into the source and returns their ids, in order, as Form's
	// Adder describes it. When it returns, they are durable and visible in the
	// file. A file that cannot take tasks is a *ReadOnlyError. With
	// Options.CommitStatus the checkout's file is written all the same: a person
	// asked for the task, and their file says so.
	Add(ctx context.Context, tasks []ledger.Task) (ids []string, err error)
}

// ReadOnlyError is the error of a source that no task can be added to.
type ReadOnlyError struct{ File string }

func (e *ReadOnlyError) Error() string {
	return e.File + " cannot take tasks: write the task into it yourself"
}

// GoneError names the tasks that Mark did not find. All other marks were
// written.
type GoneError struct {
	File  string   // the file's name as in findings
	Tasks []string // their ids as the caller wrote them
	Err   error    // the cause when the whole file is gone, else nil
}

func (e *GoneError) Error() string {
	text := fmt.Sprintf("%s no longer has %s", e.File, strings.Join(e.Tasks, ", "))
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns fs.ErrNotExist when the whole file is gone, else nil.
func (e *GoneError) Unwrap() error { return e.Err }

func inputError(file, text, fix string) *ledger.InputError {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: file, Text: text, Remedy: fix}}}
}

// sourcePath is the path of a source's file inside a repository.
type sourcePath struct {
	kind *Kind
	repo string // absolute, without symbolic links
	rel  string // slash-separated, below repo
	path string // absolute
}

// newSourcePath accepts a path below repo by name alone. target resolves links
// at each access, because they can change during a night.
func newSourcePath(k *Kind, path, repo string) (sourcePath, error) {
	if strings.TrimSpace(path) == "" {
		return sourcePath{}, inputError("", "the source has no path", k.writingHint())
	}
	abs, err := filepath.Abs(repo)
	if err != nil {
		return sourcePath{}, fmt.Errorf("open source: %w", err)
	}
	// The repository may be reachable under two names, one of them a link, and
	// path may use either.
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return sourcePath{}, inputError(repo, "there is no such folder", "Check --repo")
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
		return sourcePath{}, outside(path, abs)
	}
	return sourcePath{kind: k, repo: real, rel: filepath.ToSlash(rel), path: filepath.Join(real, rel)}, nil
}

// below returns path relative to dir if it lies inside, without resolving
// links.
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

// target resolves all links and returns the real path of the regular file,
// which must be inside the repository. A missing file is an error that wraps
// fs.ErrNotExist.
func (p sourcePath) target() (string, error) {
	real, err := filepath.EvalSymlinks(p.path)
	if _, open := os.Stat(p.path); err != nil && errors.Is(open, unix.ELOOP) {
		return "", inputError(p.rel, "is a link that leads back to itself", "Put the file itself there")
	}
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
		what, remedy := "is no regular file", "Name the file"
		if p.kind.Example != "" {
			remedy += ", for example " + p.kind.Example
		}
		if info.IsDir() {
			what = "is a folder"
			if isTaskFolder(p.repo, p.rel) {
				remedy = fmt.Sprintf("Write source = %q", KindBacklog+":"+p.rel)
			}
		}
		return "", inputError(p.rel, what+": expected a file", remedy)
	}
	return real, nil
}

// displayName returns the file's name for findings.
func (p sourcePath) displayName() string { return filepath.Base(p.path) }

// owned returns the path below the repository, and the link's target if the
// path is a link.
func (p sourcePath) owned() []string {
	paths := []string{p.rel}
	if real, err := filepath.EvalSymlinks(p.path); err == nil {
		if rel, ok := below(p.repo, real); ok && filepath.ToSlash(rel) != p.rel {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}
