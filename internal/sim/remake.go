package main

import (
	"context"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Remake is engine.Repository's.
func (g workspace) Remake(ctx context.Context, b ledger.RemakeBranch) (ledger.Remade, error) {
	if err := g.git(ctx, "remake", time.Second); err != nil {
		return ledger.Remade{}, err
	}
	if err := g.refuses("remake"); err != nil {
		return ledger.Remade{}, err
	}
	if g.unusable != nil {
		g.tell("git", "remake waits: %v", g.unusable)
		return ledger.Remade{}, g.unusable
	}
	var made ledger.Remade
	switch tip := g.repo.branches[b.From]; {
	case tip == b.Tip:
	case !g.objects.contains(tip, b.Tip):
		return ledger.Remade{Refused: &ledger.Diagnostic{Text: "somebody moved branch " + b.From, Remedy: "move it back"}}, nil
	default:
		made.Foreign = &ledger.ForeignCommits{Since: b.Tip, Tip: tip}
		b.Steps = append(slices.Clip(b.Steps), ledger.RemakeStep{Commit: tip, Since: b.Tip})
	}
	made.Tip, made.Tree = b.Base, g.objects.treeOf(b.Base)
	for _, s := range b.Steps {
		from := s.Since
		if from == "" {
			from = g.objects.commits[s.Commit].parent
		}
		if s.Drop {
			continue
		}
		of := ledger.RemadeCommit{Task: s.Task, Of: s.Commit, Commit: s.Commit}
		if from != made.Tip {
			tree, conflicts := g.objects.merge(from, g.objects.treeOf(s.Commit), made.Tree)
			if len(conflicts) > 0 {
				made.Needs = append(made.Needs, ledger.RemakeNeed{Task: s.Task, Files: conflicts})
				continue
			}
			if of.Commit = ""; tree != made.Tree {
				of.Commit = id("c", made.Tip, tree, s.Commit)
				g.objects.commits[of.Commit] = commit{tree: tree, parent: made.Tip}
			}
		}
		if made.Commits = append(made.Commits, of); of.Commit != "" {
			made.Tip, made.Tree = of.Commit, g.objects.treeOf(of.Commit)
		}
	}
	if len(made.Needs) > 0 {
		return ledger.Remade{Needs: made.Needs}, nil
	}
	g.repo.branches[b.Branch] = made.Tip
	g.tell("git", "%s made from %s: %s", b.Branch, b.From, made.Tip)
	return made, nil
}
