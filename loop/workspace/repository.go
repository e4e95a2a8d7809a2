package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options are the settings of a Workspace.
type Options struct {
	State   string // absolute path of the state folder
	Project string // [a-z0-9-]{1,32}
	Repo    string // absolute path of the user's repository: its top folder

	// Protected are branches that are never written, as names or globs. Our
	// branches never have such a name; this is a second check.
	Protected []string
	// Owned are the paths of the task source below the repository. They are in
	// no scope, and uncommitted changes of them are not reported.
	Owned []string
	// RoomFiles are untracked files of the user's checkout that rooms get: paths
	// and globs.
	RoomFiles []string
	// Sign makes the commits that the user's repository gets signed ones, by the
	// user's own configuration of git.
	Sign bool
	// Hooks gives rooms the commit hooks of the user's repository.
	Hooks bool
	// SessionUID and SessionGID are the user and group of sessions, who own the
	// work folder while one runs. -1 means the daemon's own.
	SessionUID int
	SessionGID int

	// Mounts reports whether sessions can have overlays mounted. With nil they
	// cannot, and a room is a copy of its layer.
	Mounts func() bool
}

// Workspace is the bare repository and the work folders of one project. Its
// methods are safe for concurrent use; those that write are serialized.
type Workspace struct {
	o       Options
	program string // absolute path
	gitDir  string // STATE/repos/PROJECT.git

	*exclusive // held by every method that writes the bare repository or a work folder; nil without a state folder

	slow atomic.Uint32 // how often the time that git gets was doubled; see inTime

	allowed runExceptions // of the last run that was captured; guarded by mu

	trees objectCache // trees of commits and trees
	// what filled returned, by tree; emptied when more content becomes known
	filledTrees objectCache
	dates       objectCache // dates of commits
	inputs      objectCache // files that decide what setup makes, by tree and setup commands
	rules       objectCache // contents of small ignore files
	listings    listingCache
	configs     map[string]string // configuration of an empty repository, by hash format; guarded by mu
}

// exclusive serializes what writes one bare repository and its work folders. All
// Workspaces of a repository share one: a project is opened anew for each run, while
// something that was begun for the run before may not have ended.
type exclusive struct {
	mu sync.Mutex

	maintained      sync.Mutex // guards the two below
	waiting         int        // uses of the repository that hold mu or wait for it
	stopMaintenance func()     // nil while none is in progress
}

// exclusives has the exclusive of each repository of this process, by its path.
var exclusives sync.Map

// exclusiveOf returns what the Workspaces of a bare repository share.
func exclusiveOf(gitDir string) *exclusive {
	of, _ := exclusives.LoadOrStore(filepath.Clean(gitDir), &exclusive{})
	return of.(*exclusive)
}

// objectCache remembers what follows from full hashes, which name the same objects
// for ever: an attempt asks for the same few again and again, and each question is
// a process. Its methods are safe for concurrent use.
type objectCache struct {
	mu    sync.Mutex
	known map[string]string
}

// maxKnown is the size at which an objectCache starts anew.
const maxKnown = 1000

func (c *objectCache) get(key string) (value string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok = c.known[key]
	return value, ok
}

func (c *objectCache) put(key, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxKnown {
		c.known = map[string]string{}
	}
	c.known[key] = value
}

func (c *objectCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = nil
}

// listing is the content of a tree or commit.
type listing struct {
	hash    string
	entries []treeEntry
	sizes   bool // the entries have sizes
}

// maxListings is the number of listings that are kept: of an attempt's start, of
// the tree before a session and of the one after it. A listing of 40,000 files
// takes some 6 MB.
const maxListings = 3

// listingCache keeps the last listings, the one asked for last first. Its methods
// are safe for concurrent use.
type listingCache struct {
	mu   sync.Mutex
	last []listing
}

func (c *listingCache) get(hash string, sizes bool) ([]treeEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.last, func(l listing) bool { return l.hash == hash && (l.sizes || !sizes) })
	if i < 0 {
		return nil, false
	}
	found := c.last[i]
	c.last = append([]listing{found}, slices.Delete(c.last, i, i+1)...)
	return found.entries, true
}

func (c *listingCache) put(l listing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := slices.DeleteFunc(c.last, func(o listing) bool { return o.hash == l.hash })
	c.last = append([]listing{l}, rest[:min(len(rest), maxListings-1)]...)
}

