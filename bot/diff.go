package bot

import (
	"fmt"
	"strings"
)

// patchFile counts the lines of one file in a patch.
type patchFile struct {
	path           string
	added, removed int
	binary         bool
}

// Diff shows a patch in git's format: the number of files and lines, each file,
// then the patch itself. target is the id of a task or a run, "" for the last run;
// title is the task's title.
func Diff(project, target, title, patch string) Message {
	name := orElse(shortID(target), "run")
	if strings.TrimSpace(patch) == "" {
		m := newMessage("diff.empty", firstLine(SignLater, project, name+": nothing changed", ""))
		m.add(title)
		return m
	}
	files := patchFiles(patch)
	added, removed := 0, 0
	for _, f := range files {
		added, removed = added+f.added, removed+f.removed
	}
	m := newMessage("diff", firstLine("", project, name+":", fmt.Sprintf(" %s +%d −%d", Plural(len(files), "file"), added, removed)))
	m.add(Cut(Clean(title), quoteWidth))
	const most = 20
	for _, f := range files[:min(len(files), most)] {
		lines := fmt.Sprintf("+%d −%d", f.added, f.removed)
		if f.binary {
			lines = "binary"
		}
		m.pre(Pad(Clean(f.path), 24, 2) + lines)
	}
	if len(files) > most {
		m.add(fmt.Sprintf("and %d more", len(files)-most))
	}
	for _, line := range CleanLines(patch) {
		m.pre(line)
	}
	return m
}

// patchFiles counts the lines of each file in a patch of git's format.
func patchFiles(patch string) []patchFile {
	var files []patchFile
	inHunk := false
	for line := range strings.SplitSeq(patch, "\n") {
		if rest, ok := strings.CutPrefix(line, "diff --git "); ok {
			// "a/x b/x": for a rename the second half is the new name.
			path := rest
			if _, b, ok := strings.Cut(rest, " b/"); ok {
				path = b
			}
			files = append(files, patchFile{path: strings.Trim(path, `"`)})
			inHunk = false
			continue
		}
		if len(files) == 0 {
			continue
		}
		f := &files[len(files)-1]
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case !inHunk && (strings.HasPrefix(line, "Binary files ") || strings.HasPrefix(line, "GIT binary patch")):
			f.binary = true
		case inHunk && strings.HasPrefix(line, "+"):
			f.added++
		case inHunk && strings.HasPrefix(line, "-"):
			f.removed++
		}
	}
	return files
}
