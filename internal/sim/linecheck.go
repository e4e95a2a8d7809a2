package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// end compares the branch with what the sessions know.
func (b *lineBook) end() {
	n := b.n
	branch := n.mustGit(n.repo(), "log", "--reverse", "--format=%H %T %P", "main..nightporter/"+gitProject+"/r1")
	tasks := map[string]lineCommit{}
	for _, c := range b.committed {
		tasks[c.Commit] = c
	}
	seen := 0
	for _, l := range strings.Split(branch, "\n") {
		f := strings.Fields(l)
		if len(f) != 3 {
			if l == "" {
				continue
			}
			n.fail("branch", "%q is no commit with one parent", l)
		}
		c, is := tasks[f[0]]
		if !is {
			if b.byHand[f[0]] == nil {
				n.fail("branch", "nobody made %s", f[0])
			}
			continue
		}
		seen++
		if c.Parent != f[2] || c.Tree != f[1] {
			n.fail("branch", "%s is %v, and the ledger has %s on %s", f[0], f[1:], c.Tree, c.Parent)
		}
		b.keeps(c)
		b.proved(c)
	}
	if seen != len(b.committed) {
		n.fail("branch", "%d of %d commits are on it", seen, len(b.committed))
	}
	n.counts["commits"] = seen
	b.standsOrReplaced()
	if breaks, err := n.store.Verify(background); err != nil || len(breaks) > 0 {
		n.fail("ledger", "the chain is broken: %v %v", breaks, err)
	}
}

// keeps holds that a commit has its parent's lines but for those that its sessions
// removed, having seen them, and those that they wrote; and that lines which two of
// them have stand in the same order.
func (b *lineBook) keeps(c lineCommit) {
	n, a := b.n, c.attempt
	parent, tree := b.tree(c.Parent), b.tree(c.Tree)
	before, after := parent.ids(), tree.ids()
	for _, id := range slices.Sorted(maps.Keys(a.written)) {
		if !after[id] {
			n.fail("no line lost", "%s wrote [%s], and its commit %s does not have it", c.task, id, c.Commit)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		switch {
		case after[id] && a.deleted[id]:
			n.fail("no line comes back", "%s removed [%s], and its commit %s has it", c.task, id, c.Commit)
		case after[id]:
		case !a.deleted[id]:
			n.fail("no line lost", "[%s] is in %s, and not in %s of %s, whose sessions did not remove it", id, c.Parent, c.Commit, c.task)
		default:
			n.counts["lines replaced later"]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(after)) {
		if !before[id] && !a.written[id] {
			n.fail("no line of nobody", "[%s] is in %s of %s, which did not write it", id, c.Commit, c.task)
		}
	}
	n.counts["lines written"] += len(a.written)
	for _, side := range []gitFiles{parent, a.now} {
		b.ordered(c, side, tree)
	}
}

// standsOrReplaced holds of the whole branch that each line of an accepted session is in
// its tip, or was removed by a later session that had it before it.
func (b *lineBook) standsOrReplaced() {
	tip := map[string]bool{}
	if len(b.committed) > 0 {
		tip = b.tree("refs/heads/nightporter/" + gitProject + "/r1").ids()
	}
	for at, c := range b.committed {
		for id := range c.attempt.written {
			if !tip[id] && !slices.ContainsFunc(b.committed[at+1:], func(later lineCommit) bool { return later.attempt.deleted[id] }) {
				b.n.fail("no line lost", "%s wrote [%s]: it is not in the tip, and nobody removed it", c.task, id)
			}
		}
	}
}

// ordered holds that the lines which two trees have stand in the same order in each pair
// of their files.
func (b *lineBook) ordered(c lineCommit, from, to gitFiles) {
	for _, lines := range from {
		at := map[string]int{}
		for n, l := range lines {
			if id, is := idOf(l); is {
				at[id] = n
			}
		}
		for path, others := range to {
			last := -1
			for _, l := range others {
				id, _ := idOf(l)
				n, is := at[id]
				if is && n < last {
					b.n.fail("no line moved", "[%s] of %s stands elsewhere in %s of %s", id, path, c.Commit, c.task)
				}
				if is {
					last = n
				}
			}
		}
	}
}

// proved holds that the tree of a commit was verified as a whole: by itself, or, with a
// queue of batches, as the beginning of a longer chain.
func (b *lineBook) proved(c lineCommit) {
	switch {
	case b.isGreen(c.Tree):
		b.n.counts["commits verified by themselves"]++
	case b.n.settings.Queue == ledger.QueueBatch && slices.ContainsFunc(b.chains[c.Tree], b.isGreen):
		b.n.counts["commits verified in a batch"]++
	default:
		b.n.fail("no commit unverified", "%s of %s has tree %s, which was not verified", c.Commit, c.task, c.Tree)
	}
}

// isGreen reports whether every command passed on the files of a tree, and the ledger
// says so.
func (b *lineBook) isGreen(tree string) bool {
	passed := b.passed[b.tree(tree).hash()]
	return b.verified[tree] && !slices.ContainsFunc(b.n.settings.Verify, func(c ledger.Command) bool { return !passed[c.Run] })
}
