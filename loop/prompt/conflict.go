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

// conflictPart shows the last change of the task that met others, and what it met, so that the next
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
	lead := fmt.Sprintf("%s The change of an earlier attempt at this task was made on %s, ", others, on)
	if len(c.Paths) > 0 {
		lead += fmt.Sprintf("and conflicts with what was %s since in %s.", done, strings.Join(visibles(c.Paths), ", "))
	} else {
		lead += fmt.Sprintf("and together with what was %s since it fails its checks.", done)
	}
	lead += fmt.Sprintf(" What was %s is in your folder; that change is not. Make it again on these files. Keep every line of theirs that your task does not have to replace.", done)
	b.context[mineFile], b.context[theirsFile] = patches(mine), patches(theirs)
	meets := meeting(c.Paths, mine, theirs)
	return part{title: "Both sides", text: strings.Join([]string{
		lead,
		"The change of that attempt (../CONTEXT/" + mineFile + " has all of it):\n" + side(mine, meets),
		"What was " + done + " since (../CONTEXT/" + theirsFile + " has all of it):\n" + side(theirs, meets),
	}, "\n\n"), trim: trimNever}
}

// meeting returns the paths in which the two sides meet: those in conflict or, where the
// two merge, all that this one changed. Of a file that one side renamed they are both
// names: git reports one, and the other side may have it under the other.
func meeting(paths []string, mine, theirs []ledger.Change) map[string]bool {
	meets := map[string]bool{}
	for _, p := range paths {
		meets[p] = true
	}
	if len(paths) == 0 {
		for _, c := range mine {
			meets[c.Path] = true
		}
	}
	for known := -1; known != len(meets); {
		known = len(meets)
		for _, c := range slices.Concat(mine, theirs) {
			if c.From != "" && (meets[c.Path] || meets[c.From]) {
				meets[c.Path], meets[c.From] = true, true
			}
		}
	}
	return meets
}

// side renders one side: the patches of the files where the two meet, as far as they
// fit, and a list of all files.
func side(changes []ledger.Change, meets map[string]bool) string {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b ledger.Change) int {
		switch {
		case meets[a.Path] == meets[b.Path]:
			return strings.Compare(a.Path, b.Path)
		case meets[a.Path]:
			return -1
		}
		return 1
	})
	var diff strings.Builder
	for _, c := range changes {
		if room := maxSideBytes - diff.Len(); meets[c.Path] && len(c.Patch) <= room {
			diff.WriteString(c.Patch)
		} else if meets[c.Path] && room > leastPatch {
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
