package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Begin inspects the user's repository, fetches its HEAD into ours and decides
// where the run starts: at HEAD, or, if HEAD does not contain the branch of the
// source's last run, at that branch's tip merged with HEAD. The branch b.Base takes
// the place of HEAD. It writes nothing into the user's repository, except for a run
// that keeps a request green, whose branch it moves forward. Everything that
// prevents a start is returned in one *ledger.InputError.
func (w *Workspace) Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error) {
	defer w.lock()()
	if !runName.MatchString(b.Run) {
		return ledger.Base{}, fmt.Errorf("begin: %q is no name of a run", b.Run)
	}
	t, err := w.inspect(ctx)
	if err != nil {
		return ledger.Base{}, err
	}
	if err := w.ensure(ctx, t.format); err != nil {
		return ledger.Base{}, err
	}
	base := ledger.Base{Head: t.head, HeadName: t.headName, Branch: w.branchOf(cmp.Or(b.As, b.Run))}
	if b.Upkeep != nil {
		base.Branch = b.Upkeep.Branch
	}
	if err := w.checkBranch(ctx, base.Branch); err != nil {
		return ledger.Base{}, err
	}
	if b.Upkeep == nil {
		if err := w.refuseForeignRuns(ctx, t, base.Branch); err != nil {
			return ledger.Base{}, err
		}
	}
	on, err := w.startBranch(ctx, t, b, &base)
	if err != nil {
		return ledger.Base{}, err
	}
	if err := w.saveExclude(t, b.Run); err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	if w.o.Sign {
		if base.Committer, err = w.trySigning(ctx, t); err != nil {
			return ledger.Base{}, err
		}
	}
	author, hooks, note, err := w.identity(ctx, t)
	if err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	base.Author = author // of merges too: a forge believes only those whom it knows
	start := w.startFrom
	if b.Upkeep != nil {
		start = w.startUpkeep
	}
	if err := start(ctx, on, b, &base); err != nil {
		return ledger.Base{}, err
	}
	if err := w.setRef(ctx, w.hiddenRef(b.Run, "base"), base.Commit); err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	if err := w.takeRoomFiles(ctx, base.Commit); err != nil {
		return ledger.Base{}, err
	}
	notes, err := w.takeContent(ctx, t, base.Commit)
	if err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	base.Notes = append(base.Notes, notes...)
	tracked, err := w.listTree(ctx, base.Commit)
	if err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	base.EnvFiles = w.envFiles(tracked)
	if err := w.saveHooks(t, b.Run, hooks); err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	if note != nil {
		base.Notes = append(base.Notes, *note)
	}
	if w.o.Hooks {
		if note, err = w.takeHooks(t, hooks); err != nil {
			return ledger.Base{}, fmt.Errorf("begin: %w", err)
		}
		if note != nil {
			base.Notes = append(base.Notes, *note)
		}
	}
	w.addNotes(t, &base)
	if b.Base != "" {
		base.Notes = append(base.Notes, w.baseNote(ctx, t, b, base)...)
	}
	if base.Dirty, err = w.dirty(ctx, t, b.Run); err != nil {
		// The list only serves a note, so an error does not prevent the start.
		base.Notes = append(base.Notes, ledger.Diagnostic{Text: fmt.Sprintf("which files of the checkout are not included could not be found out: %v", err)})
	}
	return base, nil
}

// saveExclude copies the user's private ignore rules, so that files ignored on
// this machine only are not captured from a session either.
func (w *Workspace) saveExclude(t userRepo, run string) error {
	data, err := os.ReadFile(filepath.Join(t.commonDir, "info", "exclude"))
	if err != nil {
		data = nil // missing or unreadable: no rules
	}
	dir, err := w.runDir(run)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "exclude"), data, 0o600)
}

// startFrom decides between HEAD, or the branch in its place, and the earlier run's
// branch.
func (w *Workspace) startFrom(ctx context.Context, t userRepo, b ledger.Begin, base *ledger.Base) error {
	base.Commit = t.head
	if !b.Fresh && b.Previous != "" && strings.HasPrefix(b.Previous, "nightporter/") {
		prev, err := w.gitUser(ctx, t, "rev-parse", "--verify", "--quiet", "refs/heads/"+b.Previous+"^{commit}")
		switch {
		case exitCode(err) > 0:
			if err := w.branchDeleted(ctx, b, base); err != nil {
				return err
			}
		case err != nil:
			return fmt.Errorf("begin: %w", err)
		default:
			if err := w.continueRun(ctx, t, b, prev, base); err != nil {
				return err
			}
		}
	}
	tree, err := w.tree(ctx, base.Commit)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	base.Tree = tree
	return nil
}

