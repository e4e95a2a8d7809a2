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

// refusal says why a path cannot be in a commit and what to do instead. The
// next session reads both.
type refusal struct{ text, fix string }

var tooLarge = refusal{"is larger than 50 MB", "make it smaller, or write it where .gitignore has it ignored"}

// classify splits the changes into those kept and those undone, and returns the
// kept ones. The halves of a rename are classified independently, but
// dropHalfMoves makes sure that no file is lost by it.
func (l *sessionDiff) classify(ctx context.Context, scope *scope, input string, changes []change, captured *ledger.Capture) ([]change, error) {
	violations := map[string]refusal{}
	for p, why := range l.refused {
		if !l.w.reserved(scope.never, p) {
			violations[p] = why
		}
	}
	var kept []change
	for _, c := range changes {
		why, refused := l.refused[c.path]
		var err error
		if !refused {
			if why, err = l.refuse(ctx, c); err != nil {
				return nil, err
			}
		}
		held, err := l.heldBack(ctx, scope, c)
		if err != nil {
			return nil, err
		}
		switch {
		case l.w.reserved(scope.never, c.path), !l.known(c.path) && l.submodules.of(c.path) != "":
			captured.Dropped = append(captured.Dropped, c.path)
		case why.text != "":
			violations[c.path] = why
		case !l.known(c.path) && l.fresh.leavesOut(c.path): // captured.TooMany has its folder
		case held:
			captured.Outside = append(captured.Outside, c.path)
			captured.RunsItself = append(captured.RunsItself, c.path)
		case !scope.permits(c.path):
			captured.Outside = append(captured.Outside, c.path)
		default:
			kept = append(kept, c)
		}
	}
	var moved map[string]string
	if len(kept) < len(changes) && slices.ContainsFunc(kept, func(c change) bool { return c.new.hash == "" }) {
		var err error
		if moved, err = l.w.renames(ctx, input, l.tree); err != nil {
			return nil, err
		}
	}
	for n := -1; n != len(kept); { // repeat until nothing changes: each removal can affect the others
		n = len(kept)
		kept = dropHalfMoves(moved, kept, captured)
		kept = dropBlocked(l.input, kept, captured)
	}
	kept = l.dropCollisions(kept, violations)
	kept, err := l.dropConflicts(ctx, kept, &captured.Refused)
	if err != nil {
		return nil, err
	}
	for p, why := range violations {
		captured.Refused = append(captured.Refused, ledger.Diagnostic{File: strings.ToValidUTF8(p, "\uFFFD"), Text: why.text, Remedy: why.fix})
	}
	slices.SortFunc(captured.Refused, func(a, b ledger.Diagnostic) int { return strings.Compare(a.File, b.File) })
	captured.Refused = captured.Refused[:min(len(captured.Refused), maxListed)]
	slices.Sort(captured.Outside)
	slices.Sort(captured.RunsItself)
	slices.Sort(captured.Dropped)
	return kept, nil
}

// refuse returns why a changed path cannot be in a commit, or a zero refusal.
//
// A symbolic link counts as content while it stays inside the repository: a
// file written through it is classified where it lands. A link that leaves the
// repository is a violation, although git could store it: on another machine,
// verification, the next session and the user's tools would follow it to
// something else.
func (l *sessionDiff) refuse(ctx context.Context, c change) (refusal, error) {
	if of := l.submodules.of(c.path); of != "" && l.known(c.path) {
		return refusal{"belongs to the submodule " + of + ", a repository of its own, which can only be read here", "leave it as it is, and say in the summary what it lacks"}, nil
	}
	if c.new.hash == "" {
		return refusal{}, nil // a removal is always possible
	}
	if why := badName(c.path); why != "" {
		return refusal{why, "give it a plain name"}, nil
	}
	if c.new.mode == modeSymlink {
		target, err := l.w.fileContent(ctx, c.new.hash)
		if err != nil {
			return refusal{}, err
		}
		return refuseLink(c.path, string(target)), nil
	} else if _, was := l.input[c.path]; was {
		// checkFile accepts a large file if only its content changed.
		info, err := os.Lstat(filepath.Join(l.folder.path(), filepath.FromSlash(c.path)))
		if err == nil && info.Size() > maxFile {
			return tooLarge, nil
		}
	}
	return refusal{}, nil
}

// refuseLink returns why a symbolic link cannot be in a commit, or a zero refusal.
func refuseLink(p, target string) refusal {
	if !leavesRepo(p, target) {
		return refusal{}
	}
	return refusal{
		fmt.Sprintf("is a symbolic link that leaves the repository: %.200s", strings.ToValidUTF8(target, "\uFFFD")),
		"link to a path inside the repository, relative to the link, or copy the file",
	}
}

// dropHalfMoves removes from kept the removal of a file whose new path is
// undone: the file would exist nowhere, and verification might not notice. The
// opposite half leaves a copy, which loses nothing. moved maps new paths to old
// ones.
func dropHalfMoves(moved map[string]string, kept []change, captured *ledger.Capture) []change {
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
			captured.Outside = append(captured.Outside, c.path)
		}
		return gone
	})
}

// dropCollisions removes new paths from kept that some file system treats as
// equal to another path of the resulting tree: a checkout there would have only
// one of the two.
func (l *sessionDiff) dropCollisions(kept []change, violations map[string]refusal) []change {
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
		own, other := collision(byFold, c.path)
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
		violations[c.path] = refusal{
			fmt.Sprintf("%shas the name of %s but for %s: one of the two is lost on other systems", which, other, how),
			"use " + other + ", or another name",
		}
		return true
	})
}

// dropBlocked removes changes from kept that cannot coexist with an undone
// change: a new file where a folder stays because its removal is undone, and
// vice versa.
func dropBlocked(input map[string]treeEntry, kept []change, captured *ledger.Capture) []change {
	for {
		stays := map[string]bool{} // undone paths that remain in the resulting tree
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
				captured.Outside = append(captured.Outside, c.path)
			}
		}
		kept = rest
	}
}
