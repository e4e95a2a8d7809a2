package workspace

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// offence is why something cannot be in a commit, and what to do instead. The
// next session reads both.
type offence struct{ text, fix string }

var tooLarge = offence{"is larger than 50 MB", "make it smaller, or write it where .gitignore has it ignored"}

// judge sorts the changes into what is kept and what is not. Each half of a
// rename is judged by itself, but nothing is lost by it (see together).
func (l *leftover) judge(ctx context.Context, scope *scope, input string, changes []change, never []string, taken *ledger.Capture) ([]change, error) {
	violations := map[string]offence{}
	for p, why := range l.refused {
		if !l.w.never(never, p) {
			violations[p] = why
		}
	}
	var kept []change
	for _, c := range changes {
		why, refused := l.refused[c.path]
		var err error
		if !refused {
			if why, err = l.offence(ctx, c); err != nil {
				return nil, err
			}
		}
		switch {
		case l.w.never(never, c.path):
			taken.Dropped = append(taken.Dropped, c.path)
		case why.text != "":
			violations[c.path] = why
		case !scope.permits(c.path):
			taken.Outside = append(taken.Outside, c.path)
		default:
			kept = append(kept, c)
		}
	}
	var moved map[string]string
	if len(kept) < len(changes) && slices.ContainsFunc(kept, func(c change) bool { return c.new.hash == "" }) {
		var err error
		if moved, err = l.w.moves(ctx, input, l.tree); err != nil {
			return nil, err
		}
	}
	for n := -1; n != len(kept); { // what one takes away can concern the other
		n = len(kept)
		kept = together(moved, kept, taken)
		kept = apart(l.input, kept, taken)
	}
	kept = l.distinct(kept, violations)
	for p, why := range violations {
		taken.Refused = append(taken.Refused, ledger.Finding{File: strings.ToValidUTF8(p, "\uFFFD"), Text: why.text, Fix: why.fix})
	}
	slices.SortFunc(taken.Refused, func(a, b ledger.Finding) int { return strings.Compare(a.File, b.File) })
	slices.Sort(taken.Outside)
	slices.Sort(taken.Dropped)
	return kept, nil
}

// offence returns why a changed path cannot be in a commit, or none.
//
// A symbolic link is content like any other as long as it stays inside the
// repository, wherever in it: what is written through it is judged where it
// lands. One that leaves it is a violation, although git could keep it:
// verification, the next session and in the end the person's tools would
// follow it on a machine where the target is something else.
func (l *leftover) offence(ctx context.Context, c change) (offence, error) {
	if c.new.hash == "" {
		return offence{}, nil // removing is always possible
	}
	if why := badName(c.path); why != "" {
		return offence{why, "give it a plain name"}, nil
	}
	if c.new.mode == modeSymlink {
		target, err := l.w.blob(ctx, c.new.hash)
		if err != nil {
			return offence{}, err
		}
		if leavesRepo(c.path, string(target)) {
			return offence{
				fmt.Sprintf("is a symbolic link that leaves the repository: %.200s", strings.ToValidUTF8(string(target), "\uFFFD")),
				"link to a path inside the repository, relative to the link, or copy the file",
			}, nil
		}
	} else if _, was := l.input[c.path]; was {
		// Only a large one can have slipped through lookAtFile: same size, other content.
		info, err := os.Lstat(filepath.Join(l.folder.path(), filepath.FromSlash(c.path)))
		if err == nil && info.Size() > maxFile {
			return tooLarge, nil
		}
	}
	return offence{}, nil
}

// together takes out of kept the removal of a file that was moved to where it
// is undone: the file would be nowhere then, and no verification needs to
// notice. The other way round a copy is left, which loses nothing. moved says
// for a new path which one it was.
func together(moved map[string]string, kept []change, taken *ledger.Capture) []change {
	stays, lost := map[string]bool{}, map[string]bool{}
	for _, c := range kept {
		stays[c.path] = true
	}
	for to, from := range moved {
		lost[from] = lost[from] || !stays[to]
	}
	return slices.DeleteFunc(slices.Clone(kept), func(c change) bool {
		gone := c.new.hash == "" && lost[c.path]
		if gone {
			taken.Outside = append(taken.Outside, c.path)
		}
		return gone
	})
}

// distinct takes new paths out of kept that some file system takes for one of
// the coming tree: a checkout there has only one of the two.
func (l *leftover) distinct(kept []change, violations map[string]offence) []change {
	gone := map[string]bool{}
	for _, c := range kept {
		gone[c.path] = c.new.hash == ""
	}
	byFold := map[string][]string{}
	for p := range l.input {
		if !gone[p] {
			addFolded(byFold, p)
		}
	}
	for _, list := range byFold {
		slices.Sort(list)
	}
	return slices.DeleteFunc(slices.Clone(kept), func(c change) bool {
		if _, was := l.input[c.path]; was || c.new.hash == "" {
			return false
		}
		own, other := twinOf(byFold, c.path)
		if own == "" {
			addFolded(byFold, c.path)
			return false
		}
		which, how := "", "its case"
		if own != c.path {
			which = "is in folder " + own + ", which "
		}
		if !strings.EqualFold(own, other) {
			how = "how its accents are stored"
		}
		violations[c.path] = offence{
			fmt.Sprintf("%shas the name of %s but for %s: one of the two is lost on other systems", which, other, how),
			"use " + other + ", or another name",
		}
		return true
	})
}

// apart takes out of kept what cannot stand beside what is undone: a new file
// where a folder with an undone removal stays, and the other way round.
func apart(input map[string]treeEntry, kept []change, taken *ledger.Capture) []change {
	for {
		stays := map[string]bool{} // paths of the coming tree
		for p := range input {
			stays[p] = true
		}
		for _, c := range kept {
			stays[c.path] = c.new.hash != ""
		}
		folders := map[string]bool{}
		for p, there := range stays {
			for dir := path.Dir(p); there && dir != "." && !folders[dir]; dir = path.Dir(dir) {
				folders[dir] = true
			}
		}
		clash := func(c change) bool {
			if c.new.hash == "" {
				return false
			}
			if folders[c.path] {
				return true
			}
			for dir := path.Dir(c.path); dir != "."; dir = path.Dir(dir) {
				if stays[dir] {
					return true
				}
			}
			return false
		}
		rest := slices.DeleteFunc(slices.Clone(kept), clash)
		if len(rest) == len(kept) {
			return kept
		}
		for _, c := range kept {
			if clash(c) {
				taken.Outside = append(taken.Outside, c.path)
			}
		}
		kept = rest
	}
}
