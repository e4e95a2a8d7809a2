package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Files of CONTEXT with all that an attempt changed.
const (
	listFile = "changed.txt"
	diffFile = "diff.patch"
)

// changesPart lists every file that the attempt has changed so far. A hat that
// writes has the files in its folder and gets the list; any other hat gets the
// patches as well, to judge them.
//
// What existed comes first: a deleted or weakened test must not be the line that
// a limit cuts off, and new files can be read in the folder. The list is never
// cut to a hat's budget.
func (b *builder) changesPart() part {
	p := part{title: "Changes so far", trim: trimDiff, file: diffFile}
	changes := ordered(b.flagged(b.material.Changes))
	if len(changes) == 0 {
		return p
	}
	var lines, diff strings.Builder
	for _, c := range changes {
		lines.WriteString(changeLine(c) + "\n")
		diff.WriteString(c.Patch)
	}
	b.context[listFile], b.context[diffFile] = []byte(lines.String()), []byte(diff.String())
	list := b.checksText() + listText(changes)
	if b.hat.Writes() {
		p.text, p.trim = list+"\nThe diff against the attempt's start: ../CONTEXT/"+diffFile+".", trimNever
		return p
	}
	p.least = list
	p.fit = func(room int) string {
		text, _ := changesText(list, changes, room)
		return text
	}
	p.text, p.cut = changesText(list, changes, len(list)+maxDiffBytes)
	p.full = len(list) + diff.Len()
	return p
}

// flagged remarks on files that prove the work and that the task does not name.
func (b *builder) flagged(changes []ledger.Change) []ledger.Change {
	f := b.facts()
	if f == nil {
		return changes
	}
	changes = slices.Clone(changes)
	for _, c := range f.Changes {
		if c.Named {
			continue
		}
		for i := range changes {
			if changes[i].Path == c.Path || changes[i].Path == c.To || changes[i].From == c.Path {
				changes[i].Remark = "a check, " + c.Action
			}
		}
	}
	return changes
}

// checksText tells a judge that the work changed its own checks or that fewer
// tests ran, and the reason that was given for it.
func (b *builder) checksText() string {
	f := b.facts()
	if f == nil || b.hat.Writes() {
		return ""
	}
	changed := slices.ContainsFunc(f.Changes, func(c ledger.CheckChange) bool { return !c.Named })
	fewer := b.attempt.Fewer
	if !changed && len(fewer) == 0 {
		return ""
	}
	text := ""
	if changed {
		text = "The work changes what proves it, and the task does not name that: " + f.Summary + ". "
	}
	switch {
	case len(fewer) > 0:
		text += "Verification passes, but fewer tests run than before the work: " + ledger.FewerText(fewer) + ". The reason given: " + b.attempt.ChecksReason + " Does the task make these tests go away? Work that keeps tests from running is a critical issue. "
	case b.attempt.ChecksReason != "":
		text += "With the start's version verification fails. The reason given: " + b.attempt.ChecksReason + " "
	default:
		text += "With the start's version verification passes too. "
	}
	if changed {
		text += "Judge each of these files: does the task need this change, or does it weaken a check? A weakened check is a critical issue."
	}
	return strings.TrimSpace(text) + "\n\n"
}

// rank is the position of a change in the order of what a reviewer has to see.
func rank(c ledger.Change) int {
	switch c.Status {
	case ledger.ChangeDeleted:
		return 0
	case ledger.ChangeRenamed:
		return 1
	case ledger.ChangeAdded:
		return 3
	}
	return 2
}

// checking matches paths of tests and of files that say what is checked. It
// decides nothing but the order of a list.
var checking = regexp.MustCompile(`(?i)(?:^|/)(?:tests?|__tests__|specs?|testdata|\.github|ci)/|(?:^|[/._-])(?:tests?|spec|conftest|verify|check)[._-]|_test\.|(?:^|/)(?:Makefile|package\.json|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|Cargo\.toml|go\.mod|justfile|[^/]*\.config\.[^/]*|\.[^/]*rc(?:\.[^/]*)?)$`)

// ordered returns the changes by rank; among equals, those with a remark and
// those of tests and checks come first.
func ordered(changes []ledger.Change) []ledger.Change {
	flag := func(c ledger.Change) int {
		switch {
		case c.Remark != "":
			return 0
		case checking.MatchString(c.Path) || checking.MatchString(c.From):
			return 1
		}
		return 2
	}
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b ledger.Change) int {
		return cmp.Or(rank(a)-rank(b), flag(a)-flag(b), strings.Compare(a.Path, b.Path))
	})
	return changes
}

// changeLine describes a changed file in one line.
func changeLine(c ledger.Change) string {
	path := visible(c.Path)
	if c.From != "" {
		path = visible(c.From) + " → " + path
	}
	counts := fmt.Sprintf("+%d −%d", c.Added, c.Removed)
	switch {
	case c.Added < 0 || c.Removed < 0:
		counts = "(binary)"
	case c.Status == ledger.ChangeDeleted:
		counts = fmt.Sprintf("−%d", c.Removed)
	case c.Status == ledger.ChangeAdded:
		counts = fmt.Sprintf("+%d", c.Added)
	}
	line := fmt.Sprintf("- %s %s %s", cmp.Or(c.Status, ledger.ChangeModified), path, counts)
	if c.Remark != "" {
		line += ": " + c.Remark
	}
	return line
}

