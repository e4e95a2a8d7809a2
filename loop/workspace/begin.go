package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Begin looks at the user's repository, fetches its HEAD into ours and decides
// where the run starts: at HEAD, or, while the branch of the source's last run
// is not contained in it, at that branch's tip merged with HEAD (SPEC 9.1).
// It writes nothing into the user's repository. What makes a start impossible
// is a *ledger.InputError with every finding.
func (w *Workspace) Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
	if err := w.mayWrite(ctx, w.branchOf(b.Run)); err != nil {
		return ledger.Base{}, err
	}
	base := ledger.Base{Head: t.head, HeadName: t.headName, Branch: w.branchOf(b.Run)}
	if _, err := w.inTheirs(ctx, t, "show-ref", "--verify", "--quiet", "refs/heads/"+base.Branch); err == nil {
		return ledger.Base{}, stop(ledger.Finding{
			Text: "branch " + base.Branch + " exists already, from an earlier state folder",
			Fix:  "rename it: git -C " + w.o.Repo + " branch -m " + base.Branch + " " + strings.ReplaceAll(base.Branch, "/", "-") + "-old",
		})
	}
	if err := w.fetch(ctx, t, "HEAD", w.hidden(b.Run, "head"), t.head); err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	if err := w.refuseContent(ctx, t.head); err != nil {
		return ledger.Base{}, err
	}
	if err := w.keepExclude(t, b.Run); err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	if err := w.startFrom(ctx, t, b, &base); err != nil {
		return ledger.Base{}, err
	}
	if err := w.setRef(ctx, w.hidden(b.Run, "base"), base.Commit); err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	author, note, err := w.identity(ctx, t)
	if err != nil {
		return ledger.Base{}, fmt.Errorf("begin: %w", err)
	}
	base.Author = author
	if note != nil {
		base.Notes = append(base.Notes, *note)
	}
	w.remark(t, &base)
	if base.Dirty, err = w.dirty(ctx, t, b.Run); err != nil {
		// Only a remark depends on it: not knowing is no reason not to start.
		base.Notes = append(base.Notes, ledger.Finding{Text: fmt.Sprintf("which files of the checkout are not included could not be found out: %v", err)})
	}
	return base, nil
}

// fetch copies a ref of the user's repository, with all its objects, to a ref
// of ours.
//
// It is safe although the repository may have any configuration: git starts
// upload-pack there, which runs a program only for uploadpack.packObjectsHook
// (read from the machine's and the user's configuration only, and both are
// switched off here; measured, FACTS.md D) and for a partial clone's missing
// objects (refused by usable). It reads no index and no work tree, so neither
// filters nor fsmonitor come in.
func (w *Workspace) fetch(ctx context.Context, t theirs, src, ref, commit string) error {
	if err := w.dropStaleLock(ctx, filepath.Join(w.gitDir, filepath.FromSlash(ref)+".lock")); err != nil {
		return err
	}
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	upload := quoted(w.program)
	for _, kv := range []string{"safe.directory=*", "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.alternateRefsCommand=true"} {
		upload += " -c " + quoted(kv)
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--upload-pack=" + upload + " upload-pack"}
	_, err := os.Lstat(filepath.Join(w.gitDir, "shallow"))
	switch oursShallow := err == nil; {
	case t.shallow:
		args = append(args, "--update-shallow") // what is missing there may be missing here
	case oursShallow:
		args = append(args, "--unshallow") // the user has fetched the rest since
	}
	// The commit by its hash where HEAD could move meanwhile would be refused
	// by old protocol versions; so the ref is fetched, and compared.
	args = append(args, "--", t.gitDir, "+"+src+":"+ref)
	if _, err := w.run(ctx, call{gitDir: w.gitDir, args: args}); err != nil {
		return err
	}
	got, err := w.ours(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err != nil || got != commit {
		return fmt.Errorf("fetch %s: it was %.12s and is now %.12s: try again", src, commit, got)
	}
	return nil
}

// refuseContent finds what this version cannot handle in a tree: submodules
// and large file storage (SPEC 9.3).
func (w *Workspace) refuseContent(ctx context.Context, treeish string) error {
	entries, err := w.list(ctx, treeish)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	var found []ledger.Finding
	var attributes []treeEntry
	for _, e := range entries {
		switch {
		case e.mode == modeGitlink:
			found = append(found, ledger.Finding{
				File: e.path, Text: "is a submodule, and nightporter cannot work with submodules yet",
				Fix: "use a branch without it: git rm --cached " + e.path,
			})
		case path.Base(e.path) == ".gitattributes" && e.mode != modeSymlink:
			attributes = append(attributes, e)
		}
	}
	for _, e := range attributes {
		data, err := w.blob(ctx, e.hash)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		for n, line := range strings.Split(string(data), "\n") {
			if f := strings.Fields(line); len(f) > 1 && !strings.HasPrefix(f[0], "#") && strings.Contains(" "+strings.Join(f[1:], " ")+" ", " filter=lfs ") {
				found = append(found, ledger.Finding{
					File: e.path, Line: n + 1, Text: "puts " + f[0] + " into Git LFS, and nightporter cannot work with LFS yet",
					Fix: "use a branch without LFS: git lfs migrate export --include=\"" + f[0] + "\"",
				})
			}
		}
	}
	if found != nil {
		return stop(found...)
	}
	return nil
}

// keepExclude copies the user's private ignore rules, so that what they
// ignore only on their machine is not taken over from a session either.
func (w *Workspace) keepExclude(t theirs, run string) error {
	data, err := os.ReadFile(filepath.Join(t.commonDir, "info", "exclude"))
	if err != nil {
		data = nil // none, or none that can be read: no rules
	}
	dir, err := w.runDir(run)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "exclude"), data, 0o600)
}

