package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Files of CONTEXT with the two sides of a conflict.
const (
	mineFile   = "mine.patch"
	theirsFile = "theirs.patch"
)

// maxSideBytes is the size of one side's patches in a prompt. The files of CONTEXT have
// all of them.
const maxSideBytes = 12 << 10

// conflictPart shows the change of the attempt before and what it met, so that the next
// one can make both of them one. It is never cut: whoever has not seen the other side
// drops it.
func (b *builder) conflictPart() part {
	c := b.task.Conflict
	if c == nil || judges(b.hat) || len(b.material.Mine) == 0 {
		return part{}
	}
	mine, theirs := b.material.Mine, b.material.Theirs
	others, on, done := "Other tasks are committed to the same branch.", "an older tip", "committed"
	if b.task.Task.Joins {
		others, on, done = "The other parts of "+b.parent.Task.ID+" are merged with this one.", "their files as they were before", "merged"
	}
	lead := fmt.Sprintf("%s The change of the last attempt at this task was made on %s, ", others, on)
	if len(c.Paths) > 0 {
		lead += fmt.Sprintf("and conflicts with what was %s since in %s.", done, strings.Join(visibles(c.Paths), ", "))
	} else {
		lead += fmt.Sprintf("and together with what was %s since it fails its checks.", done)
	}
	lead += fmt.Sprintf(" What was %s is in your folder; that change is not. Make it again on these files. Keep every line of theirs that your task does not have to replace.", done)
	b.context[mineFile], b.context[theirsFile] = patches(mine), patches(theirs)
	return part{title: "Both sides", text: strings.Join([]string{
		lead,
		"The change of the last attempt (../CONTEXT/" + mineFile + " has all of it):\n" + side(mine, c.Paths),
		"What was " + done + " since (../CONTEXT/" + theirsFile + " has all of it):\n" + side(theirs, meeting(c.Paths, mine)),
	}, "\n\n"), trim: trimNever}
}

// meeting returns the paths that both sides changed, or those that this one did where
// the two merge.
func meeting(paths []string, mine []ledger.Change) []string {
	if len(paths) > 0 {
		return paths
	}
	for _, c := range mine {
		paths = append(paths, c.Path)
	}
	return paths
}

// side renders one side: the patches of the files where the two meet, as far as they
// fit, and a list of all files.
func side(changes []ledger.Change, paths []string) string {
	changes = slices.Clone(changes)
	meets := func(c ledger.Change) bool {
		return len(paths) == 0 || slices.Contains(paths, c.Path) || slices.Contains(paths, c.From)
	}
	slices.SortStableFunc(changes, func(a, b ledger.Change) int {
		switch {
		case meets(a) == meets(b):
			return strings.Compare(a.Path, b.Path)
		case meets(a):
			return -1
		}
		return 1
	})
	var diff strings.Builder
	for _, c := range changes {
		if room := maxSideBytes - diff.Len(); meets(c) && len(c.Patch) <= room {
			diff.WriteString(c.Patch)
		} else if meets(c) && room > leastPatch {
			diff.WriteString(cutPatch(c, room))
		}
	}
	text := listText(changes)
	if diff.Len() > 0 {
		text += "\n\n" + fence(diff.String())
	}
	return text
}

// patches joins the patches of changes.
func patches(changes []ledger.Change) []byte {
	var out strings.Builder
	for _, c := range changes {
		out.WriteString(c.Patch)
	}
	return []byte(out.String())
}

// visibles returns paths as visible shows them.
func visibles(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, visible(p))
	}
	return out
}
