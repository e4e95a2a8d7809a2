package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Options say which project a Workspace is for.
type Options struct {
	State   string // the state folder, absolute
	Project string // [a-z0-9-]{1,32}
	Repo    string // top folder of the user's repository, absolute

	// Protected are branches that are never written, as names or globs. Ours
	// never carry such a name; this is the second lock on the same door.
	Protected []string
	// Owned are the paths of the task source below the repository. They are
	// never in scope, and not worth a word when the checkout has them changed.
	Owned []string
	// SessionUID and SessionGID are whom sessions run as; the work folder is
	// handed over to them. -1: the daemon's own user.
	SessionUID int
	SessionGID int
}

// Workspace is one project's bare repository and its work folders. Its
// methods may be called from several goroutines; what changes something is
// done one at a time.
type Workspace struct {
	o       Options
	program string // absolute path of git
	gitDir  string // STATE/repos/PROJECT.git

	mu sync.Mutex // held by whatever writes the bare repository or a work folder
}

var (
	projectName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	runName     = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$`)
	gitVersion  = regexp.MustCompile(`(\d+)\.(\d+)`)
)

// Open looks for git and prepares the state folder. It does not look at the
// user's repository: that is Begin's part, so that a project whose repository
// is gone for a night can still be asked about. A missing or too old git is a
// *ledger.InputError.
func Open(ctx context.Context, o Options) (*Workspace, error) {
	if !projectName.MatchString(o.Project) {
		return nil, fmt.Errorf("open workspace: project name %q is not [a-z0-9-]{1,32}", o.Project)
	}
	if !filepath.IsAbs(o.State) || !filepath.IsAbs(o.Repo) {
		return nil, fmt.Errorf("open workspace: state %q and repository %q must be absolute", o.State, o.Repo)
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, stop(ledger.Finding{Text: "git is not on PATH", Fix: "install git 2.39 or newer, for example: apt install git"})
	}
	w := &Workspace{o: o, program: program, gitDir: filepath.Join(o.State, "repos", o.Project+".git")}
	out, err := w.run(ctx, call{args: []string{"version"}})
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	// merge-tree --write-tree came with 2.38; 2.39 is the oldest that is tested.
	if m := gitVersion.FindStringSubmatch(string(out)); m != nil {
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		if major < 2 || major == 2 && minor < 39 {
			return nil, stop(ledger.Finding{Text: fmt.Sprintf("git is %s.%s, and nightporter needs 2.39 or newer", m[1], m[2]), Fix: "install a newer git"})
		}
	}
	for _, dir := range []string{"repos", "runs"} {
		mode := fs.FileMode(0o700)
		if dir == "runs" && o.SessionUID >= 0 {
			mode = 0o711 // the session user has to get through to its work folder
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

// stop makes the error that keeps a run from starting.
func stop(f ...ledger.Finding) error { return &ledger.InputError{Findings: f} }

// ensure makes our bare repository if it is not there, with the user's
// repository's kind of hash ("sha1" or "sha256").
func (w *Workspace) ensure(ctx context.Context, format string) error {
	if have, err := w.ours(ctx, "rev-parse", "--show-object-format"); err == nil {
		if have != format {
			return stop(ledger.Finding{
				Text: fmt.Sprintf("%s uses %s hashes, but nightporter's own repository for project %s uses %s", w.o.Repo, format, w.o.Project, have),
				Fix:  "give this repository a project name of its own, or move " + w.gitDir + " away",
			})
		}
		return nil
	}
	if _, err := os.Lstat(w.gitDir); err == nil {
		return stop(ledger.Finding{
			Text: w.gitDir + " is there, but git cannot read it as a repository",
			Fix:  "move it away: mv " + w.gitDir + " " + w.gitDir + ".broken (earlier runs' trees are in there)",
		})
	}
	// Made beside and renamed, so that a crash leaves no half repository.
	tmp := w.gitDir + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	// No template: it would bring sample hooks and an exclude file.
	if _, err := w.run(ctx, call{args: []string{"init", "--quiet", "--bare", "--template=", "--object-format=" + format, tmp}}); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	for _, kv := range [][2]string{{"gc.auto", "0"}, {"maintenance.auto", "false"}, {"core.fsync", "all"}, {"core.hooksPath", "/dev/null"}} {
		if _, err := w.run(ctx, call{gitDir: tmp, args: []string{"config", kv[0], kv[1]}}); err != nil {
			return fmt.Errorf("make repository: %w", err)
		}
	}
	if err := neutral(tmp); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	if err := os.Rename(tmp, w.gitDir); err != nil {
		return fmt.Errorf("make repository: %w", err)
	}
	return nil
}

// neutral takes the force out of attributes that a session could set in a
// .gitattributes: filters, and conversions that fail on bytes that do not fit.
// Both ways are left out, so what is stored is what a session sees. Line ends
// are converted as for the user: they always can be.
func neutral(gitDir string) error {
	if err := os.MkdirAll(filepath.Join(gitDir, "info"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(gitDir, "info", "attributes"), []byte("* !filter !ident !working-tree-encoding\n"), 0o644)
}

// setRef points a ref of ours at a commit, whatever it held.
func (w *Workspace) setRef(ctx context.Context, ref, commit string) error {
	if err := w.dropStaleLock(ctx, filepath.Join(w.gitDir, filepath.FromSlash(ref)+".lock")); err != nil {
		return err
	}
	_, err := w.ours(ctx, "update-ref", "--create-reflog", ref, commit)
	return err
}

// staleAfter is how old a lock in our own repository must be before it is
// taken for one that a power cut or a killed git left. This process is the
// only one that writes there, and a ref is written in milliseconds; what an
// earlier daemon's git may still hold is given this long.
const staleAfter = 2 * time.Second

// dropStaleLock removes a lock file that nobody can hold any more, and waits
// for one that somebody still might.
func (w *Workspace) dropStaleLock(ctx context.Context, lock string) error {
	info, err := os.Lstat(lock)
	if err != nil {
		return nil // none there, the usual case
	}
	if left := staleAfter - time.Since(info.ModTime()); left > 0 {
		timer := time.NewTimer(min(left, staleAfter)) // a clock that was set back must not make this long
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove stale lock: %w", err)
	}
	return nil
}

// tree returns the hash of the tree that a tree or commit names.
func (w *Workspace) tree(ctx context.Context, treeish string) (string, error) {
	if strings.HasPrefix(treeish, "-") || treeish == "" {
		return "", fmt.Errorf("%q names no tree", treeish)
	}
	return w.ours(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", treeish+"^{tree}")
}

// branchOf is the name of a run's branch.
func (w *Workspace) branchOf(run string) string { return "nightporter/" + w.o.Project + "/" + run }

// hidden is the name of a ref of ours that is not a branch.
func (w *Workspace) hidden(run, name string) string {
	return "refs/nightporter/" + w.o.Project + "/" + run + "/" + name
}

// ownerOf returns as whom to write into a folder of the user's: nil for
// ourselves, and otherwise its owner, so that nothing in there ever belongs
// to root.
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