// branchDeleted notes that the earlier run's branch was deleted. People delete
// a branch after they merged or squashed it, so it does not prevent the start.
func (w *Workspace) branchDeleted(ctx context.Context, b ledger.Begin, base *ledger.Base) error {
	if b.Tip != "" {
		merged, err := w.contains(ctx, base.Head, b.Tip)
		if err != nil || merged {
			return err
		}
	}
	_, err := w.gitOurs(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+b.Previous)
	kept := err == nil
	note := ledger.Diagnostic{Text: "branch " + b.Previous + " of the last run is gone: starting from HEAD"}
	switch {
	case b.Tip != "":
		note.Text = "branch " + b.Previous + " of the last run is gone; its commits are not in HEAD by name (a squash looks so too); starting from HEAD"
		if kept {
			note.Remedy = "should they be missing, bring it back and merge it: git -C " + w.o.Repo + " fetch " + w.gitDir + " " + b.Previous + ":" + b.Previous
		}
	case !kept:
		return nil // the branch never existed there
	}
	base.Notes = append(base.Notes, note)
	return nil
}

// branchLost refuses an earlier run's branch that exists without the commits
// that we made on it, unless HEAD has them: a run that started there would
// count tasks as done without their changes. prev, the branch's tip, is a
// commit of ours.
func (w *Workspace) branchLost(ctx context.Context, t userRepo, b ledger.Begin, prev string) error {
	if b.Tip == "" {
		return nil
	}
	for _, at := range []string{prev, t.head} {
		if has, err := w.contains(ctx, at, b.Tip); err != nil || has {
			return err
		}
	}
	found := ledger.Diagnostic{
		Text:   fmt.Sprintf("branch %s was moved to %.12s and no longer has commit %.12s, the last of finished tasks; HEAD does not have it either", b.Previous, prev, b.Tip),
		Remedy: "start from HEAD, which leaves those commits out: nightporter run --new",
	}
	back, err := w.restoreCommand(ctx, t, b, prev)
	if err != nil {
		return err
	}
	if back != "" {
		found.Remedy = "put it back: " + back + "   or " + found.Remedy
	}
	return inputError(found)
}

// restoreCommand returns the command that restores the commits of the earlier
// run's branch and keeps its present ones, or "" if neither repository has the
// commits.
func (w *Workspace) restoreCommand(ctx context.Context, t userRepo, b ledger.Begin, prev string) (string, error) {
	git := "git -C " + w.o.Repo + " "
	fetch := ""
	if _, err := w.gitUser(ctx, t, "rev-parse", "--verify", "--quiet", b.Tip+"^{commit}"); err != nil {
		kept, err := w.contains(ctx, "refs/heads/"+b.Previous, b.Tip)
		if err != nil || !kept {
			return "", err
		}
		fetch = git + "fetch " + w.gitDir + " " + b.Previous + " && "
	}
	where, err := w.gitUser(ctx, t, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+b.Previous)
	if err != nil {
		return "", fmt.Errorf("begin: %w", err)
	}
	if where != "" { // git does not move a branch that is checked out
		return fetch + fmt.Sprintf("git -C %s merge %.12s", where, b.Tip), nil
	}
	back, err := w.contains(ctx, b.Tip, prev)
	if err != nil {
		return "", err
	}
	if !back { // the branch has other commits, which the command keeps under another name
		fetch += git + "branch " + strings.ReplaceAll(b.Previous, "/", "-") + "-old " + b.Previous + " && "
	}
	return fetch + fmt.Sprintf("%sbranch -f %s %.12s", git, b.Previous, b.Tip), nil
}

// contains reports whether commit is at, or an ancestor of it, by the history
// in our repository. A commit that our repository lacks is no ancestor of a
// fetched commit.
func (w *Workspace) contains(ctx context.Context, at, commit string) (bool, error) {
	for _, c := range []string{at, commit} {
		_, err := w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", c+"^{commit}")
		if exitCode(err) > 0 {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("begin: look for %.12s: %w", c, err)
		}
	}
	return w.isAncestor(ctx, commit, at)
}

