package workspace

import (
	"context"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Merge applies the change from m.Base to m.Tree onto the commit m.Onto, or onto
// m.OntoTree, in our repository only. The result has either Tree or Conflicts.
func (w *Workspace) Merge(ctx context.Context, m ledger.MergeTree) (ledger.Merged, error) {
	defer w.lock()()
	tree, err := w.tree(ctx, m.Tree)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	msg := m.Message
	if msg == "" {
		msg = "Work of run " + m.Run
	}
	// merge-tree takes commits and computes their base; this commit serves only
	// as its input.
	side, err := w.commitTree(ctx, commit{tree: tree, parents: []string{m.Base}, date: "@0 +0000", message: msg + "\n"})
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	top, under := m.Onto, m.Onto // the commit that is merged onto, and the tree or commit that has its files
	if m.OntoTree != "" {
		under = m.OntoTree
		if top, err = w.commitTree(ctx, commit{tree: m.OntoTree, parents: []string{m.Onto}, date: "@0 +0000", message: msg + "\n"}); err != nil {
			return ledger.Merged{}, fmt.Errorf("merge: %w", err)
		}
	}
	merged, conflicts, err := w.mergeTrees(ctx, top, side)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	if len(conflicts) > 0 {
		return ledger.Merged{Conflicts: conflicts}, nil
	}
	onto, err := w.tree(ctx, under)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	dir, err := w.runDir(m.Run)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	facts, err := w.proofFacts(ctx, dir, m.Proof, onto, merged)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	return ledger.Merged{Tree: merged, Proof: facts}, nil
}

// mergeTrees merges two commits and returns the tree, or the paths in conflict.
// It runs no merge driver of .gitattributes, since our configuration defines
// none.
func (w *Workspace) mergeTrees(ctx context.Context, a, b string) (tree string, conflicts []string, err error) {
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", a, b}})
	recs := zlist(out)
	switch {
	case err == nil && len(recs) > 0:
		return recs[0], nil, nil
	case exitCode(err) == 1 && len(recs) > 1:
		conflicts = slices.Compact(slices.Sorted(slices.Values(recs[1:])))
		return "", slices.DeleteFunc(conflicts, func(p string) bool { return p == "" }), nil
	case err == nil:
		return "", nil, fmt.Errorf("git merge-tree answered %q", out)
	}
	return "", nil, err
}
