package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// unusable returns err, a failure of publish, as a *ledger.RepositoryError that says
// in plain words what is wrong with the user's repository. It leaves alone what has
// a fault of its own, a branch onto which work can be merged, and a git that failed
// on our repository.
func (w *Workspace) unusable(ctx context.Context, branch string, err error) error {
	if err == nil || ctx.Err() != nil || fault.Of(err) != "" {
		return err
	}
	if moved, ok := errors.AsType[*ledger.BranchMoved](err); ok {
		if moved.Ahead {
			return err
		}
		return &ledger.RepositoryError{
			Text:   fmt.Sprintf("somebody moved branch %s to %.12s, without the commits of this run", branch, moved.Have),
			Remedy: fmt.Sprintf("git -C %s branch -f %s %.12s", w.o.Repo, branch, moved.Want),
			Err:    err,
		}
	}
	failed, byGit := errors.AsType[*gitError](err)
	if byGit && failed.gitDir == w.gitDir && failed.args[0] != "fetch" {
		return err
	}
	found := w.wrongWith(ctx, branch)
	if found == nil {
		said := err.Error()
		if byGit {
			said = failed.reason()
		}
		found = &ledger.RepositoryError{Text: "git cannot use " + w.o.Repo + ": " + said, Remedy: "mend it until this works: git -C " + w.o.Repo + " fsck --connectivity-only"}
	}
	found.Err = err
	return found
}

// wrongWith looks for what keeps the user's repository from taking commits on a
// branch. nil: nothing that it knows.
func (w *Workspace) wrongWith(ctx context.Context, branch string) *ledger.RepositoryError {
	repo := w.o.Repo
	if away := fault.Away(repo); away != nil {
		return away
	}
	gitDir := filepath.Join(repo, ".git")
	if t, err := w.openUser(ctx); err == nil {
		gitDir = t.commonDir
		below, err := w.gitUser(ctx, t, "for-each-ref", "--count=1", "--format=%(refname:lstrip=2)", "refs/heads/"+branch+"/")
		if err == nil && below != "" {
			return &ledger.RepositoryError{
				Text:   "branch " + below + " is in the way of " + branch,
				Remedy: "git -C " + repo + " branch -m " + below + " " + renamed(below),
			}
		}
	} else if info, err := os.Stat(gitDir); err != nil || !info.IsDir() {
		return nil // a linked worktree: git says more
	}
	for _, part := range []string{"HEAD", "objects", "refs"} {
		path := filepath.Join(gitDir, part)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return &ledger.RepositoryError{Text: path + " is not there", Remedy: "move it back, or restore it"}
		}
		if err := unix.Access(path, unix.W_OK); err != nil && part != "HEAD" {
			return &ledger.RepositoryError{Text: fmt.Sprintf("%s cannot be written: %v", path, err), Remedy: "make it writable for the user that nightporter runs as"}
		}
	}
	return nil
}

// reason returns the line in which git says why it failed.
func (e *gitError) reason() string {
	lines := strings.Split(strings.TrimSpace(e.stderr), "\n")
	for _, prefix := range []string{"fatal: ", "error: "} {
		for _, line := range lines {
			if said, ok := strings.CutPrefix(line, prefix); ok {
				return said
			}
		}
	}
	return cmp.Or(lines[0], e.Error())
}

// programMissing is the error for a git that is not there, as while a package
// manager replaces it.
type programMissing struct{ path string }

func (e programMissing) Error() string { return "git is not there: " + e.path }

// Fault makes the error one of the machine.
func (programMissing) Fault() ledger.Fault { return ledger.FaultMachine }
