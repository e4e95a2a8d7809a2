package task

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Labels says whether the PATH of a kind can be a label of issues in a forge.
type Labels int

// The zero value is invalid, so that a forgotten cell shows.
const (
	NoLabels   Labels = iota + 1 // always a path
	SomeLabels                   // a label after "forge:", else a path
	AllLabels                    // always a label
)

// Kind is a row of the table of source kinds, the KIND of "KIND:PATH". Every
// cell of a built kind is set; a cell that does not apply has its empty value
// (NoDefault, NoEndings, …). Rows are never changed.
type Kind struct {
	Name     string
	Reserved bool // a reserved name: configurations accept it, but nothing opens it, and the cells from Open on are not set

	Labels  Labels
	Foreign bool     // strangers can write its tasks, so prompts quote their text as foreign
	Endings []string // path endings typical of this kind, to guess a missing KIND
	Default string   // default path; NoDefault where a path must be given

	// Settings of a run that depend on the kind.
	MaxTasks int          // tasks of an overnight run; 0 = no limit
	Push     string       // when the branch is pushed: never, end or task
	Order    ledger.Order // in which ready tasks are taken

	// Form reads and writes a file that holds all of the source's tasks. Nil for
	// kinds of other places, whose Open knows how.
	Form form.Form
	// Recognise returns what shows that a file, or a folder without data, is of this
	// kind, or "". rel is its path below repo. Nil for kinds whose Form is a
	// form.Recogniser that says it, and for those without files.
	Recognise func(repo, rel string, folder bool, data []byte) (why string)
	// Open opens the source at path, which lies below repo. k is this row.
	Open func(k *Kind, path, repo string, opts Options) (Source, error)
	// Lint returns warnings about a source that was read without errors.
	Lint func(s ledger.Snapshot) []ledger.Diagnostic
	// Find returns the paths of the kind's files in a repository, relative and
	// with slashes. A repository without any is no error.
	Find func(repo string) ([]string, error)

	Statuses map[ledger.Mark]string // text of each status in the file
	Example  string                 // KIND:PATH, for help and messages
	Folder   string                 // folder of the kind's files, relative to the repository
	Sample   *Sample                // a first file for a repository that has none
}

// MarksWorking reports whether a source of this kind has a word for a task at work.
func (k *Kind) MarksWorking() bool { return k.Statuses[ledger.MarkWorking] != "" }

// CountsTries reports whether a source of this kind records failed attempts.
func (k *Kind) CountsTries() bool { _, is := k.Form.(form.Counter); return is }

// Sample is a harmless source that shows the format.
type Sample struct {
	Path string // relative to the repository, with slashes
	Text string
	Form []string // lines of Text that show the format, to copy
}

// Values of cells that do not apply.
const NoDefault = ""

// NoEndings is the Endings of a kind whose paths have no typical ending.
var NoEndings = []string{}

// kinds holds the rows in the order in which messages list them. The first one
// is the kind that nightporter proposes.
var kinds = []*Kind{&planKind, &backlogKind, &tasksKind, &prdKind, &beadsKind, &bugsKind, &forgeKind, &autoKind}

// Kinds returns all rows.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Proposed returns the kind for a repository that has no source yet.
func Proposed() *Kind { return kinds[0] }

// FindKind returns the row with that name, which may be a reserved one, or nil.
func FindKind(name string) *Kind {
	n := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == name })
	if n < 0 {
		return nil
	}
	return kinds[n]
}

func KindNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// GuessKind returns the kind with the longest ending that fits the path, or
// nil.
func GuessKind(path string) *Kind {
	var best *Kind
	longest := 0
	for _, k := range kinds {
		for _, e := range k.Endings {
			if strings.HasSuffix(path, e) && len(e) > longest {
				best, longest = k, len(e)
			}
		}
	}
	return best
}

// forgeLabel starts a PATH that is a label, for kinds with SomeLabels.
const forgeLabel = "forge:"

// Label returns the label in a PATH, and whether the PATH is a label.
func (k *Kind) Label(path string) (label string, is bool) {
	switch k.Labels {
	case AllLabels:
		return path, true
	case SomeLabels:
		return strings.CutPrefix(path, forgeLabel)
	}
	return path, false
}

// Notation returns the notation of a source of this kind with a PATH like the given
// one: "plan:PATH", "bugs:forge:LABEL".
func (k *Kind) Notation(path string) string {
	_, label := k.Label(path)
	switch {
	case !label:
		return k.Name + ":PATH"
	case k.Labels == SomeLabels:
		return k.Name + ":" + forgeLabel + "LABEL"
	}
	return k.Name + ":LABEL"
}

// Open returns the source of a KIND at path, which is absolute or relative to
// the repository and lies inside it. An invalid kind or path is a
// *ledger.InputError. Open does not read the file.
func Open(kind, path, repo string, opts Options) (Source, error) {
	switch k := FindKind(kind); {
	case k == nil:
		return nil, inputError("", fmt.Sprintf("unknown source kind %q", kind), Proposed().writingHint())
	case k == &autoKind:
		found, err := only(context.Background(), repo, path)
		if err != nil {
			return nil, err
		}
		return found.Open(found, path, repo, opts)
	case k.Reserved:
		return nil, inputError("", fmt.Sprintf("source kind %q is not built yet", kind),
			"Use a "+Proposed().Name+": "+Proposed().Example)
	default:
		return k.Open(k, path, repo, opts)
	}
}

// writingHint is the remedy for a wrongly written source of this kind.
func (k *Kind) writingHint() string {
	return "Write " + k.Notation("") + ", for example " + k.Example
}