// visible quotes a path with characters that would not be seen, or would end the
// line: a session can give a file any name.
func visible(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
}

// listText lists the changes, in maxListBytes or a little more. If they are too
// many, each rank gets a fair part of the space, and the text says how many files
// are left out: no rank keeps another one out.
func listText(changes []ledger.Change) string {
	var groups [4][]ledger.Change
	var sizes [4]int
	for _, c := range changes {
		groups[rank(c)] = append(groups[rank(c)], c)
		sizes[rank(c)] += len(changeLine(c)) + 1
	}
	var counts, lines []string
	room := share(sizes[:], maxListBytes, 0)
	for n, group := range groups {
		if len(group) == 0 {
			continue
		}
		counts = append(counts, fmt.Sprintf("%d %s", len(group), [...]string{"deleted", "renamed", "modified", "new"}[n]))
		for k, c := range group {
			line := changeLine(c)
			if room[n] -= len(line) + 1; room[n] < 0 {
				lines = append(lines, fmt.Sprintf("- … %d more %s: ../CONTEXT/%s has all %d files", len(group)-k, [...]string{"deleted", "renamed", "modified", "new"}[n], listFile, len(changes)))
				break
			}
			lines = append(lines, line)
		}
	}
	return fmt.Sprintf("%s changed (%s):\n", count(len(changes), "file"), strings.Join(counts, ", ")) + strings.Join(lines, "\n")
}

// changesText returns the list and, in the same order, as much of the patches as
// fits into room bytes with it. It returns "" if that is too little to be of use.
// cut reports whether changed lines are missing.
func changesText(list string, changes []ledger.Change, room int) (text string, cut bool) {
	const around = 400 // bytes of the fence and the last note
	room -= len(list) + around
	var groups [4][]int // sizes of the patches by rank
	var sizes [4]int
	for _, c := range changes {
		groups[rank(c)] = append(groups[rank(c)], len(c.Patch))
		sizes[rank(c)] += len(c.Patch)
	}
	if all := sizes[0] + sizes[1] + sizes[2] + sizes[3]; room < min(leastPatch, all) {
		return "", true
	}
	// New files get what the others leave, but at least a quarter.
	var rooms []int
	for n, part := range share(sizes[:3], room-min(sizes[3], room/4), 0) {
		rooms = append(rooms, share(groups[n], part, leastPatch)...)
	}
	for _, n := range rooms {
		room -= n
	}
	rooms = append(rooms, share(groups[3], room, leastPatch)...)
	var diff strings.Builder
	files, lines, kept := 0, 0, true
	for n, c := range changes {
		part := c.Patch
		if rooms[n] < len(part) {
			part = cutPatch(c, rooms[n])
		}
		diff.WriteString(part)
		if missing := changedLines(c) - countSigns(part); missing > 0 {
			files++
			lines += missing
			kept = kept && changedLines(c) <= countSigns(c.Patch)
		}
	}
	text = list
	if diff.Len() > 0 {
		text += "\n\n" + fence(diff.String())
	}
	if files > 0 {
		text += fmt.Sprintf("\n(not shown: %s of %s. ", count(lines, "changed line"), count(files, "file"))
		if kept {
			text += fmt.Sprintf("../CONTEXT/%s has the whole diff)", diffFile)
		} else {
			text += fmt.Sprintf("../CONTEXT/%s has more of them; read the rest in the files themselves)", diffFile)
		}
	}
	return text, files > 0
}

// share divides room among parts of the given sizes. A part that is smaller than
// an equal portion leaves the rest to the others, so that the small ones stay
// whole beside a large one. No part gets less than least unless it is smaller:
// if they are too many for that, the first ones get it.
func share(sizes []int, room, least int) []int {
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	level, left := 0, room
	for n, size := range sorted {
		level = left / (len(sorted) - n)
		if size > level {
			break
		}
		left -= size
		level = size
	}
	level = max(level, least)
	rooms := make([]int, len(sizes))
	for n, size := range sizes {
		part := min(size, level)
		if part > room {
			part = room
		}
		if part < size && part < least {
			continue
		}
		rooms[n] = part
		room -= part
	}
	return rooms
}

// cutPatch returns the beginning of a file's patch in at most room bytes, with a
// line that says what is missing.
func cutPatch(c ledger.Change, room int) string {
	note := fmt.Sprintf("[… the rest of %s: %s]\n", visible(c.Path), count(changedLines(c), "changed line"))
	head := headOf(c.Patch, room-len(note)-1)
	if head == "" {
		return ""
	}
	return head + fmt.Sprintf("\n[… the rest of %s: %s]\n", visible(c.Path), count(changedLines(c)-countSigns(head), "changed line"))
}

// changedLines returns the number of lines that a change adds and removes, 0 for
// a binary file.
func changedLines(c ledger.Change) int { return max(c.Added, 0) + max(c.Removed, 0) }

// countSigns returns the number of added and removed lines in a patch of one
// file.
func countSigns(patch string) int {
	n, content := 0, false
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			content = false
		case strings.HasPrefix(line, "@@"):
			content = true
		case content && (line[0] == '+' || line[0] == '-'):
			n++
		}
	}
	return n
}

// facts returns what the attempt changed of what proves; nil if nobody asked.
func (b *builder) facts() *ledger.ProofFacts {
	if b.attempt == nil {
		return nil
	}
	return b.attempt.Facts
}
