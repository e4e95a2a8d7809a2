package loop

import (
	"cmp"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

func (n *night) tree() string {
	n.trees++
	return fmt.Sprintf("t%d", n.trees)
}

// base returns the start point of a run.
func (n *night) base(run string) ledger.Base {
	if n.tip == "" {
		n.tip = "c0"
	}
	return ledger.Base{Commit: n.tip, Tree: "tree-" + n.tip, Head: "c0", HeadName: "main", Branch: "nightporter/shop/" + run, Author: "Mira <mira@example.org>", OneSession: n.accounts}
}

// commit makes a commit as git does: equal requests give the same hash.
func (n *night) commit(c ledger.CommitTask) ledger.Committed {
	n.t.Helper()
	key := mustJSON(n.t, c)
	if hash, ok := n.made[key]; ok {
		return ledger.Committed{Commit: hash}
	}
	if c.Parent != n.tip {
		n.t.Fatalf("commit on %s, and the branch is at %s", c.Parent, n.tip)
	}
	hash := fmt.Sprintf("c%d", len(n.made)+1)
	n.made[key], n.tip, n.parents[hash] = hash, hash, c.Parent
	return ledger.Committed{Commit: hash, Files: []ledger.FileChange{{Path: "a.go", Added: 1}}}
}

// remake makes a branch from commits as git does: those up to the first one that is
// left out stay. needs says which tasks do not apply without others.
func (n *night) remake(b ledger.RemakeBranch, needs func(task string) bool) RemakeFinished {
	f := RemakeFinished{Branch: b.Branch}
	top, left := b.Base, false
	for _, s := range b.Steps {
		c := ledger.RemadeCommit{Task: s.Task, Of: s.Commit, Commit: s.Commit}
		switch {
		case s.Drop:
			left = true
			continue
		case left && needs(s.Task):
			f.Made.Needs = append(f.Made.Needs, ledger.RemakeNeed{Task: s.Task, Files: []string{"a.go"}})
			continue
		case n.parents[s.Commit] != top:
			c.Commit = n.again(top, s.Commit)
		}
		f.Made.Commits = append(f.Made.Commits, c)
		top = c.Commit
	}
	if len(f.Made.Needs) == 0 {
		f.Made.Tip, f.Made.Tree, n.tip = top, "tree-"+top, top
	}
	return f
}

// again returns the commit that has the change of another one, on a parent.
func (n *night) again(parent, of string) string {
	key := "again " + parent + " " + of
	if n.made[key] == "" {
		n.made[key] = fmt.Sprintf("c%d", len(n.made)+1)
		n.parents[n.made[key]] = parent
	}
	return n.made[key]
}

// lift lays a commit on another base, as git does: on the tip of the branch that like
// names, or of the base, which is main as the night has moved it. like may also say why
// there is none.
func (n *night) lift(l ledger.LiftCommit, like ledger.Lifted) ledger.Lifted {
	if like.Why != "" {
		return like
	}
	like.Onto = l.Onto
	if like.Onto == "" {
		like.Onto = cmp.Or(n.main, "c0")
	}
	for _, o := range l.Over {
		if o.ID == like.On {
			like.Onto = o.Tip
		}
	}
	switch {
	case l.Undo:
		like.Tip = n.again(like.Onto, "undo "+l.Commit)
	case n.parents[l.Commit] == like.Onto:
		like.Tip = l.Commit
	default:
		like.Tip = n.again(like.Onto, l.Commit)
	}
	return like
}

// chain lays the changes of a batch one on top of the other, as the engine does.
// left says why one is left out, "" if it is not.
func (n *night) chain(b ledger.EffectChain, left func(ledger.ChainLink) string) ChainMade {
	made := ChainMade{Batch: b.Batch}
	for k, l := range b.Merges {
		link := ledger.BatchLink{Task: l.Task, Attempt: l.Attempt, Tree: l.Merge.Tree}
		if k > 0 {
			why := left(l)
			if l.Proof.Guards() {
				why = "changes checks"
			}
			if why != "" {
				made.Left = append(made.Left, ledger.BatchLeft{Task: l.Task, Why: why})
				continue
			}
			link.Tree, link.Proof = n.tree(), l.Proof
		}
		made.Links = append(made.Links, link)
	}
	return made
}
