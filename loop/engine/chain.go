package engine

import (
	"context"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// chain lays the changes of a batch one on top of the other. It leaves out a change
// that conflicts with those before it or that they contain already, and one whose
// proof does not hold for the merged tree: it changes checks, which passed by the
// versions of its own start only, or another part of them than the attempt did.
func chain(ctx context.Context, repo Repository, b ledger.EffectChain) (loop.ChainMade, error) {
	made := loop.ChainMade{Batch: b.Batch}
	top := "" // tree of the chain so far; the first attempt stands on Onto
	for _, l := range b.Merges {
		link := ledger.BatchLink{Task: l.Task, Attempt: l.Attempt, Tree: l.Merge.Tree}
		if top != "" {
			l.Merge.Onto, l.Merge.OntoTree = b.Onto, top
			merged, err := repo.Merge(ctx, l.Merge)
			if err != nil {
				return made, err
			}
			left := ledger.BatchLeft{Task: l.Task, Conflicts: merged.Conflicts}
			switch {
			case len(merged.Conflicts) > 0:
				left.Why = "conflicts with the others"
			case merged.Tree == top:
				left.Why = "the others have all of its change"
			case merged.Proof.Guards() || !merged.Proof.Like(l.Proof):
				left.Why = "changes checks, and has to pass by those of the others"
			}
			if left.Why != "" {
				made.Left = append(made.Left, left)
				continue
			}
			link.Tree, link.Proof = merged.Tree, merged.Proof
		}
		made.Links = append(made.Links, link)
		top = link.Tree
	}
	return made, nil
}