// startFrom decides between HEAD and the earlier run's branch.
func (w *Workspace) startFrom(ctx context.Context, t theirs, b ledger.Begin, base *ledger.Base) error {
	base.Commit = t.head
	if !b.Fresh && b.Previous != "" && strings.HasPrefix(b.Previous, "nightporter/") {
		prev, err := w.inTheirs(ctx, t, "rev-parse", "--verify", "--quiet", "refs/heads/"+b.Previous+"^{commit}")
		switch {
		case exitCode(err) > 0:
			if err := w.gone(ctx, b, base); err != nil {
				return err
			}
		case err != nil:
			return fmt.Errorf("begin: %w", err)
		default:
			if err := w.goOn(ctx, t, b, prev, base); err != nil {
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

// gone says that the earlier run's branch was deleted. That is how people say
// that they are through with it, squashed what was on it, perhaps: no reason
// not to start.
func (w *Workspace) gone(ctx context.Context, b ledger.Begin, base *ledger.Base) error {
	if b.Tip != "" {
		merged, err := w.contains(ctx, base.Head, b.Tip)
		if err != nil || merged {
			return err
		}
	}
	_, err := w.ours(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+b.Previous)
	kept := err == nil
	note := ledger.Finding{Text: "branch " + b.Previous + " of the last run is gone: starting from HEAD"}
	switch {
	case b.Tip != "":
		note.Text = "branch " + b.Previous + " of the last run is gone; its commits are not in HEAD by name (a squash looks so too); starting from HEAD"
		if kept {
			note.Fix = "should they be missing, bring it back and merge it: git -C " + w.o.Repo + " fetch " + w.gitDir + " " + b.Previous + ":" + b.Previous
		}
	case !kept:
		return nil // never made there: nothing to speak of
	}
	base.Notes = append(base.Notes, note)
	return nil
}

// lost refuses an earlier run's branch that is there but no longer has what we
// committed to it: starting from it would count those tasks as done without
// their work. HEAD may have it instead. prev, the branch's tip, is in ours.
func (w *Workspace) lost(ctx context.Context, t theirs, b ledger.Begin, prev string) error {
	if b.Tip == "" {
		return nil
	}
	for _, at := range []string{prev, t.head} {
		if has, err := w.contains(ctx, at, b.Tip); err != nil || has {
			return err
		}
	}
	found := ledger.Finding{
		Text: fmt.Sprintf("branch %s was moved to %.12s and no longer has commit %.12s, the last of finished tasks; HEAD does not have it either", b.Previous, prev, b.Tip),
		Fix:  "start from HEAD, which leaves those commits out: nightporter run --new",
	}
	back, err := w.putBack(ctx, t, b, prev)
	if err != nil {
		return err
	}
	if back != "" {
		found.Fix = "put it back: " + back + "   or " + found.Fix
	}
	return stop(found)
}

// putBack is the command that gives the earlier run's branch its commits
// again, without losing what it holds now; "" where nobody has them any more.
func (w *Workspace) putBack(ctx context.Context, t theirs, b ledger.Begin, prev string) (string, error) {
	git := "git -C " + w.o.Repo + " "
	fetch := ""
	if _, err := w.inTheirs(ctx, t, "rev-parse", "--verify", "--quiet", b.Tip+"^{commit}"); err != nil {
		kept, err := w.contains(ctx, "refs/heads/"+b.Previous, b.Tip)
		if err != nil || !kept {
			return "", err
		}
		fetch = git + "fetch " + w.gitDir + " " + b.Previous + " && "
	}
	where, err := w.inTheirs(ctx, t, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+b.Previous)
	if err != nil {
		return "", fmt.Errorf("begin: %w", err)
	}
	if where != "" { // git moves no branch under a checkout
		return fetch + fmt.Sprintf("git -C %s merge %.12s", where, b.Tip), nil
	}
	back, err := w.contains(ctx, b.Tip, prev)
	if err != nil {
		return "", err
	}
	if !back { // it has commits of its own, which stay under another name
		fetch += git + "branch " + strings.ReplaceAll(b.Previous, "/", "-") + "-old " + b.Previous + " && "
	}
	return fetch + fmt.Sprintf("%sbranch -f %s %.12s", git, b.Previous, b.Tip), nil
}

// contains reports whether commit is at, or in the history of at, as ours
// knows it. One that ours does not have is in no history that was fetched.
func (w *Workspace) contains(ctx context.Context, at, commit string) (bool, error) {
	for _, c := range []string{at, commit} {
		_, err := w.ours(ctx, "rev-parse", "--verify", "--quiet", c+"^{commit}")
		if exitCode(err) > 0 {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("begin: look for %.12s: %w", c, err)
		}
	}
	return w.isAncestor(ctx, commit, at)
}

// goOn starts from the earlier run's tip, with HEAD merged in, unless HEAD
// has it all.
func (w *Workspace) goOn(ctx context.Context, t theirs, b ledger.Begin, prev string, base *ledger.Base) error {
	if err := w.fetch(ctx, t, "refs/heads/"+b.Previous, w.hidden(b.Run, "previous"), prev); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := w.lost(ctx, t, b, prev); err != nil {
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
		return stop(ledger.Finding{
			Text: fmt.Sprintf("branch %s holds work of the last run that HEAD does not have, and the two do not merge: %s", b.Previous, someOf(conflicts)),
			Fix:  "merge it: git merge " + b.Previous + "   or leave it behind: nightporter run --new",
		})
	}
	date, err := w.laterDate(ctx, prev, t.head)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	msg := fmt.Sprintf("Merge %s into %s\n", t.headName, b.Previous)
	base.Commit, err = w.commitTree(ctx, commit{tree: tree, parents: []string{prev, t.head}, date: date, message: msg})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

// isAncestor reports whether commit a is contained in commit b.
func (w *Workspace) isAncestor(ctx context.Context, a, b string) (bool, error) {
	_, err := w.ours(ctx, "merge-base", "--is-ancestor", a, b)
	switch exitCode(err) {
	case 0:
		return true, nil
	case 1:
		return false, nil
	}
	return false, fmt.Errorf("compare %.12s and %.12s: %w", a, b, err)
}

// laterDate is the later committer date of two commits in git's own form:
// what is made of them can then be made again with the same hash.
func (w *Workspace) laterDate(ctx context.Context, commits ...string) (string, error) {
	var latest int64
	for _, c := range commits {
		out, err := w.ours(ctx, "show", "--no-patch", "--format=%ct", "--end-of-options", c)
		if err != nil {
			return "", err
		}
		at, err := strconv.ParseInt(out, 10, 64)
		if err != nil {
			return "", fmt.Errorf("date of %.12s: %w", c, err)
		}
		latest = max(latest, at)
	}
	return fmt.Sprintf("@%d +0000", latest), nil
}

// remark adds what is worth knowing and no reason not to start.
func (w *Workspace) remark(t theirs, base *ledger.Base) {
	if t.headName == "detached" {
		base.Notes = append(base.Notes, ledger.Finding{Text: fmt.Sprintf("HEAD is detached: work starts from commit %.12s", t.head)})
	}
	if op := t.underway(); op != "" {
		base.Notes = append(base.Notes, ledger.Finding{Text: fmt.Sprintf("a %s is in progress in the checkout: work starts from HEAD, %.12s, as it is now", op, t.head)})
	}
	if t.shallow {
		base.Notes = append(base.Notes, ledger.Finding{Text: "the repository is a shallow clone: its history ends early, here too"})
	}
	// A notebook is a help, and no reason for a night not to begin.
	if in, ok := errors.AsType[*ledger.InputError](NewNotebook(w.o.Repo).Check()); ok {
		base.Notes = append(base.Notes, in.Findings...)
	}
}

// someOf joins at most five paths for a sentence.
func someOf(paths []string) string {
	if len(paths) > 5 {
		return strings.Join(paths[:5], ", ") + fmt.Sprintf(" and %d more", len(paths)-5)
	}
	return strings.Join(paths, ", ")
}
