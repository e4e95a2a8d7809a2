package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// drawRemakes decides whether people change the branch in this night: from a stream
// of its own, as drawSites.
func (w *world) drawRemakes() {
	if of := w.opt.remakes; of > 0 {
		if own := rand.New(rand.NewPCG(w.seed, 0x4e4d)); own.Uint64N(of) == 0 {
			w.remakes = own
		}
	}
}

// remakeLines are what people type who want another branch.
func (w *world) remakeLines(task string) []string {
	n := 1 + w.remakes.IntN(w.opt.tasks)
	return []string{
		"/revert " + task, "/revert " + task, fmt.Sprintf("/revert %s #%d", task, n), "/redo " + task, "/redo " + task + " with smaller functions",
		"/keep all", fmt.Sprintf("/keep 1-%d", n), fmt.Sprintf("/keep %s #%d", task, n), "/each", "undo",
	}
}

// branchHolds holds that the run's branch has the commit of each task that it is
// said to have.
func (a *audit) branchHolds() {
	w := a.w
	s, _ := w.state()
	r := s.Project.Run
	if r == nil || r.Base.Branch == "" {
		return
	}
	tip := w.repo.branches[r.Base.Branch]
	for _, id := range s.Project.Kept() {
		if t, _ := s.Project.Find(id); t.Status == ledger.Done && t.Commit != "" && !w.objects.contains(tip, t.Commit) {
			w.fail("no false done", "%s is done and kept, and %s does not have its commit %s", id, r.Base.Branch, t.Commit)
		}
	}
	for _, id := range s.Project.LeftOut() {
		// A tick says that a person has done it, also one that an editor saved again.
		if t, _ := s.Project.Find(id); t.Status == ledger.Done && t.Why != "ticked in the source" && !slices.Contains(s.Project.Kept(), id) {
			w.fail("no false done", "%s was taken out of %s, and is done", id, r.Base.Branch)
		}
	}
}

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
