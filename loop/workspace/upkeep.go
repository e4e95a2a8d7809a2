package workspace

import (
	"context"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// startUpkeep decides where a run starts that keeps a request green: at what the
// remote has of its branch, with the commits that the user's own branch has besides,
// merged with the branch that it asks to be merged into. The user's branch is moved
// forward to that, so that work can be committed on it; nothing is moved back.
func (w *Workspace) startUpkeep(ctx context.Context, t userRepo, b ledger.Begin, base *ledger.Base) error {
	u := *b.Upkeep
	ref := "refs/heads/" + u.Branch
	local, err := w.userTip(ctx, t, ref)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	base.Commit, base.From, base.Upkeep = u.Head, u.Branch, &ledger.BaseUpkeep{Head: u.Head, Into: u.IntoCommit}
	if local != "" {
		if err := w.fetch(ctx, t, ref, w.hiddenRef(b.Run, "previous"), local); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		if err := w.refuseReplaced(ctx, u, local); err != nil {
			return err
		}
		commit, conflicts, _, err := w.join(ctx, b.Run, base, local, "Merge "+u.Branch+" of the remote")
		if err != nil {
			return err
		}
		if len(conflicts) > 0 {
			return inputError(ledger.Diagnostic{
				Text:   fmt.Sprintf("%s has commits in %s that the remote lacks, and the other way round, and the two do not merge: %s", u.Branch, w.o.Repo, firstFive(conflicts)),
				Remedy: "Merge them, and push the branch.",
			})
		}
		base.Commit = commit
	}
	if u.IntoCommit != "" {
		base.Head, base.HeadName = u.IntoCommit, u.Into
		if base.Upkeep.Contained, err = w.isAncestor(ctx, u.IntoCommit, base.Commit); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
	}
	if u.Merge && u.IntoCommit != "" && !base.Upkeep.Contained {
		commit, conflicts, tree, err := w.join(ctx, b.Run, base, u.IntoCommit, "Merge "+u.Into+" into "+u.Branch)
		if err != nil {
			return err
		}
		if base.Upkeep.Conflicts, base.Upkeep.Tree = conflicts, tree; len(conflicts) == 0 {
			base.Commit, base.Upkeep.Contained = commit, true
		}
	}
	if base.Tree, err = w.tree(ctx, base.Commit); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := w.setRef(ctx, ref, base.Commit); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if base.Commit == local {
		return nil
	}
	return w.unusable(ctx, u.Branch, w.publish(ctx, u.Branch, local, base.Commit))
}

// refuseReplaced refuses a branch from which somebody removed commits on the remote, by
// force, while local, the user's own branch, still has them: whoever removes a secret
// does not want it pushed again.
func (w *Workspace) refuseReplaced(ctx context.Context, u ledger.BeginUpkeep, local string) error {
	for _, had := range u.Had {
		here, err := w.contains(ctx, local, had)
		if err != nil {
			return err
		}
		if !here {
			continue
		}
		there, err := w.isAncestor(ctx, had, u.Head)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		if !there {
			return inputError(ledger.Diagnostic{
				Text:   fmt.Sprintf("commits of %s were replaced on the remote, by force: it lacks %.10s, which %s still has", u.Branch, had, w.o.Repo),
				Remedy: fmt.Sprintf("Take over the remote's, in your repository: git fetch REMOTE +%s:%s", u.Branch, u.Branch),
			})
		}
	}
	return nil
}

// join returns a commit that has what base.Commit and another commit have: one of the
// two, if it contains the other, or a merge. With conflicts it returns their files, and
// the tree in which git marked them.
func (w *Workspace) join(ctx context.Context, run string, base *ledger.Base, other, message string) (commitHash string, conflicts []string, tree string, err error) {
	for _, pair := range [][2]string{{other, base.Commit}, {base.Commit, other}} {
		contained, err := w.isAncestor(ctx, pair[0], pair[1])
		if err != nil {
			return "", nil, "", fmt.Errorf("begin: %w", err)
		}
		if contained {
			return pair[1], nil, "", nil
		}
	}
	merged, err := w.mergeCommits(ctx, base.Commit, other)
	if err != nil {
		return "", nil, "", fmt.Errorf("begin: %w", err)
	}
	if len(merged.conflicts) > 0 {
		return "", merged.conflicts, merged.tree, nil
	}
	date, err := w.laterDate(ctx, base.Commit, other)
	if err != nil {
		return "", nil, "", fmt.Errorf("begin: %w", err)
	}
	commitHash, err = w.commitForUser(ctx, run, commit{tree: merged.tree, parents: []string{base.Commit, other}, author: base.Author, committer: base.Committer, date: date, message: message + "\n"})
	if err != nil {
		return "", nil, "", fmt.Errorf("begin: %w", err)
	}
	return commitHash, nil, "", nil
}
