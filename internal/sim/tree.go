package main

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A file's content says what it is worth:
//
//	good N   code that works, the N-th version written
//	bad N    code whose test fails
//	test P   a test that passes where file P is code that works
//
// So the world knows the truth about each tree, whatever anybody says of it.

// files is the content of a tree by path. It is never changed.
type files map[string]string

// objects is a repository: trees and commits by their ids.
type objects struct {
	trees   map[string]files
	commits map[string]commit
}

type commit struct{ tree, parent string }

func newObjects() *objects {
	return &objects{trees: map[string]files{}, commits: map[string]commit{}}
}

func id(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return kind + hex.EncodeToString(sum[:6])
}

// add stores a tree and returns its id, the same for the same content.
func (o *objects) add(f files) string {
	var parts []string
	for _, path := range slices.Sorted(maps.Keys(f)) {
		parts = append(parts, path, f[path])
	}
	tree := id("t", parts...)
	if o.trees[tree] == nil {
		o.trees[tree] = f
	}
	return tree
}

// at returns the files of a tree or commit.
func (o *objects) at(rev string) files {
	if c, ok := o.commits[rev]; ok {
		rev = c.tree
	}
	return o.trees[rev]
}

// treeOf returns the tree of a tree or commit.
func (o *objects) treeOf(rev string) string {
	if c, ok := o.commits[rev]; ok {
		return c.tree
	}
	return rev
}

// contains reports whether old is rev or one of its ancestors.
func (o *objects) contains(rev, old string) bool {
	for rev != "" {
		if rev == old {
			return true
		}
		rev = o.commits[rev].parent
	}
	return false
}

// failing returns the names of the tests that fail in a tree, sorted.
func (o *objects) failing(rev string) []string {
	f := o.at(rev)
	var out []string
	for path, text := range f {
		switch of, isTest := strings.CutPrefix(text, "test "); {
		case isTest && !strings.HasPrefix(f[of], "good"):
			out = append(out, "Test("+path+")")
		case strings.HasPrefix(text, "bad"):
			out = append(out, "Test("+path+")")
		}
	}
	slices.Sort(out)
	return out
}

// changes returns the paths that differ, sorted.
func (o *objects) changes(from, to string) []ledger.FileChange {
	a, b := o.at(from), o.at(to)
	var out []ledger.FileChange
	for path, text := range b {
		if a[path] != text {
			out = append(out, ledger.FileChange{Path: path, Added: 1})
		}
	}
	for path := range a {
		if _, is := b[path]; !is {
			out = append(out, ledger.FileChange{Path: path, Removed: 1})
		}
	}
	slices.SortFunc(out, func(x, y ledger.FileChange) int { return strings.Compare(x.Path, y.Path) })
	return out
}

// merge applies the change from base to tree onto another tree.
func (o *objects) merge(base, tree, onto string) (merged string, conflicts []string) {
	from, theirs, out := o.at(base), o.at(onto), maps.Clone(o.at(onto))
	for _, c := range o.changes(base, tree) {
		want, has := o.at(tree)[c.Path]
		if theirs[c.Path] != from[c.Path] && theirs[c.Path] != want {
			conflicts = append(conflicts, c.Path)
			continue
		}
		if has {
			out[c.Path] = want
		} else {
			delete(out, c.Path)
		}
	}
	if len(conflicts) > 0 {
		return "", conflicts
	}
	return o.add(out), nil
}
