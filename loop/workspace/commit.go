package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/glob"
	"github.com/nightporter/nightporter/loop/ledger"
)

// commit is the input of commitTree. Its caller decides author and date, so
// that the same commit always has the same hash.
type commit struct {
	tree    string
	parents []string
	author  string // "Name <email>"; "" = nightporter itself
	// committer is that of a commit that is signed, "Name <email>"; "" = nightporter,
	// unsigned
	committer string
	date      string // author's and committer's, in git's own form: "@1763600000 +0100"
	message   string

	authored  string // author's date where it is another one than date
	transient bool   // no branch will lead to it: nobody waits until it is on the disk
}

var authorForm = regexp.MustCompile(`^([^<>\n]+) <([^<>\n]+)>$`)

// commitTree writes an unsigned commit by plumbing, which runs no hook.
func (w *Workspace) commitTree(ctx context.Context, c commit) (string, error) {
	env := []string{"GIT_AUTHOR_DATE=" + cmp.Or(c.authored, c.date), "GIT_COMMITTER_DATE=" + c.date}
	for _, who := range []struct{ role, identity string }{{"AUTHOR", c.author}, {"COMMITTER", c.committer}} {
		if who.identity == "" {
			continue
		}
		m := authorForm.FindStringSubmatch(who.identity)
		if m == nil {
			return "", fmt.Errorf("%s %q is not of the form \"Name <email>\"", strings.ToLower(who.role), who.identity)
		}
		env = append(env, "GIT_"+who.role+"_NAME="+m[1], "GIT_"+who.role+"_EMAIL="+m[2])
	}
	args := []string{"commit-tree"}
	for _, p := range c.parents {
		args = append(args, "-p", p)
	}
	args = append(args, c.tree)
	var config []string
	if c.transient {
		config = []string{"core.fsync=none"}
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, env: env, config: config, in: strings.NewReader(c.message), args: args})
	return strings.TrimSpace(string(out)), err
}

// Commit makes the one commit of a task and moves the run's branch to it, first
// in our repository and then in the user's. The same request yields the same
// hash and may be repeated; a branch is never forced. It returns a
// *ledger.BranchMoved for a branch to which somebody added commits, and a
// *ledger.RepositoryError for a repository or branch that cannot be used for now,
// and for a signature that cannot be made.
// After either, the user's repository has at most new unreferenced objects. A tree that
// is the parent's own is an error: no commit says that nothing was done.
func (w *Workspace) Commit(ctx context.Context, c ledger.CommitTask, files map[string][]byte) (ledger.Committed, error) {
	defer w.lock()()
	done, err := w.commit(ctx, c, files)
	if err != nil {
		return ledger.Committed{}, fmt.Errorf("commit to %s: %w", c.Branch, err)
	}
	return done, nil
}

func (w *Workspace) commit(ctx context.Context, c ledger.CommitTask, files map[string][]byte) (ledger.Committed, error) {
	var done ledger.Committed
	if err := w.checkBranch(ctx, c.Branch); err != nil {
		return done, err
	}
	at, err := time.Parse(time.RFC3339, c.Time)
	if err != nil {
		return done, fmt.Errorf("time: %w", err)
	}
	if c.Author == "" {
		return done, errors.New("no author: it is part of the run's Base")
	}
	tree, err := w.tree(ctx, c.Tree)
	if err != nil {
		return done, err
	}
	before, err := w.tree(ctx, c.Parent)
	if err != nil {
		return done, err
	}
	parents := []string{c.Parent}
	if c.Merges != "" {
		parents = append(parents, c.Merges)
	} else if tree == before {
		return done, fmt.Errorf("nothing to commit: %.12s has this tree already", c.Parent)
	}
	if tree, err = w.withFiles(ctx, c.Run, tree, files); err != nil {
		return done, err
	}
	done.Tree = tree
	done.Commit, err = w.commitForUser(ctx, c.Run, commit{
		tree: tree, parents: parents, author: c.Author, committer: c.Committer,
		date: fmt.Sprintf("@%d %s", at.Unix(), at.Format("-0700")), message: message(c),
	})
	if err != nil {
		return done, err
	}
	if err := w.setRef(ctx, "refs/heads/"+c.Branch, done.Commit); err != nil {
		return done, err
	}
	if err := w.publishLFS(ctx, c.Parent, done.Commit); err != nil {
		return done, w.unusable(ctx, c.Branch, err)
	}
	if err := w.unusable(ctx, c.Branch, w.publish(ctx, c.Branch, c.Parent, done.Commit)); err != nil {
		return done, err
	}
	done.Files, err = w.changed(ctx, c.Parent, done.Commit)
	return done, err
}

// withFiles returns the tree with our files added. A file that exists keeps its
// mode.
func (w *Workspace) withFiles(ctx context.Context, run, tree string, files map[string][]byte) (string, error) {
	if len(files) == 0 {
		return tree, nil
	}
	dir, err := w.runDir(run)
	if err != nil {
		return "", err
	}
	modes := map[string]string{}
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		modes[e.path] = e.mode
	}
	var changes []change
	for _, path := range slices.Sorted(maps.Keys(files)) {
		out, err := w.run(ctx, call{gitDir: w.gitDir, in: bytes.NewReader(files[path]), args: []string{"hash-object", "-w", "--stdin"}})
		if err != nil {
			return "", err
		}
		mode := modes[path]
		if mode == "" {
			mode = "100644"
		}
		changes = append(changes, change{path: path, new: treeEntry{mode: mode, hash: strings.TrimSpace(string(out)), path: path}})
	}
	return w.applyChanges(ctx, dir, tree, changes)
}

// checkBranch refuses every branch that is not one of ours.
func (w *Workspace) checkBranch(ctx context.Context, branch string) error {
	if !strings.HasPrefix(branch, "nightporter/"+w.o.Project+"/") {
		return fmt.Errorf("branch %q is not below nightporter/%s/: nothing else is ever written", branch, w.o.Project)
	}
	if slices.ContainsFunc(w.o.Protected, func(p string) bool { return p == branch || glob.Match(p, branch) }) {
		return inputError(ledger.Diagnostic{Text: "branch " + branch + " is protected", Remedy: "take the pattern that matches it out of protected in nightporter.toml"})
	}
	if _, err := w.gitOurs(ctx, "check-ref-format", "refs/heads/"+branch); exitCode(err) < 0 {
		return err
	} else if err != nil {
		return fmt.Errorf("branch %q is not a valid name", branch)
	}
	return nil
}
