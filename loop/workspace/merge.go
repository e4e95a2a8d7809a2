package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Merge applies the change from m.Base, or m.BaseTree, to m.Tree onto the commit m.Onto,
// or onto m.OntoTree, in our repository only. The result has either Tree or Conflicts.
func (w *Workspace) Merge(ctx context.Context, m ledger.MergeTree) (ledger.Merged, error) {
	defer w.lock()()
	tree, err := w.tree(ctx, m.Tree)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	// merge-tree takes commits and computes their base. These two serve only as its
	// input, with m.Base as the base: a branch that was remade does not have it
	// (docs/spec 9.7), and the real history would bring back what was left out.
	base := m.Base
	if m.BaseTree != "" {
		start, err := w.tree(ctx, m.BaseTree)
		if err == nil {
			base, err = w.standIn(ctx, start, m.Base)
		}
		if err != nil {
			return ledger.Merged{}, fmt.Errorf("merge: %w", err)
		}
	}
	side, err := w.standIn(ctx, tree, base)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	onto, err := w.tree(ctx, cmp.Or(m.OntoTree, m.Onto))
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	top, err := w.standIn(ctx, onto, base)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	merged, conflicts, err := w.mergeTrees(ctx, top, side)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	if len(conflicts) > 0 {
		return ledger.Merged{Conflicts: conflicts}, nil
	}
	dir, err := w.runDir(m.Run)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	facts, err := w.proofFacts(ctx, dir, m.Proof, cmp.Or(m.Since, onto), merged)
	if err != nil {
		return ledger.Merged{}, fmt.Errorf("merge: %w", err)
	}
	return ledger.Merged{Tree: merged, Proof: facts}, nil
}

// mergeTrees merges two commits and returns the tree, or the paths in conflict.
// It runs no merge driver of .gitattributes, since our configuration defines
// none.
func (w *Workspace) mergeTrees(ctx context.Context, a, b string) (tree string, conflicts []string, err error) {
	m, err := w.mergeCommits(ctx, a, b)
	if len(m.conflicts) > 0 {
		return "", m.conflicts, err
	}
	return m.tree, nil, err
}

// mergedTree is the tree of a merge. With conflicts, their files have git's marks.
type mergedTree struct {
	tree      string
	conflicts []string // paths
}

// mergeCommits is mergeTrees that also returns a tree with conflicts.
func (w *Workspace) mergeCommits(ctx context.Context, a, b string) (mergedTree, error) {
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", a, b}})
	recs := zlist(out)
	switch {
	case err == nil && len(recs) > 0:
		return mergedTree{tree: recs[0]}, nil
	case exitCode(err) == 1 && len(recs) > 1:
		conflicts := slices.Compact(slices.Sorted(slices.Values(recs[1:])))
		return mergedTree{recs[0], slices.DeleteFunc(conflicts, func(p string) bool { return p == "" })}, nil
	case err == nil:
		return mergedTree{}, fmt.Errorf("git merge-tree answered %q", out)
	}
	return mergedTree{}, err
}
