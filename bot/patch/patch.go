package patch

import (
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/proof"
)

// Version is one state of a task or a run compared with an earlier one: a commit,
// or what an attempt has so far.
type Version struct {
	About  string // which version it is, for people: "attempt 1, not on the branch"; "" for the only one
	Files  []ledger.Change
	Checks []string // paths among Files that verify the work and were changed
	More   int      // number of changed files that Files leaves out
}

// Kind says how a line of a hunk changed.
type Kind byte

// The kinds of lines.
const (
	Context Kind = ' '
	Added   Kind = '+'
	Removed Kind = '-'
	Note    Kind = '\\' // a remark of git's, such as a missing newline at the end of a file
)

// Line is a line of a hunk. Its text is as the file has it, without the newline.
type Line struct {
	Kind     Kind
	Old, New int // its number on each side, 0 where it is not
	Text     string
	Changed  [][2]int // ranges of Text, in bytes, that differ from the line it replaces or is replaced by
}

// Hunk is a run of adjacent lines.
type Hunk struct {
	Section string // function or heading that the lines stand in, as git guesses it
	Lines   []Line
}

// File is the patch of one file.
type File struct {
	ledger.Change
	Binary    bool
	Submodule bool
	Mode      string // the new mode if it changed: "100755"
	Test      bool   // a test, by its name
	Check     bool   // it verifies the work, and was changed
	CRLF      bool   // all lines end with CR and LF; the CR is not in Text
	Hunks     []Hunk
	Unshown   int // changed lines that the limit of the patch cut off
}

// Parse reads the files of a version, the most telling first.
func Parse(v Version) []File {
	checks := map[string]bool{}
	for _, p := range v.Checks {
		checks[p] = true
	}
	files := make([]File, 0, len(v.Files))
	for _, c := range v.Files {
		f := parseFile(c)
		f.Test, f.Check = proof.IsTest(c.Path), checks[c.Path]
		files = append(files, f)
	}
	order(files)
	return files
}

// modes of git's that are told apart.
const (
	modeGitlink = "160000"
	modeSymlink = "120000"
)

// parseFile reads a patch of git's format. It accepts anything: a patch can be cut
// at any line, and a secret that was removed can have taken lines with it. A line
// of a hunk without a sign is context.
func parseFile(c ledger.Change) File {
	f := File{Change: c, Binary: c.Added < 0 || c.Removed < 0}
	text := strings.TrimSuffix(c.Patch, "\n")
	if text == "" {
		f.Unshown = max(c.Added, 0) + max(c.Removed, 0)
		return f
	}
	inHunk := false
	oldLine, newLine, shown := 0, 0, 0
	for raw := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(raw, "diff --git "):
			inHunk = false
		case strings.HasPrefix(raw, "@@ "):
			var section string
			oldLine, newLine, section = parseHunkHeader(raw)
			f.Hunks = append(f.Hunks, Hunk{Section: section})
			inHunk = true
		case !inHunk:
			f.header(raw)
		default:
			h := &f.Hunks[len(f.Hunks)-1]
			l := Line{Kind: Context, Text: raw}
			if raw != "" && strings.IndexByte(" +-\\", raw[0]) >= 0 {
				l.Kind, l.Text = Kind(raw[0]), raw[1:]
			}
			if l.Kind == Context || l.Kind == Removed {
				l.Old, oldLine = oldLine, oldLine+1
			}
			if l.Kind == Context || l.Kind == Added {
				l.New, newLine = newLine, newLine+1
			}
			if l.Kind == Added || l.Kind == Removed {
				shown++
			}
			h.Lines = append(h.Lines, l)
		}
	}
	f.Unshown = max(max(c.Added, 0)+max(c.Removed, 0)-shown, 0)
	f.trimCR()
	for n := range f.Hunks {
		markChanged(f.Hunks[n].Lines)
	}
	return f
}

func (f *File) header(line string) {
	mode := ""
	switch {
	case strings.HasPrefix(line, "Binary files "), strings.HasPrefix(line, "GIT binary patch"):
		f.Binary = true
	case strings.HasPrefix(line, "new mode "):
		mode = strings.TrimPrefix(line, "new mode ")
		f.Mode = mode
	case strings.HasPrefix(line, "new file mode "):
		if mode = strings.TrimPrefix(line, "new file mode "); mode == "100755" || mode == modeSymlink {
			f.Mode = mode
		}
	case strings.HasPrefix(line, "deleted file mode "):
		mode = strings.TrimPrefix(line, "deleted file mode ")
	case strings.HasPrefix(line, "index "):
		_, mode, _ = strings.Cut(strings.TrimPrefix(line, "index "), " ")
	}
	f.Submodule = f.Submodule || mode == modeGitlink
}

// parseHunkHeader reads "@@ -12,3 +14,4 @@ func main() {". Numbers that are none
// are 0.
func parseHunkHeader(line string) (oldStart, newStart int, section string) {
	ranges, section, _ := strings.Cut(strings.TrimPrefix(line, "@@ "), " @@")
	for word := range strings.FieldsSeq(ranges) {
		start, _, _ := strings.Cut(word[1:], ",")
		n, err := strconv.Atoi(start)
		switch {
		case err != nil:
		case word[0] == '-':
			oldStart = n
		case word[0] == '+':
			newStart = n
		}
	}
	return oldStart, newStart, strings.TrimSpace(section)
}

// trimCR removes the CR of the line ends if every line has one. A file whose line
// ends changed keeps them, and shows them.
func (f *File) trimCR() {
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if l.Kind != Note && !strings.HasSuffix(l.Text, "\r") {
				return
			}
		}
	}
	for _, h := range f.Hunks {
		for n, l := range h.Lines {
			f.CRLF = f.CRLF || l.Kind != Note
			h.Lines[n].Text = strings.TrimSuffix(l.Text, "\r")
		}
	}
}

// Counts returns what happened to the file in a few words: "new +71", "renamed,
// test +2 −3", "binary".
func (f File) Counts() string {
	var words []string
	switch f.Status {
	case ledger.ChangeAdded:
		words = append(words, "new")
	case ledger.ChangeDeleted:
		words = append(words, "deleted")
	case ledger.ChangeRenamed:
		words = append(words, "renamed")
	case ledger.ChangeType:
		words = append(words, "new type")
	}
	switch {
	case f.Check:
		words = append(words, "check")
	case f.Test:
		words = append(words, "test")
	}
	switch {
	case f.Submodule:
		words = append(words, "submodule")
	case f.Mode == modeSymlink:
		words = append(words, "link")
	case f.Mode == "100755":
		words = append(words, "executable")
	case f.Mode != "":
		words = append(words, "mode "+strings.TrimPrefix(f.Mode, "100"))
	}
	if f.Binary {
		words = append(words, "binary")
	}
	text := strings.Join(words, ", ")
	if f.Added > 0 {
		text += " +" + strconv.Itoa(f.Added)
	}
	if f.Removed > 0 {
		text += " −" + strconv.Itoa(f.Removed)
	}
	return strings.TrimSpace(text)
}

// Sum returns the lines that files added and removed.
func Sum(files []File) (added, removed int) {
	for _, f := range files {
		added, removed = added+max(f.Added, 0), removed+max(f.Removed, 0)
	}
	return added, removed
}
