package workspace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
func (w *Workspace) mergeTrees(ctx context.Context, a, b string) (tree string, conflicts []string, err error) {
	m, err := w.mergeCommits(ctx, a, b)
	if err != nil || len(m.conflicts) > 0 {
		return "", m.conflicts, err
	}
	conflicts, err = w.caseConflicts(ctx, a, b, m.tree)
	if err != nil || len(conflicts) > 0 {
		return "", conflicts, err
	}
	return m.tree, nil, nil
}

// mergedTree is the tree of a merge. With conflicts, their files have git's marks.
type mergedTree struct {
	tree      string
	conflicts []string // paths
}

// Empty trees, by the format of the repository's hashes.
const (
	emptySHA1   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptySHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// mergeCommits is mergeTrees that also returns a tree with conflicts, and takes names
// that differ by case alone for different ones.
//
// It reads no .gitattributes, whatever git's version: in a bare repository git 2.43 to
// 2.45 read those of HEAD, others none. With "merge=union" git would keep the lines of both
// sides without a conflict, so that a line which both changed would be there twice, and
// nobody would be told.
func (w *Workspace) mergeCommits(ctx context.Context, a, b string) (mergedTree, error) {
	none := emptySHA1
	if len(a) == len(emptySHA256) {
		none = emptySHA256
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, env: []string{"GIT_ATTR_SOURCE=" + none}, config: []string{"merge.renames=true", "merge.directoryRenames=conflict"}, args: []string{"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", a, b}})
	recs := zlist(out)
	switch {
	case err == nil && len(recs) > 0:
		return mergedTree{tree: recs[0]}, nil
	case exitCode(err) == 1 && len(recs) > 1:
		var conflicts []string
		for _, p := range recs[1:] {
			// A file where the other side has a folder gets the name of its commit.
			p = strings.TrimSuffix(strings.TrimSuffix(p, "~"+a), "~"+b)
			if p != "" {
				conflicts = append(conflicts, p)
			}
		}
		slices.Sort(conflicts)
		return mergedTree{recs[0], slices.Compact(conflicts)}, nil
	case err == nil:
		return mergedTree{}, fmt.Errorf("git merge-tree answered %q", out)
	}
	return mergedTree{}, err
}