var (
	projectName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	runName     = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$`)
	fullHash    = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	gitVersion  = regexp.MustCompile(`(\d+)\.(\d+)`)
)

// Open finds git and prepares the state folder. It does not touch the user's
// repository, so that a project whose repository is missing can still be
// queried; Begin inspects it. A missing or too old git is a *ledger.InputError.
func Open(ctx context.Context, o Options) (*Workspace, error) {
	if !projectName.MatchString(o.Project) {
		return nil, fmt.Errorf("open workspace: project name %q is not [a-z0-9-]{1,32}", o.Project)
	}
	if !filepath.IsAbs(o.State) || !filepath.IsAbs(o.Repo) {
		return nil, fmt.Errorf("open workspace: state %q and repository %q must be absolute", o.State, o.Repo)
	}
	program, err := findGit(ctx)
	if err != nil {
		if _, ok := errors.AsType[*ledger.InputError](err); ok {
			return nil, err
		}
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	gitDir := filepath.Join(o.State, "repos", o.Project+".git")
	w := &Workspace{o: o, program: program, gitDir: gitDir, exclusive: exclusiveOf(gitDir)}
	for _, dir := range []string{"repos", "runs"} {
		mode := fs.FileMode(0o700)
		if dir == "runs" && o.SessionUID >= 0 {
			mode = 0o711 // the session user must be able to enter its work folder below
		}
		path := filepath.Join(o.State, dir)
		if err := os.MkdirAll(path, mode); err != nil {
			return nil, fmt.Errorf("open workspace: %w", err)
		}
		if err := os.Chmod(path, mode); err != nil {
			return nil, fmt.Errorf("open workspace: %w", err)
		}
	}
	return w, nil
}

// inputError returns the error that prevents a run's start.
func inputError(f ...ledger.Diagnostic) error { return &ledger.InputError{Diagnostics: f} }

// ensure creates our bare repository, if it does not exist, with the hash
// format of the user's ("sha1" or "sha256").
func (w *Workspace) ensure(ctx context.Context, format string) error {
	have, err := w.gitOurs(ctx, "rev-parse", "--show-object-format")
	if err == nil {
		if have != format {
			return inputError(ledger.Diagnostic{
				Text:   fmt.Sprintf("%s uses %s hashes, but nightporter's own repository for project %s uses %s", w.o.Repo, format, w.o.Project, have),
				Remedy: "give this repository a project name of its own, or move " + w.gitDir + " away",
			})
		}
		return nil
	}
	if exitCode(err) < 0 {
		return fmt.Errorf("open repository: %w", err)
	}
	if _, err := os.Lstat(w.gitDir); err == nil {
		return inputError(ledger.Diagnostic{
			Text:   w.gitDir + " is there, but git cannot read it as a repository",
			Remedy: "move it away: mv " + w.gitDir + " " + w.gitDir + ".broken (earlier runs' trees are in there)",
		})
	}
	// Created beside and renamed, so that a crash leaves no partial repository.
	tmp := w.gitDir + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	// No template: it would add sample hooks and an exclude file.
	if _, err := w.run(ctx, call{args: []string{"init", "--quiet", "--bare", "--template=", "--object-format=" + format, tmp}}); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	config, err := os.OpenFile(filepath.Join(tmp, "config"), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = config.WriteString("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tfsync = all\n\thooksPath = /dev/null\n")
		err = errors.Join(err, config.Close())
	}
	if err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	if err := neutralizeAttributes(tmp); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	if err := os.Rename(tmp, w.gitDir); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	return nil
}

// neutralizeAttributes disables attributes that a session could set in a
// .gitattributes: filters, and conversions that fail for some content. With
// both disabled, git stores the bytes that a session sees. Line ends are
// converted as for the user, because that conversion cannot fail.
func neutralizeAttributes(gitDir string) error {
	if err := os.MkdirAll(filepath.Join(gitDir, "info"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(gitDir, "info", "attributes"), []byte("* !filter !ident !working-tree-encoding\n"), 0o644)
}

// setRef sets one of our refs to a commit, whatever its value.
func (w *Workspace) setRef(ctx context.Context, ref, commit string) error {
	if err := w.dropStaleLock(ctx, filepath.Join(w.gitDir, filepath.FromSlash(ref)+".lock")); err != nil {
		return err
	}
	_, err := w.gitOurs(ctx, "update-ref", "--create-reflog", ref, commit)
	return err
}

// staleAfter is the age at which a lock file in our repository counts as left
// by a power cut or a killed git. This process is the only writer there and
// writes a ref in milliseconds; a git process of an earlier daemon has this
// long to finish.
const staleAfter = 2 * time.Second

// dropStaleLock removes a lock file that no process can hold any more. It waits
// for a lock file that is younger than staleAfter, and leaves one that a process
// has open.
func (w *Workspace) dropStaleLock(ctx context.Context, lock string) error {
	info, err := os.Lstat(lock)
	if err != nil {
		return nil // the usual case
	}
	if left := staleAfter - time.Since(info.ModTime()); left > 0 {
		timer := time.NewTimer(min(left, staleAfter)) // limited, since the clock may have been set back
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if isOpen(lock) {
		return nil // git will say who waits for it
	}
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove stale lock: %w", err)
	}
	return nil
}

// isOpen reports whether a process of this machine has a file open, as far as this
// process may look.
func isOpen(file string) bool {
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well-formed
	return slices.ContainsFunc(fds, func(fd string) bool {
		at, err := os.Readlink(fd)
		return err == nil && at == file
	})
}

// tree returns the hash of the tree of a tree or commit.
func (w *Workspace) tree(ctx context.Context, treeish string) (string, error) {
	if strings.HasPrefix(treeish, "-") || treeish == "" {
		return "", fmt.Errorf("%q names no tree", treeish)
	}
	if tree, ok := w.trees.get(treeish); ok {
		return tree, nil
	}
	tree, err := w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", treeish+"^{tree}")
	if err == nil && fullHash.MatchString(treeish) {
		w.trees.put(treeish, tree)
	}
	return tree, err
}

// branchOf returns the name of a run's branch.
func (w *Workspace) branchOf(run string) string { return "nightporter/" + w.o.Project + "/" + run }

// hiddenRef returns the name of a ref of ours that is not a branch.
func (w *Workspace) hiddenRef(run, name string) string {
	return "refs/nightporter/" + w.o.Project + "/" + run + "/" + name
}

// ownerOf returns the credentials with which to write into a user's folder, so
// that no file there ever belongs to root; nil if we are its owner.
func ownerOf(path string) (*syscall.Credential, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if os.Geteuid() != 0 || st.Uid == 0 {
		return nil, nil
	}
	return &syscall.Credential{Uid: st.Uid, Gid: st.Gid}, nil
}
