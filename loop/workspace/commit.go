package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// commit is what commitTree writes. Author and date are fixed by the caller,
// so the same commit always gets the same hash.
type commit struct {
	tree    string
	parents []string
	author  string // "Name <email>"; "" = nightporter
	date    string // in git's own form, "@1763600000 +0100", for author and committer
	message string
}

var authorForm = regexp.MustCompile(`^([^<>\n]+) <([^<>\n]+)>$`)

// commitTree writes a commit, unsigned and without any hook: it is plumbing.
func (w *Workspace) commitTree(ctx context.Context, c commit) (string, error) {
	env := []string{"GIT_AUTHOR_DATE=" + c.date, "GIT_COMMITTER_DATE=" + c.date}
	if c.author != "" {
		m := authorForm.FindStringSubmatch(c.author)
		if m == nil {
			return "", fmt.Errorf("author %q is not of the form \"Name <email>\"", c.author)
		}
		env = append(env, "GIT_AUTHOR_NAME="+m[1], "GIT_AUTHOR_EMAIL="+m[2])
	}
	args := []string{"commit-tree"}
	for _, p := range c.parents {
		args = append(args, "-p", p)
	}
	args = append(args, c.tree)
	out, err := w.run(ctx, call{gitDir: w.gitDir, env: env, in: strings.NewReader(c.message), args: args})
	return strings.TrimSpace(string(out)), err
}

// Commit makes a task's one commit and moves the run's branch to it, in our
// repository and then in the user's. The same request gives the same hash and
// may be repeated at any time; it never forces. A branch that somebody else
// moved is a *ledger.BranchMoved; one that is checked out somewhere, or in the
// way, is a *ledger.InputError. In both cases nothing was written to the user's
// repository but, at most, unreferenced objects.
func (w *Workspace) Commit(ctx context.Context, c ledger.CommitTask, files map[string][]byte) (ledger.Committed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done, err := w.commit(ctx, c, files)
	if err != nil {
		return ledger.Committed{}, fmt.Errorf("commit to %s: %w", c.Branch, err)
	}
	return done, nil
}

func (w *Workspace) commit(ctx context.Context, c ledger.CommitTask, files map[string][]byte) (ledger.Committed, error) {
	var done ledger.Committed
	if err := w.mayWrite(ctx, c.Branch); err != nil {
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
	if tree, err = w.put(ctx, c.Run, tree, files); err != nil {
		return done, err
	}
	done.Tree = tree
	done.Commit, err = w.commitTree(ctx, commit{
		tree: tree, parents: []string{c.Parent}, author: c.Author,
		date: fmt.Sprintf("@%d %s", at.Unix(), at.Format("-0700")), message: message(c),
	})
	if err != nil {
		return done, err
	}
	if err := w.setRef(ctx, "refs/heads/"+c.Branch, done.Commit); err != nil {
		return done, err
	}
	if err := w.deliver(ctx, c.Branch, c.Parent, done.Commit); err != nil {
		return done, err
	}
	done.Files, err = w.changed(ctx, c.Parent, done.Commit)
	return done, err
}

// put returns the tree with files of ours in it. A file that is there keeps
// its mode.
func (w *Workspace) put(ctx context.Context, run, tree string, files map[string][]byte) (string, error) {
	if len(files) == 0 {
		return tree, nil
	}
	dir, err := w.runDir(run)
	if err != nil {
		return "", err
	}
	modes := map[string]string{}
	entries, err := w.list(ctx, tree)
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
	return w.applied(ctx, dir, tree, changes)
}

// mayWrite refuses every branch that is not one of ours (SPEC 9.1).
func (w *Workspace) mayWrite(ctx context.Context, branch string) error {
	if !strings.HasPrefix(branch, "nightporter/"+w.o.Project+"/") {
		return fmt.Errorf("branch %q is not below nightporter/%s/: nothing else is ever written", branch, w.o.Project)
	}
	if slices.ContainsFunc(w.o.Protected, func(p string) bool { return p == branch || match(p, branch) }) {
		return stop(ledger.Finding{Text: "branch " + branch + " is protected", Fix: "take the pattern that matches it out of protected in nightporter.toml"})
	}
	if _, err := w.ours(ctx, "check-ref-format", "refs/heads/"+branch); err != nil {
		return fmt.Errorf("branch %q is not a valid name", branch)
	}
	return nil
}

// message is the commit's text: subject, body, footers.
func message(c ledger.CommitTask) string {
	clean := func(s string) string {
		s = strings.ToValidUTF8(s, "\uFFFD")
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(s)
		return strings.TrimSpace(s)
	}
	parts := []string{strings.Join(strings.Fields(clean(c.Subject)), " ")}
	for _, p := range []string{clean(c.Body), clean(c.Footers)} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Branches lists the branches of ours that runs of the project made, in our
// repository, oldest first as far as their names say so.
func (w *Workspace) Branches(ctx context.Context) ([]string, error) {
	out, err := w.ours(ctx, "for-each-ref", "--sort=version:refname", "--format=%(refname:lstrip=2)", "refs/heads/nightporter/"+w.o.Project)
	if err != nil {
		return nil, fmt.Errorf("branches of %s: %w", w.o.Project, err)
	}
	return strings.Fields(out), nil
}

// Heads returns the values of the Nightporter-Head footers of a branch of
// ours, oldest first: the ledger's heads at the time of its commits (SPEC 8.3).
// Only the run's own commits are looked at.
func (w *Workspace) Heads(ctx context.Context, branch string) ([]string, error) {
	ref := "refs/heads/" + branch
	if _, err := w.ours(ctx, "show-ref", "--verify", "--quiet", ref); err != nil {
		if exitCode(err) == 1 {
			return nil, nil // no task of the run was committed
		}
		return nil, fmt.Errorf("heads of %s: %w", branch, err)
	}
	args := []string{"log", "--reverse", "--topo-order", "--format=%(trailers:key=Nightporter-Head,valueonly,separator=%x0A)", ref}
	base := w.hidden(filepath.Base(branch), "base")
	if _, err := w.ours(ctx, "show-ref", "--verify", "--quiet", base); err == nil {
		args = append(args, "^"+base)
	}
	out, err := w.ours(ctx, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("heads of %s: %w", branch, err)
	}
	return strings.Fields(out), nil
}