// continueRun starts at the earlier run's tip, merged with HEAD unless HEAD
// contains it.
func (w *Workspace) continueRun(ctx context.Context, t userRepo, b ledger.Begin, prev string, base *ledger.Base) error {
	if err := w.fetch(ctx, t, "refs/heads/"+b.Previous, w.hiddenRef(b.Run, "previous"), prev); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := w.branchLost(ctx, t, b, prev); err != nil {
		return err
	}
	contained, err := w.isAncestor(ctx, prev, t.head)
	if err != nil || contained {
		return err
	}
	base.From = b.Previous
	behind, err := w.isAncestor(ctx, t.head, prev)
	if err != nil {
		return err
	}
	if behind {
		base.Commit = prev
		return nil
	}
	tree, conflicts, err := w.mergeTrees(ctx, prev, t.head)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if len(conflicts) > 0 {
		return inputError(ledger.Diagnostic{
			Text:   fmt.Sprintf("branch %s holds work of the last run that HEAD does not have, and the two do not merge: %s", b.Previous, firstFive(conflicts)),
			Remedy: "merge it: git merge " + b.Previous + "   or leave it behind: nightporter run --new",
		})
	}
	date, err := w.laterDate(ctx, prev, t.head)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	msg := fmt.Sprintf("Merge %s into %s\n", t.headName, b.Previous)
	base.Commit, err = w.commitForUser(ctx, b.Run, commit{tree: tree, parents: []string{prev, t.head}, author: base.Author, committer: base.Committer, date: date, message: msg})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

// isAncestor reports whether commit b contains commit a.
func (w *Workspace) isAncestor(ctx context.Context, a, b string) (bool, error) {
	_, err := w.gitOurs(ctx, "merge-base", "--is-ancestor", a, b)
	switch exitCode(err) {
	case 0:
		return true, nil
	case 1:
		return false, nil
	}
	return false, fmt.Errorf("compare %.12s and %.12s: %w", a, b, err)
}

// laterDate returns the latest committer date of the commits in git's own form.
// A merge dated by its parents has the same hash whenever it is made again.
func (w *Workspace) laterDate(ctx context.Context, commits ...string) (string, error) {
	var latest int64
	for _, c := range commits {
		out, known := w.dates.get(c)
		if !known {
			var err error
			if out, err = w.gitOurs(ctx, "show", "--no-patch", "--format=%ct", "--end-of-options", c); err != nil {
				return "", err
			}
			if fullHash.MatchString(c) {
				w.dates.put(c, out)
			}
		}
		at, err := strconv.ParseInt(out, 10, 64)
		if err != nil {
			return "", fmt.Errorf("date of %.12s: %w", c, err)
		}
		latest = max(latest, at)
	}
	return fmt.Sprintf("@%d +0000", latest), nil
}

// addNotes adds notes that do not prevent the start.
func (w *Workspace) addNotes(t userRepo, base *ledger.Base) {
	if t.headName == "detached" && !base.Set {
		base.Notes = append(base.Notes, ledger.Diagnostic{Text: fmt.Sprintf("HEAD is detached: work starts from commit %.12s", t.head)})
	}
	if op := t.unfinished(); op != "" && !base.Set {
		base.Notes = append(base.Notes, ledger.Diagnostic{Text: fmt.Sprintf("a %s is in progress in the checkout: work starts from HEAD, %.12s, as it is now", op, t.head)})
	}
	if t.shallow {
		base.Notes = append(base.Notes, ledger.Diagnostic{Text: "the repository is a shallow clone: its history ends early, here too"})
	}
	// The notebook is optional: its problems become notes.
	if in, ok := errors.AsType[*ledger.InputError](NewNotebook(w.o.Repo).Check()); ok {
		base.Notes = append(base.Notes, in.Diagnostics...)
	}
}

// firstFive joins at most five paths for a sentence.
func firstFive(paths []string) string {
	if len(paths) > 5 {
		return strings.Join(paths[:5], ", ") + fmt.Sprintf(" and %d more", len(paths)-5)
	}
	return strings.Join(paths, ", ")
}
